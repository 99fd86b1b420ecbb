"""The sender of a worker process: one thread with its own event loop, started by the first wake-up."""

import gc
import threading

from common.connections import raise_file_limit
from common.webhooks import http_client
from delivery.webhooks.sender import Sender


class _SenderThread(threading.Thread):
    """Runs a sender. It outlives the task that started it, and so do its connections."""

    def __init__(self) -> None:
        super().__init__(name="webhook-sender", daemon=True)
        raise_file_limit()
        self._loop = http_client.new_event_loop()
        self._sender = Sender()
        # Exempts what is loaded now from garbage collection. Scanning these objects again and again while sending costs
        # a quarter of the throughput.
        gc.collect()
        gc.freeze()

    def run(self) -> None:
        self._loop.run_until_complete(self._sender.run())

    def wake(self) -> None:
        self._loop.call_soon_threadsafe(self._sender.wake)

    def stop(self, *, seconds: float) -> None:
        self._loop.call_soon_threadsafe(self._sender.stop)
        self.join(seconds)


_thread: _SenderThread | None = None
_starting = threading.Lock()


def wake() -> None:
    """Send what is due, in the background. Returns at once."""
    global _thread  # noqa: PLW0603  # one sender for each process
    with _starting:
        if _thread is None or not _thread.is_alive():
            _thread = _SenderThread()
            _thread.start()
    _thread.wake()


def stop(*, seconds: float) -> None:
    """Wait until the sender of this process has settled what it has in flight, for at most `seconds`."""
    if _thread is not None:
        _thread.stop(seconds=seconds)

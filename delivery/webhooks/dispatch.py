"""The sender of a worker process: one thread with its own event loop, started by the first wake-up."""

import gc
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import uvloop

from common.connections import raise_file_limit
from delivery.webhooks.sender import Sender

# A name look-up that hangs occupies a thread until the resolver gives up; other look-ups need threads meanwhile.
_LOOK_UP_THREADS = 64


class _Loop(uvloop.Loop):
    """uvloop's event loop, except that names are looked up as asyncio does it: in the threads of the default executor.

    uvloop's own look-ups have four threads for the whole process, so four names that hang would stop all others.
    """

    async def getaddrinfo(self, host: Any, port: Any, **options: int) -> Any:
        return await self.run_in_executor(None, partial(socket.getaddrinfo, host, port, **options))

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  # asyncio's name
        """Wait for no look-up: one that hangs has outlived its request. `close` lets the threads end by themselves."""


def new_event_loop() -> uvloop.Loop:
    """An event loop that looks up as many names at the same time as `_LOOK_UP_THREADS` says."""
    loop = _Loop()
    loop.set_default_executor(ThreadPoolExecutor(_LOOK_UP_THREADS, thread_name_prefix="look-up"))
    return loop


class _SenderThread(threading.Thread):
    """Runs a sender. It outlives the task that started it, and so do its connections."""

    def __init__(self) -> None:
        super().__init__(name="webhook-sender", daemon=True)
        raise_file_limit()
        self._loop = new_event_loop()
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

"""A process of the web server that answers heavy calls (`common.api.heavy`), one after the other.

In a thread of a web process such a call would take the interpreter from all other calls. Here it takes none of their
threads, and the lowest priority of the processor. A caller (`config.server.heavy_callers`) has one call under way;
others are refused, and so are those of everybody while `MOST_WAITING` wait.

The process is forked before the web processes and forked again when it ends. They share a socket, through which each
call hands over one end of a pair of its own: `W` there means that it is the call's turn, `R` that it is refused. Then
the request goes one way and the answer the other, both as a head in JSON and a body.
"""

import asyncio
import hashlib
import io
import json
import logging
import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, NoReturn

from common.api import heavy
from common.observability import metrics

_log = logging.getLogger("rota.server")

MOST_WAITING = 7
WAIT_SECONDS = 30.0
_ANSWER_SECONDS = 300.0
_REFUSE_SECONDS = 0.25  # until a refusal is told, which keeps a caller cheap that does not wait
_HAND_OVER_SECONDS = 10.0  # between the processes of one machine
_LOOK_SECONDS = 0.5
_NICENESS = 19
_TURN, _REFUSED = b"W", b"R"
_LENGTHS = struct.Struct("!II")  # of the head and of the body
_LONGEST_URL = 8 * 1024


class Refused(Exception):  # an outcome
    """The caller has a call under way, or too many wait. Nothing was done."""


class Lost(Exception):  # an outcome
    """The process ended or gave no answer while it had the call, which may have had its effect."""


class Away(Exception):  # an outcome
    """There is no such process."""


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class _Call(NamedTuple):
    caller: bytes
    connection: socket.socket
    until: float  # on the monotonic clock


@dataclass
class _Waiting:
    """The calls of the process. Each caller has one at most, until it is answered."""

    calls: SimpleQueue[_Call] = field(default_factory=SimpleQueue)
    callers: set[bytes] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, caller: bytes, connection: socket.socket) -> bool:
        with self.lock:
            if caller in self.callers or len(self.callers) > MOST_WAITING:
                return False
            self.callers.add(caller)
        self.calls.put(_Call(caller, connection, time.monotonic() + WAIT_SECONDS))
        return True

    def remove(self, caller: bytes) -> None:
        with self.lock:
            self.callers.discard(caller)


class Lane:
    """The end of the web processes."""

    def __init__(self) -> None:
        self._expressions = {large: heavy.expressions(large=large) for large in (False, True)}
        self._calls, self._incoming = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._calls.setblocking(False)

    def start(self, wsgi: Callable[..., Any], background: Iterable[Callable[[], None]]) -> None:
        """Fork the process, and one that forks it again when it ends. They end with this one."""
        parent = os.getpid()
        if os.fork():
            self._incoming.close()
            return
        self._calls.close()
        # They work until the web processes have ended, and then see that they have no parent.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _keep(parent, lambda own: _serve(own, self._incoming, wsgi, background))

    def takes(self, environ: dict[str, Any]) -> bool:
        """Whether this is a heavy call. CONTENT_LENGTH is that of the body as it was read."""
        method = environ["REQUEST_METHOD"]
        large = int(environ.get("CONTENT_LENGTH") or 0) > heavy.LARGE_BODY_BYTES
        expression = self._expressions[large].get("GET" if method == "HEAD" else method)
        address = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        return expression is not None and len(address) < _LONGEST_URL and expression.fullmatch(address) is not None

    async def ask(self, caller: bytes, environ: dict[str, Any], body: bytes) -> Answer:
        """The process's answer. Raises Refused, Lost or Away."""
        reader, writer = await self._hand_over(caller)
        turn = b""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(WAIT_SECONDS + _HAND_OVER_SECONDS):
                turn = await reader.read(1)
        if turn != _TURN:
            writer.close()
            await asyncio.sleep(_REFUSE_SECONDS)
            raise Refused
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                head = json.dumps({name: value for name, value in environ.items() if isinstance(value, str)}).encode()
                writer.write(_LENGTHS.pack(len(head), len(body)) + head + body)
                await writer.drain()
                lengths = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
                status, headers = json.loads(await reader.readexactly(lengths[0]))
                content = await reader.readexactly(lengths[1])
        except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            raise Lost from error
        finally:
            writer.close()
        return Answer(status, [(name, value) for name, value in headers], content)

    async def _hand_over(self, caller: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._calls, [caller], [theirs.fileno()])
        except BlockingIOError as error:
            ours.close()
            raise Refused from error
        except OSError as error:
            ours.close()
            raise Away from error
        finally:
            theirs.close()
        return await asyncio.open_connection(sock=ours)


def _keep(parent: int, serve: Callable[[int], NoReturn]) -> NoReturn:
    """Fork a process that serves, again and again until the parent has ended."""
    while True:
        own, child = os.getpid(), os.fork()
        if not child:
            with suppress(OSError):  # some containers forbid it
                os.nice(_NICENESS)
            serve(own)
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if os.getppid() != parent:
                os._exit(0)
            time.sleep(_LOOK_SECONDS)
        _log.error("The process of heavy calls has ended, and is started again")


def _serve(
    parent: int, incoming: socket.socket, wsgi: Callable[..., Any], background: Iterable[Callable[[], None]]
) -> NoReturn:
    """Answer calls until the parent has ended."""
    waiting = _Waiting()
    metrics.STARTS.labels("heavy calls").inc()
    for work in background:
        threading.Thread(target=work, name="background").start()
    threading.Thread(target=_take, args=(incoming, waiting), name="incoming", daemon=True).start()
    while os.getppid() == parent:
        try:
            call = waiting.calls.get(timeout=_LOOK_SECONDS)
        except Empty:
            continue
        with call.connection:
            answer = _answer(call, wsgi)
            waiting.remove(call.caller)  # before the caller knows the answer, and makes the next call
            with suppress(OSError):  # the web process or its client went away
                call.connection.sendall(answer)
    sys.exit(0)


def _take(incoming: socket.socket, waiting: _Waiting) -> None:
    """Let calls wait for their turn, or refuse them at once. In a thread."""
    while True:
        caller, descriptors, _flags, _address = socket.recv_fds(incoming, hashlib.sha256().digest_size, 1)
        if not descriptors:  # this process has as many open files as it may; the caller sees the end of the pair
            continue
        connection = socket.socket(fileno=descriptors[0])
        if not waiting.add(caller, connection):
            with connection, suppress(OSError):
                connection.sendall(_REFUSED)


def _answer(call: _Call, wsgi: Callable[..., Any]) -> bytes:
    """Read the request. Returns what is to be sent; nothing if the other end is gone, or the call failed."""
    call.connection.settimeout(_HAND_OVER_SECONDS)
    if time.monotonic() > call.until:
        return _REFUSED
    try:
        call.connection.sendall(_TURN)
        with call.connection.makefile("rb") as stream:
            lengths = stream.read(_LENGTHS.size)
            if len(lengths) < _LENGTHS.size:
                return b""  # the client went away while the call waited
            head, body = map(stream.read, _LENGTHS.unpack(lengths))
    except OSError:
        return b""
    try:
        return _answer_of(wsgi, json.loads(head), body)
    except Exception:  # noqa: BLE001  # otherwise the process would end, and with it the calls that wait
        _log.exception("A heavy call failed outside Django")
        return b""


def _answer_of(wsgi: Callable[..., Any], strings: dict[str, str], body: bytes) -> bytes:
    environ = strings | {
        "wsgi.version": (1, 0),
        "wsgi.errors": sys.stderr,
        "wsgi.input": io.BytesIO(body),
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    started: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], _exc_info: object = None) -> None:
        started[:] = int(status[:3]), [(name.lower(), value) for name, value in headers]

    response = wsgi(environ, start_response)
    try:
        content = b"".join(response)
    finally:
        response.close()
    answer = json.dumps(started).encode()
    return _LENGTHS.pack(len(answer), len(content)) + answer + content


# Of this web server. None where it has no such process: on other systems than Linux, and in tests.
lane: Lane | None = None

"""RSGI entry point, served by granian: reads the whole request before a thread runs Django's WSGI handler for it.

A worker process has one event loop and a few threads. The loop reads bodies, so a slow client occupies a connection
and no thread, and is refused at a deadline. Otherwise a few stalled uploads would occupy every thread: granian itself
limits the time for headers only. Page updates are streamed by the loop (`config.server.page_streams`).
"""

import asyncio
import io
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

# Before the imports below, which read the settings.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("DATABASE_STATEMENT_SECONDS", "15")

import django
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string

from common import clock
from common.connections import raise_file_limit
from common.observability import metrics
from common.pages.page_updates import STREAM
from config.database import for_web_process
from config.monitoring import error_reports, tracing
from config.monitoring.requests import WAITED
from config.server import heavy_calls
from config.server.limits import HEAVY_CALL, UNREAD_BODY, LimitedHandler
from config.server.page_streams import Answer, PageStreams

if TYPE_CHECKING:
    from granian._granian import RSGIHTTPProtocol as HTTPProtocol  # granian.rsgi does not export the name to mypy
    from granian.rsgi import Scope

_log = logging.getLogger("rota.server")

# More than any endpoint accepts. Longer bodies are truncated here, and the endpoint refuses them with its own message.
MAX_BODY_BYTES = 4 * 1024 * 1024
# Endpoints that accept more: drivers' photos, 8 MiB and what shows that there is more.
MAX_BODY_BYTES_OF = {"/driver/photos/": 8 * 1024 * 1024 + 1}
# And those from phones on the slowest lines, 16 kbit/s with its overhead.
BYTES_PER_SECOND_OF = {"/driver/photos/": 1_500}
SMALL_BODY_BYTES = 256 * 1024
# Concurrent requests in each process, and its database connections. More of them wait for the interpreter.
_THREADS = 3
# For how long requests are gathered that one thread answers together, and how many at most.
_GATHERED_SECONDS = 0.05
_MOST_GATHERED = 200
_END_SECONDS = 0.02  # between one end of the coroutines of answered requests and the next
# Stands in the WSGI environ for the value of a header that granian does not give, because it is not ASCII.
NOT_ASCII = "\xff"


@dataclass(frozen=True)
class Limits:
    """A body has to arrive within `body_seconds`, plus a second for every `bytes_per_second` received.

    None has more than `most_seconds` in all. Those over SMALL_BODY_BYTES occupy at most `large_bytes` together, in each
    process.
    """

    body_seconds: float = 10
    bytes_per_second: int = 16 * 1024
    most_seconds: float = 300
    large_bytes: int = 128 * 1024 * 1024


class UnreadBody(Exception):
    """The body was not read. Its text is `late`, or `busy` when large bodies occupy `large_bytes` already."""


class _Incomplete(Exception):
    """The client went away before its body was complete, or its chunks are malformed."""


class _Job(NamedTuple):
    environ: dict[str, Any]
    protocol: "HTTPProtocol"
    answered: "asyncio.Future[Answer | _Caller | None]"
    body: "_Body"
    read_at: float  # when the whole request was there, on the clock of `perf_counter`
    heavy: bool  # to be answered only if nobody is known to be its caller


class Gathered(Protocol):
    """Answers some requests several at a time."""

    def takes(self, environ: dict[str, Any]) -> bool:
        """Whether `answer` may know the answer. Is called by the loop."""

    def answer(self, environs: Sequence[dict[str, Any]]) -> Sequence[tuple[int, list[tuple[str, str]], bytes] | None]:
        """Status, headers and body of each answer; None for those that are answered by themselves."""


class _Caller(NamedTuple):
    """Of a heavy call. A thread has not answered it."""

    digest: bytes


@dataclass
class _Body:
    """A request's body so far. `large_bytes` of it count towards `Limits.large_bytes` until Django has read it."""

    content: bytearray = field(default_factory=bytearray)
    large_bytes: int = 0
    is_cut: bool = False  # the client has sent more, or will


class Application:
    """A WSGI application behind RSGI. Each worker process answers `threads` requests at a time.

    `background`: each runs in a further thread of each worker process until the process ends. `streams`: sends the
    answers that are to be streams. `caller_of`: a digest of the caller of a heavy call, if it is known. `gathered`:
    answers some requests several at a time.
    """

    def __init__(
        self,
        wsgi: Callable[..., Any],
        *,
        threads: int,
        limits: Limits | None = None,
        background: Iterable[Callable[[], None]] = (),
        streams: PageStreams,
        caller_of: Callable[[dict[str, Any]], bytes | None] = lambda _environ: None,
        gathered: Gathered | None = None,
    ) -> None:
        self._caller_of, self._gathered = caller_of, gathered
        self._gathering: list[_Job] = []
        self._wsgi, self.threads, self._limits = wsgi, threads, limits or Limits()
        self._background, self._streams = background, streams
        streams.run = self._run
        self._jobs: SimpleQueue[_Job | Callable[[], None]] = SimpleQueue()
        self._large_bytes = 0
        # Requests that a thread has done with, and what the loop has to do about them.
        self._answered: deque[tuple[asyncio.Future[Answer | _Caller | None], Answer | _Caller | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._unanswered = 0

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        raise_file_limit()
        tracing.start("web")
        error_reports.start()
        metrics.STARTS.labels("web").inc()
        self._streams.end_at_signals(loop)
        # Before the threads of requests, because one of them compares the clocks.
        for work in self._background:
            threading.Thread(target=work, name="background").start()
        for number in range(self.threads):
            threading.Thread(target=self._serve, name=f"request-{number}", daemon=True).start()

    async def __rsgi__(self, scope: "Scope", protocol: "HTTPProtocol") -> None:
        body = _Body()
        try:
            await self._respond(environ_of(scope), protocol, body)
        finally:
            self._release(body)

    def _release(self, body: "_Body") -> None:
        self._large_bytes -= body.large_bytes
        body.large_bytes = 0

    async def _respond(self, environ: dict[str, Any], protocol: "HTTPProtocol", body: "_Body") -> None:
        try:
            await self._read(body, environ, protocol)
        except _Incomplete:
            protocol.response_empty(400, [])  # without an answer granian logs an error
            return
        except UnreadBody as error:
            body.content.clear()
            body.is_cut = True
            environ[UNREAD_BODY] = str(error)  # LimitMiddleware answers
        environ["CONTENT_LENGTH"] = str(len(body.content))
        environ["wsgi.input"] = io.BytesIO(body.content)  # copies it
        body.content.clear()
        lane = heavy_calls.lane
        heavy = lane is not None and UNREAD_BODY not in environ and lane.takes(environ)
        left = await self._have_answered(environ, protocol, body, heavy=heavy)
        if lane and isinstance(left, _Caller):
            if await _is_answered(lane, left.digest, environ, protocol, body):
                return
            left = await self._have_answered(environ, protocol, body, heavy=False)
        if isinstance(left, Answer):
            await self._streams.send(left, protocol)

    async def _have_answered(
        self, environ: dict[str, Any], protocol: "HTTPProtocol", body: "_Body", *, heavy: bool
    ) -> Answer | _Caller | None:
        """Have a thread answer. Returns what the thread leaves to the loop: a stream, or a heavy call."""
        answered: asyncio.Future[Answer | _Caller | None] = self._loop.create_future()
        job = _Job(environ, protocol, answered, body, time.perf_counter(), heavy)
        if (gathered := self._gathered) and not body.is_cut and gathered.takes(environ):
            self._gather(job, gathered)
        else:
            self._jobs.put(job)
        self._unanswered += 1
        if self._timer is None:
            self._timer = self._loop.call_later(_END_SECONDS, self._end_answered)
        return await answered

    async def _run(self, work: Callable[[], str | None]) -> str | None:
        """Do something in a thread of requests. Raises what it raises."""
        done: asyncio.Future[str | None] = self._loop.create_future()

        def act() -> None:
            result, error = None, None
            close_old_connections()  # as a request does
            try:
                result = work()
            except Exception as raised:  # noqa: BLE001  # for who waits for it
                error = raised
            close_old_connections()
            with suppress(RuntimeError):  # the loop is closed: the server is stopping
                self._loop.call_soon_threadsafe(_end, done, result, error)

        self._jobs.put(act)
        return await done

    def _gather(self, job: _Job, gathered: Gathered) -> None:
        if not self._gathering:
            self._loop.call_later(_GATHERED_SECONDS, self._put_gathered, gathered)
        self._gathering.append(job)

    def _put_gathered(self, gathered: Gathered) -> None:
        jobs, self._gathering = self._gathering, []
        for start in range(0, len(jobs), _MOST_GATHERED):
            self._jobs.put(partial(self._answer_together, jobs[start : start + _MOST_GATHERED], gathered))

    def _end_answered(self) -> None:
        """Let the coroutines of answered requests end, again and again while there are requests.

        Their clients have the answer: the threads send it. Waking the loop for every one of them would take more time
        than the loop spends on a request otherwise.
        """
        while self._answered:
            answered, left = self._answered.popleft()
            self._unanswered -= 1
            if not answered.done():
                answered.set_result(left)
        self._timer = self._loop.call_later(_END_SECONDS, self._end_answered) if self._unanswered else None

    async def _read(self, body: "_Body", environ: dict[str, Any], protocol: "HTTPProtocol") -> None:
        """Read the body, or as much of it as an endpoint accepts. Raises UnreadBody and _Incomplete."""
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        declared = int(environ.get("CONTENT_LENGTH") or 0)  # hyper has refused whatever is no number
        if not declared and not is_chunked:
            return
        limits, started = self._limits, self._loop.time()
        most = MAX_BODY_BYTES_OF.get(environ["PATH_INFO"], MAX_BODY_BYTES)
        rate = BYTES_PER_SECOND_OF.get(environ["PATH_INFO"], limits.bytes_per_second)
        empty = 0
        try:
            async with asyncio.timeout_at(started + limits.body_seconds) as deadline:
                async for chunk in protocol:
                    empty += not chunk
                    body.content += chunk[: most - len(body.content)]
                    size = len(body.content)
                    if size > SMALL_BODY_BYTES:
                        self._large_bytes += size - body.large_bytes
                        body.large_bytes = size
                        if self._large_bytes > limits.large_bytes:
                            raise UnreadBody("busy")
                    # The end of a body of a declared length needs no further turn of the loop.
                    if size == declared and not is_chunked:
                        return
                    if size == most:
                        body.is_cut = True
                        return
                    deadline.reschedule(started + min(limits.body_seconds + size / rate, limits.most_seconds))
        except TimeoutError as error:
            raise UnreadBody("late") from error
        # granian gives an empty chunk at the end, and another one before it for what it could not read: chunks that are
        # cut off or malformed. It does the same for trailers, which no client needs here.
        if len(body.content) < declared or empty > 1:
            raise _Incomplete

    def _serve(self) -> None:
        """Answer one request after another, in a thread."""
        while True:
            job = self._jobs.get()
            if callable(job):
                job()
                continue
            WAITED.observe(time.perf_counter() - job.read_at)
            left: Answer | _Caller | None = None
            try:
                left = self._answer(job)
            except Exception:  # noqa: BLE001  # otherwise the thread would end and not be replaced
                # Django answers its own errors, so this is a defect of this module or of granian.
                _log.exception("%s %s failed outside Django", job.environ["REQUEST_METHOD"], job.environ["PATH_INFO"])
                with suppress(RuntimeError):  # the answer was sent already
                    job.protocol.response_empty(500, [])
            self._answered.append((job.answered, left))

    def _answer_together(self, jobs: Sequence[_Job], gathered: Gathered) -> None:
        """Answer what was gathered. What cannot be answered so is put back, to be answered by itself."""
        try:
            answered = list(zip(jobs, gathered.answer([job.environ for job in jobs]), strict=True))
        except Exception as error:  # noqa: BLE001  # those at fault fail again by themselves, and are answered so
            _log.warning("%s requests could not be answered together: %r", len(jobs), error)
            answered = [(job, None) for job in jobs]
        for job, answer in answered:
            if answer is None:
                self._jobs.put(job._replace(read_at=time.perf_counter()))
                continue
            with suppress(RuntimeError):  # the loop is closed: the server is stopping
                job.protocol.response_bytes(*answer)
            self._answered.append((job.answered, None))

    def _answer(self, job: _Job) -> Answer | _Caller | None:
        """Send the answer, or return it if it is to be a stream. Returns the caller of a heavy call instead."""
        if job.heavy and (caller := self._caller_of(job.environ)):
            return _Caller(caller)
        head: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], _exc_info: object = None) -> None:
            head[:] = int(status[:3]), [(name.lower(), value) for name, value in headers]

        response = self._wsgi(job.environ, start_response)
        if job.body.is_cut:  # hyper closes the connection: a client that does not know it sends the next call in vain
            head[1].append(("connection", "close"))
        if job.body.large_bytes:  # before the client knows that it may send the next one
            with suppress(RuntimeError):  # the loop is closed: the server is stopping
                self._loop.call_soon_threadsafe(self._release, job.body)
        try:
            if STREAM in job.environ and head[0] == HTTPStatus.OK:
                return Answer(head[1], b"".join(response), job.environ[STREAM])
            job.protocol.response_bytes(head[0], head[1], b"".join(response))
        finally:
            response.close()  # Django closes a database connection that is broken
        return None


def _end(done: "asyncio.Future[str | None]", result: str | None, error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    else:
        done.set_exception(error)


async def _is_answered(
    lane: "heavy_calls.Lane", caller: bytes, environ: dict[str, Any], protocol: "HTTPProtocol", body: "_Body"
) -> bool:
    """Have a heavy call answered by its process. Otherwise the environ says why, if a thread is to refuse it."""
    try:
        answer = await lane.ask(caller, environ, environ["wsgi.input"].getvalue())
    except heavy_calls.Refused:
        environ[HEAVY_CALL] = "running"
    except heavy_calls.Lost:
        environ[HEAVY_CALL] = "lost"
    except heavy_calls.Away:
        _log.warning("There is no process for heavy calls; a thread answers %s", environ["PATH_INFO"])
    else:
        cut = [("connection", "close")] if body.is_cut else []
        protocol.response_bytes(answer.status, [*answer.headers, *cut], answer.body)
        return True
    return False


for database in settings.DATABASES.values():
    for_web_process(database)
django.setup(set_prefix=False)
HANDLER = LimitedHandler()
BACKGROUND: list[Callable[[], None]] = [
    clock.compare_until_exit,
    # By its name, because Django must be set up first.
    import_string("config.refused_calls.write_counts_until_exit"),
    *([metrics.add_until_exit] if settings.METRICS_TOKEN else []),
]
application = Application(
    HANDLER,
    threads=_THREADS,
    background=BACKGROUND,
    streams=PageStreams(settings.REDIS_URL),
    caller_of=import_string("config.server.heavy_callers.caller_of"),
    gathered=import_string("config.gathered_positions.GatheredPositions")(),
)


def environ_of(scope: "Scope") -> dict[str, Any]:
    """PEP 3333's environ without the body.

    A header whose name holds an underscore is dropped, as nginx does: `X_Forwarded_For` would otherwise be the same
    key as the `X-Forwarded-For` that a proxy sets. A value with other bytes than ASCII is NOT_ASCII, so that it is
    refused where it has a meaning: without its Idempotency-Key, a repeated request would create a second delivery.
    """
    host, _colon, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _wsgi_text(scope.path),
        "QUERY_STRING": _wsgi_text(scope.query_string),
        "SERVER_NAME": host,
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope.headers.items():
        if "_" in name:
            continue
        key = _environ_key(name)
        if not key.startswith("HTTP_"):
            environ[key] = value
            continue
        separator = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{separator}{value}" if key in environ else value
    for name in scope.headers.keys():  # noqa: SIM118  # not a dict: `items` leaves out what is not ASCII
        if "_" not in name:
            environ.setdefault(_environ_key(name), NOT_ASCII)
    if scope.http_version == "1.1":
        environ.setdefault("HTTP_HOST", "")  # which Django refuses, as RFC 9112 (3.2) demands
    return environ


def _environ_key(header: str) -> str:
    key = header.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


def _wsgi_text(text: str) -> str:
    """WSGI strings represent bytes as latin-1."""
    return text if text.isascii() else text.encode().decode("latin-1")

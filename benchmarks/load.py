"""Loads servers with one call: in turn as fast as they answer, in turn from call to call, or at a constant rate."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import uvloop

from benchmarks import api_calls, processes
from benchmarks.api_calls import FRESH, Call
from config.env import BASE_DIR

_CALL_BY_CALL, _STEADY, _AT_MOST = 4, 64, 8  # connections
_IN_FLIGHT_SECONDS = 0.05
_SUCCESS = re.compile(rb"HTTP/1.1 20[01] ")
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Side(NamedTuple):
    """A server: where it listens, its calls by name, and the ids of its processes by name, such as `web`."""

    name: str
    base: str
    calls: dict[str, Call]
    pids: dict[str, int]


CPU = dict[str, float]  # seconds for 1,000 calls, user and system, by name of the process


class Turn(NamedTuple):
    """Calls per second, and their CPU time."""

    per_second: float
    cpu: CPU


def in_turn(
    sides: tuple[Side, Side], names: Sequence[str], *, rounds: int, seconds: int
) -> dict[tuple[str, str], list[Turn]]:
    """The turns of each side and call by their names, one for each round, after a round that warms both up.

    In its turn a side is called as fast as it answers. The side that begins changes from round to round. Raises
    RuntimeError if a call fails.
    """
    found: dict[tuple[str, str], list[Turn]] = {(side.name, name): [] for side in sides for name in names}
    for round_ in range(rounds + 1):
        for name in names:
            for side in sides if round_ % 2 else reversed(sides):
                turn = _turn(side, name, seconds)
                if round_:
                    found[side.name, name].append(turn)
        print(f"Round {round_} of {rounds}", file=sys.stderr, flush=True)
    return found


def _turn(side: Side, name: str, seconds: int) -> Turn:
    call = side.calls[name]
    environment = os.environ | {"METHOD": call.method, "BODY": call.body, "AUTHORIZATION": call.authorization}
    environment["FRESH"] = api_calls.fresh()
    command = ["wrk", "-t1", f"-c{_AT_MOST}", f"-d{seconds}", "-s", "benchmarks/call.lua", side.base + call.path]
    before = _cpu(side)
    done = subprocess.run(command, cwd=BASE_DIR, env=environment, check=True, capture_output=True, text=True)
    time.sleep(_IN_FLIGHT_SECONDS)
    after = _cpu(side)
    found = json.loads(done.stdout.splitlines()[-1])
    if errors := {kind: count for kind, count in found["errors"].items() if count}:
        raise RuntimeError(f"Of {found['calls']} calls of {name} at {side.name} failed: {errors}")
    return Turn(found["calls"] / found["seconds"], _spent(before, after, found["calls"]))


def fastest(side: Side, name: str, *, seconds: int) -> float:
    """Calls a second, called as fast as it answers. Raises RuntimeError if a call fails."""
    _turn(side, name, 1)  # warms up
    return _turn(side, name, seconds).per_second


def call_by_call(
    sides: tuple[Side, Side], names: Sequence[str], *, rounds: int, seconds: int
) -> dict[tuple[str, str], list[CPU]]:
    """CPU time by side and call, one for each round, after a round that warms both up. Raises RuntimeError.

    The sides, which share no process, take turns from call to call, so that what else the machine does meets both
    alike: with it the CPU time of the same work differs by tens of per cent from one second to the next.
    """
    found: dict[tuple[str, str], list[CPU]] = {(side.name, name): [] for side in sides for name in names}
    for round_ in range(rounds + 1):
        for name in names:
            before = [_cpu(side) for side in sides]
            count = uvloop.run(_call_by_call(sides, name, seconds))
            after = [_cpu(side) for side in sides]
            for side, was, now in zip(sides, before, after, strict=True):
                if round_:
                    found[side.name, name].append(_spent(was, now, count))
        print(f"Round {round_} of {rounds}", file=sys.stderr, flush=True)
    return found


async def _call_by_call(sides: Sequence[Side], name: str, seconds: int) -> int:
    """How many calls each side has answered."""
    end, fresh, count = time.monotonic() + seconds, api_calls.fresh(), 0

    async def call_in_turn() -> None:
        nonlocal count
        connections = [await _Connection.open(side, name) for side in sides]
        while time.monotonic() < end:
            count += 1
            text = f"{fresh}{count}"
            for connection in connections if count % 2 else reversed(connections):
                await connection.send(text)

    async with asyncio.TaskGroup() as group:
        for _number in range(_CALL_BY_CALL):
            group.create_task(call_in_turn())
    return count


def _spent(before: dict[str, float], after: dict[str, float], calls: int) -> CPU:
    return {kind: 1000 * (after[kind] - before[kind]) / calls for kind in before}


def _cpu(side: Side) -> dict[str, float]:
    """Seconds since the start of its processes."""
    return {kind: processes.cpu_seconds(pid) for kind, pid in side.pids.items()}


def at_a_rate(side: Side, name: str, *, per_second: float, seconds: int) -> list[float]:
    """Milliseconds of each answer at a constant rate, however long the answers take. Raises RuntimeError.

    They count from the moment at which the call was due, also if all connections were in use then.
    """
    return uvloop.run(_at_a_rate(side, name, per_second, seconds))


async def _at_a_rate(side: Side, name: str, per_second: float, seconds: int) -> list[float]:
    fresh, milliseconds = api_calls.fresh(), []
    free: asyncio.Queue[_Connection] = asyncio.Queue()
    for _number in range(_STEADY):
        free.put_nowait(await _Connection.open(side, name))

    async def send(number: int, due: float) -> None:
        connection = await free.get()
        await connection.send(f"{fresh}{number}")
        milliseconds.append(1000 * (time.monotonic() - due))
        free.put_nowait(connection)

    started = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(int(per_second * seconds)):
            due = started + number / per_second
            await asyncio.sleep(due - time.monotonic())
            group.create_task(send(number, due))
    return milliseconds


class _Connection:
    """A connection for one call, again and again."""

    def __init__(self, side: Side, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = side.calls[name]
        headers = {**call.headers, "Host": urlsplit(side.base).netloc}
        lines = [f"{call.method} {call.path} HTTP/1.1", *(f"{key}: {value}" for key, value in headers.items())]
        self._head, self._body = "\r\n".join(lines).encode(), call.body
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, side: Side, name: str) -> "_Connection":
        url = urlsplit(side.base)
        return cls(side, name, *await asyncio.open_connection(url.hostname, url.port))

    async def send(self, fresh: str) -> None:
        """Make the call with this text for FRESH. Raises RuntimeError unless it succeeds."""
        body = self._body.replace(FRESH, fresh).encode()
        self._writer.write(self._head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not (_SUCCESS.match(head) and length):
            raise RuntimeError(head.decode())
        await self._reader.readexactly(int(length[1]))

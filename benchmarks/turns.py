"""Two servers take turns under the same calls, so that what else the machine does meets both alike."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import psutil

from benchmarks import api_calls
from benchmarks.api_calls import Call
from config.env import BASE_DIR

_CONNECTIONS = 8
_IN_FLIGHT_SECONDS = 0.05


class Side(NamedTuple):
    """A server: where it listens, its calls by name, and the ids of its processes by name, such as `web`."""

    name: str
    base: str
    calls: dict[str, Call]
    pids: dict[str, int]


class Turn(NamedTuple):
    """Calls per second, and CPU seconds (user and system) for 1,000 calls by name of the process."""

    per_second: float
    cpu: dict[str, float]


def take(
    sides: tuple[Side, Side], names: Sequence[str], *, rounds: int, seconds: int
) -> dict[tuple[str, str], list[Turn]]:
    """The turns of each side and call by their names, one for each round, after a round that warms both up.

    The side that begins changes from round to round. Raises RuntimeError if a call fails.
    """
    found: dict[tuple[str, str], list[Turn]] = {(side.name, name): [] for side in sides for name in names}
    for round_ in range(rounds + 1):
        for name in names:
            for side in sides if round_ % 2 else reversed(sides):
                turn = _measure(side, name, seconds)
                if round_:
                    found[side.name, name].append(turn)
        print(f"Round {round_} of {rounds}", file=sys.stderr, flush=True)
    return found


def _measure(side: Side, name: str, seconds: int) -> Turn:
    call = side.calls[name]
    environment = os.environ | {"METHOD": call.method, "BODY": call.body, "AUTHORIZATION": call.authorization}
    environment["FRESH"] = api_calls.fresh()
    command = ["wrk", "-t1", f"-c{_CONNECTIONS}", f"-d{seconds}", "-s", "benchmarks/call.lua", side.base + call.path]
    before = {kind: cpu_seconds(pid) for kind, pid in side.pids.items()}
    output = subprocess.run(command, cwd=BASE_DIR, env=environment, check=True, capture_output=True, text=True).stdout
    time.sleep(_IN_FLIGHT_SECONDS)
    after = {kind: cpu_seconds(pid) for kind, pid in side.pids.items()}
    found = json.loads(output.splitlines()[-1])
    if errors := {kind: count for kind, count in found["errors"].items() if count}:
        raise RuntimeError(f"Of {found['calls']} calls of {name} at {side.name} failed: {errors}")
    cpu = {kind: 1000 * (after[kind] - before[kind]) / found["calls"] for kind in side.pids}
    return Turn(found["calls"] / found["seconds"], cpu)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process and its descendants, those included that have ended and been waited for."""
    while True:
        with suppress(psutil.NoSuchProcess):
            parent = psutil.Process(pid)
            return sum(sum(process.cpu_times()[:4]) for process in (*parent.children(recursive=True), parent))

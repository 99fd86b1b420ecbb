"""Latency of one account's calls while another account calls far more often than it may."""

import time
from collections import Counter
from contextlib import nullcontext
from statistics import median
from typing import NamedTuple

import requests

from benchmarks import processes, report, seed
from delivery.models import Delivery, Token
from tests.ports import free_port

_SECONDS, _PER_SECOND, _ROUNDS = 10, 20, 3
_CONNECTIONS = 100
_LIMITS = {"RATE_LIMIT_PER_SECOND": "50", "RATE_LIMIT_PER_HOUR": "20000"}
# Calls per second of the other account (None: it makes none, 0: as many as are answered), and whether there are limits.
_CASES: tuple[tuple[str, int | None, bool], ...] = (
    ("nothing", None, True),
    ("200/s, limited to 50/s", 200, True),
    ("500/s, limited to 50/s", 500, True),
    ("500/s, without a limit", 500, False),
    ("as often as it is answered, limited to 50/s", 0, True),
    ("as often as it is answered, without a limit", 0, False),
)


class Measured(NamedTuple):
    """Milliseconds of each call, and the answers to the other account by status."""

    milliseconds: list[float]
    statuses: Counter[str]


def run() -> None:
    seed.empty()
    mine, other = seed.accounts(2, url="http://127.0.0.1:9/hook")
    delivery, _other = seed.deliveries([mine, other], each=1)
    rounds = [[_measure(mine, other, delivery, *case[1:]) for case in _CASES] for _round in range(_ROUNDS)]
    report.table(
        f"info-delivery {_PER_SECOND}/s for {_SECONDS} s, {_ROUNDS} rounds in turn, two web processes, clients "
        f"on the same cores. The other account has {_CONNECTIONS} connections",
        ["the other account calls", "p50", "p99: median (least to greatest)", "answers to the other account"],
        [_row(name, [measured[index] for measured in rounds]) for index, (name, *_rest) in enumerate(_CASES)],
    )


def _row(name: str, measured: list[Measured]) -> list[str]:
    statuses = sum((one.statuses for one in measured), Counter[str]())
    per_second = [f"{status}: {count / _SECONDS / len(measured):,.0f}/s" for status, count in sorted(statuses.items())]
    return [
        name,
        f"{median(report.percentile(one.milliseconds, 0.5) for one in measured):.1f} ms",
        report.spread([report.percentile(one.milliseconds, 0.99) for one in measured], unit=" ms", digits=1),
        ", ".join(per_second) or "-",
    ]


def _measure(mine: Token, other: Token, delivery: Delivery, per_second: int | None, is_limited: bool) -> Measured:
    port = free_port()
    url = f"http://127.0.0.1:{port}/api/info-delivery/{delivery.pk}"
    flood = (
        nullcontext(Counter[str]())
        if per_second is None
        else processes.flood(url, other.clear_text, connections=_CONNECTIONS, per_second=per_second)
    )
    with processes.web(port, **(_LIMITS if is_limited else {})):
        _call(url, mine, seconds=2)  # every thread opens its connection to PostgreSQL
        with flood as statuses:
            milliseconds = _call(url, mine, seconds=_SECONDS)
    return Measured(milliseconds, statuses)


def _call(url: str, token: Token, *, seconds: int) -> list[float]:
    """Milliseconds from the moment when a call was due to its answer, so that a late call counts too."""
    found = []
    with requests.Session() as session:
        session.trust_env = False
        session.headers["Authorization"] = f"Bearer {token.clear_text}"
        started = time.monotonic()
        for number in range(seconds * _PER_SECOND):
            due = started + number / _PER_SECOND
            time.sleep(max(0, due - time.monotonic()))
            session.get(url, timeout=10).raise_for_status()
            found.append(1000 * (time.monotonic() - due))
    return found

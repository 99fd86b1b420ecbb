"""Latency of one account's calls while another account calls far more often than it may."""

import time
from collections import Counter
from contextlib import nullcontext
from typing import NamedTuple

import requests

from benchmarks import processes, report, seed
from delivery.models import Delivery, Integrator, Token
from tests.ports import free_port

_SECONDS, _PER_SECOND, _ROUNDS = 10, 10, 2
_CONNECTIONS = 100
# Of the other account. What it may call has to fit into the machine: an info-delivery takes about 9 ms of CPU time.
_LIMIT_PER_SECOND = 10
# Calls per second of the other account (None: it makes none, 0: as many as are answered), and whether there are limits.
_CASES: tuple[tuple[str, int | None, bool], ...] = (
    ("nothing", None, True),
    ("100/s, limited to 10/s", 100, True),
    ("300/s, limited to 10/s", 300, True),
    ("100/s, without a limit", 100, False),
    ("as often as it is answered, limited to 10/s", 0, True),
)


class Measured(NamedTuple):
    """Milliseconds of each call, and the answers to the other account by status."""

    milliseconds: list[float]
    statuses: Counter[str]


def run() -> None:
    seed.empty()
    mine, other = seed.accounts(2, url="http://127.0.0.1:9/hook")
    deliveries = seed.deliveries([mine, other], each=1)
    rounds = [[_measure(mine, other, deliveries, *case[1:]) for case in _CASES] for _round in range(_ROUNDS)]
    report.table(
        f"info-delivery {_PER_SECOND}/s for {_SECONDS} s, {_ROUNDS} rounds in turn, two web processes, clients "
        f"on the same cores. The other account has {_CONNECTIONS} connections",
        ["the other account calls", "p50: median (least to greatest)", "p99", "answers to the other account"],
        [_row(name, [measured[index] for measured in rounds]) for index, (name, *_rest) in enumerate(_CASES)],
    )


def _row(name: str, measured: list[Measured]) -> list[str]:
    statuses = sum((one.statuses for one in measured), Counter[str]())
    per_second = [f"{status}: {count / _SECONDS / len(measured):,.0f}/s" for status, count in sorted(statuses.items())]
    return [
        name,
        *(
            report.spread([report.percentile(one.milliseconds, share) for one in measured], unit=" ms")
            for share in (0.5, 0.99)
        ),
        ", ".join(per_second) or "-",
    ]


def _measure(
    mine: Token, other: Token, deliveries: list[Delivery], per_second: int | None, is_limited: bool
) -> Measured:
    port = free_port()
    url, others_url = (f"http://127.0.0.1:{port}/api/info-delivery/{delivery.pk}" for delivery in deliveries)
    flood = (
        nullcontext(Counter[str]())
        if per_second is None
        else processes.flood(others_url, other.clear_text, connections=_CONNECTIONS, per_second=per_second)
    )
    Integrator.objects.filter(pk=other.integrator_id).update(
        rate_limit_per_second=_LIMIT_PER_SECOND if is_limited else None
    )
    with processes.web(port):
        _call(url, mine, seconds=2)  # every thread opens its connection to PostgreSQL
        with flood as statuses:
            milliseconds = _call(url, mine, seconds=_SECONDS)
    return Measured(milliseconds, statuses)


def _call(url: str, token: Token, *, seconds: int) -> list[float]:
    """Milliseconds from the moment when a call was due to its answer, so that waiting for the one before it counts."""
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
            if time.monotonic() > started + seconds:
                break
    return found

"""Clients that never finish their requests must not keep others from being served."""

import time
from collections import Counter

import pytest
import requests

from tests.factories import payload
from tests.faults.report import print_figures
from tests.faults.slow_clients import KINDS, SlowClients
from tests.faults.waiting import until
from tests.ports import free_port, listens

_EACH = 100
_SECONDS = 15


@pytest.mark.timeout(120)
def test_500_stalled_clients_beside_normal_traffic(processes, shop):
    port = free_port()
    processes.start("web", port=port)
    until(lambda: listens(port), seconds=30, what="the web server")

    with SlowClients(port, each=_EACH) as slow:
        served, failed, slowest = _normal_traffic(port, shop.clear_text)
        until(lambda: _unanswered(slow) == 0, seconds=20, what="every late body refused")
        answers = slow.answers()

    print_figures("500 stalled clients", served=served, failed=failed, slowest_seconds=slowest, stalled=len(slow))
    assert failed == 0
    assert served > 100
    headers = "headers, a byte a second"  # granian's own limit of a minute; no thread is involved
    assert answers == Counter({(kind, "waiting" if kind == headers else "408"): _EACH for kind in KINDS})


def _normal_traffic(port, token):
    """Health checks and deliveries, one after the other: how many were answered well, how many not, the slowest."""
    base, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {token}"}
    served, failed, slowest, end = 0, 0, 0.0, time.monotonic() + _SECONDS
    with requests.Session() as session:
        session.trust_env = False
        while time.monotonic() < end:
            for method, path, body in (("GET", "/healthz", None), ("POST", "/api/request-delivery", payload(stops=1))):
                started = time.monotonic()
                try:
                    answer = session.request(method, base + path, json=body, headers=headers, timeout=5)
                    good = answer.ok
                except requests.RequestException:
                    good = False
                served, failed = served + good, failed + (not good)
                slowest = max(slowest, time.monotonic() - started)
    return served, failed, slowest


def _unanswered(slow):
    late = (count for (kind, status), count in slow.answers().items() if status == "waiting" and "headers" not in kind)
    return sum(late)

"""Redis carries wake-ups only. Without it nothing is lost, and the API answers."""

import time

import pytest
import requests

from tests.factories import payload
from tests.faults import outages
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until
from tests.ports import free_port, listens

_AWAY_SECONDS = 6


@pytest.fixture
def api(processes, shop):
    """Asks a real web server for a delivery; returns the seconds that took."""
    port = free_port()
    processes.start("web", port=port, WEB_WORKERS="1")
    session = requests.Session()
    session.trust_env = False

    def request():
        started = time.monotonic()
        answer = session.post(
            f"http://127.0.0.1:{port}/api/request-delivery",
            json=payload(stops=1),
            headers={"Authorization": f"Bearer {shop.clear_text}"},
            timeout=10,
        )
        assert answer.status_code == 201
        committed.add((answer.json()["deliveryId"], 1))
        return time.monotonic() - started

    committed = set()
    request.committed = committed
    until(lambda: listens(port), seconds=30, what="the web server")
    with session:
        yield request


@pytest.mark.timeout(120)
def test_redis_is_killed_and_comes_back_empty(processes, api, shop, endpoint):
    processes.start("beat")
    processes.start("worker")
    with Load(shop, per_second=20) as load:
        until(lambda: len(endpoint.receipts) > 20, seconds=30, what="20 events received")
        with outages.no_redis():
            began, waits = time.monotonic(), []
            while time.monotonic() - began < _AWAY_SECONDS:
                waits.append(api())
                time.sleep(0.1)  # ten callers a second at most
            missed = load.committed - endpoint.accepted()
        resumed = until(lambda: missed & endpoint.accepted(), seconds=30, what="sending resumed")
    committed = load.committed | api.committed
    await_all(committed, endpoint, seconds=30)

    figures = figures_of(committed, endpoint.receipts)
    print_figures(
        "Redis killed, back empty", figures, answered_meanwhile=len(waits), slowest_answer_seconds=max(waits),
        held_back=len(missed), seconds_to_resume=resumed,
    )  # fmt: skip
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)
    assert missed
    assert max(waits) < 3
    assert resumed < 5

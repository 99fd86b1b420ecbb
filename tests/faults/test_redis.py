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


class Api:
    """Requests deliveries from the web server at `port`, and records those that were created in `committed`."""

    def __init__(self, port, token):
        self.committed: set[tuple[str, int]] = set()
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers["Authorization"] = f"Bearer {token.clear_text}"
        self._url = f"http://127.0.0.1:{port}/api/request-delivery"

    def request_delivery(self):
        """Returns the seconds until the answer."""
        started = time.monotonic()
        answer = self.session.post(self._url, json=payload(stops=1), timeout=10)
        assert answer.status_code == 201
        self.committed.add((answer.json()["deliveryId"], 1))
        return time.monotonic() - started


@pytest.fixture
def api(processes, shop):
    port = free_port()
    processes.start("web", port=port, WEB_WORKERS="1")
    until(lambda: listens(port), seconds=30, what="the web server")
    api = Api(port, shop)
    with api.session:
        yield api


@pytest.mark.timeout(120)
def test_redis_is_killed_and_comes_back_empty(processes, api, shop, endpoint):
    processes.start("beat")
    processes.start("worker")
    with Load(shop, per_second=20) as load:
        until(lambda: len(endpoint.receipts) > 20, seconds=30, what="20 events received")
        with outages.no_redis():
            began, waits = time.monotonic(), []
            while time.monotonic() - began < _AWAY_SECONDS:
                waits.append(api.request_delivery())
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

"""Redis carries wake-ups only. Without it nothing is lost, and the API answers."""

import time

import pytest
import requests

from tests.factories import payload
from tests.faults import outages
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port, listens


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
        answer = self.session.post(self._url, json=payload(stops=1), timeout=DEADLINE_SECONDS)
        assert answer.status_code == 201
        self.committed.add((answer.json()["deliveryId"], 1))
        return time.monotonic() - started


@pytest.fixture
def api(processes, shop):
    port = free_port()
    processes.start("web", port=port, WEB_WORKERS="1")
    until(lambda: listens(port), what="the web server")
    api = Api(port, shop)
    with api.session:
        yield api


def test_redis_is_killed_and_comes_back_empty(processes, api, shop, endpoint):
    processes.start("beat")
    processes.start("worker")
    with Load(shop, per_second=20) as load:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        with outages.no_redis():
            waits = [api.request_delivery() for _number in range(20)]
            until(lambda: len(load.committed - endpoint.accepted()) > 20, what="20 changes that no worker is told of")
            missed = load.committed - endpoint.accepted()
        resumed = until(lambda: missed & endpoint.accepted(), what="sending resumed")
    committed = load.committed | api.committed
    await_all(committed, endpoint)

    figures = figures_of(committed, endpoint.receipts)
    print_figures(
        "Redis killed, back empty", figures, answered_meanwhile=len(waits), slowest_answer_seconds=max(waits),
        held_back=len(missed), seconds_to_resume=resumed,
    )  # fmt: skip
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)

"""Private addresses behind names and redirects. Every connect() of the worker is recorded."""

import json
import socket
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from delivery.models import EventState, WebhookAttempt
from tests.factories import DeliveryFactory
from tests.faults.endpoint import Answer, ConnectionCounter
from tests.faults.processes import Processes
from tests.faults.waiting import until

PUBLIC = "93.184.216.34"
PORT = 8443  # one of the two that a URL may name
# Some of those in tests/common/webhooks/test_address_guard.py.
FORBIDDEN = (
    "0.0.0.0",
    "10.1.2.3",
    "127.0.0.1",
    "169.254.169.254",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::10.1.2.3",
    "fe80::1",
)


@dataclass
class WatchedWorker:
    """Starts a worker with fake names, and returns the addresses to which it connected."""

    processes: Processes
    folder: Path

    def start(self, names, *, allow_loopback):
        (self.folder / "names").write_text(json.dumps(names))
        self.processes.start("beat")
        self.processes.start(
            "worker",
            module="tests.faults.worker_with_fake_names",
            FAKE_NAMES_FILE=str(self.folder / "names"),
            CONNECTS_FILE=str(self.folder / "connects"),
            ALLOW_LOOPBACK="1" if allow_loopback else "",
        )

    @property
    def connects(self):
        path = self.folder / "connects"
        return path.read_text().split() if path.exists() else []


@pytest.fixture
def watched(tmp_path):
    processes = Processes()
    yield WatchedWorker(processes, tmp_path)
    processes.kill_all()


def first_attempts(deliveries):
    """By delivery, once there is one for each."""
    attempts = WebhookAttempt.objects.filter(event__delivery__in=deliveries, number=1).select_related("event")
    until(lambda: attempts.count() == len(deliveries), what="an attempt for each delivery")
    found = {attempt.event.delivery_id: attempt for attempt in attempts}
    return [found[delivery.pk] for delivery in deliveries]


def test_a_redirect_is_not_followed(watched, new_endpoint, shop_at):
    with closing(ConnectionCounter()) as private:
        places = ("http://169.254.169.254/latest/meta-data/", f"http://127.0.0.1:{private.port}/")
        ends = [new_endpoint(Answer(302, {"Location": place})) for place in places]
        watched.start({}, allow_loopback=True)

        attempts = first_attempts([DeliveryFactory.create(token=shop_at(endpoint.url)) for endpoint in ends])

        assert [(attempt.status_code, attempt.event.state) for attempt in attempts] == [(302, EventState.PENDING)] * 2
        assert set(watched.connects) == {"127.0.0.1"}
        assert private.connections == 0


def test_a_name_that_resolves_to_a_private_address_later_is_refused(watched, shop_at, monkeypatch, settings):
    answers = [*([address] for address in FORBIDDEN), [PUBLIC, "127.0.0.1"], [PUBLIC]]
    names = {f"shop-{number}.example": answer for number, answer in enumerate(answers)}
    settings.WEBHOOK_ALLOW_LOOPBACK = False
    with monkeypatch.context() as at_first, ExitStack() as counters:
        private = [counters.enter_context(closing(ConnectionCounter(host, PORT))) for host in ("127.0.0.1", "::1")]
        public = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (PUBLIC, 0))]
        at_first.setattr(socket, "getaddrinfo", lambda *args, **options: public)
        shops = [shop_at(f"https://{name}:{PORT}/hook") for name in names]
        deliveries = [DeliveryFactory.create(token=shop) for shop in shops]
        watched.start(names, allow_loopback=False)

        *forbidden, mixed, control = first_attempts(deliveries)

        assert [attempt.error for attempt in forbidden] == ["address_refused"] * len(FORBIDDEN)
        assert mixed.error in {"address_refused", "connect"}
        assert sum(counter.connections for counter in private) == 0
        # A name that stays public is connected to, which shows that connections are recorded.
        assert control.error == "connect"
        assert set(watched.connects) == {PUBLIC}

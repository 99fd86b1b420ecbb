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
from tests.faults.report import print_figures
from tests.faults.waiting import until

PUBLIC = "93.184.216.34"
PORT = 8443  # one of the two that a URL may name
IPV4 = (
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
)  # fmt: skip
IPV6 = (
    "::", "::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "3fff::1",
    "5f00::1", "fc00::1", "fd00::1", "fe80::1", "fec0::1", "ff02::1",
)  # fmt: skip


def six_to_four(ipv4):
    return "2002:{:02x}{:02x}:{:02x}{:02x}::".format(*map(int, ipv4.split(".")))


FORBIDDEN = (
    *IPV4, *IPV6, *(f"::ffff:{ipv4}" for ipv4 in IPV4), *(f"64:ff9b::{ipv4}" for ipv4 in IPV4), *map(six_to_four, IPV4),
)  # fmt: skip


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

        print_figures("Redirects", sent=2, received=sum(len(endpoint.receipts) for endpoint in ends),
            connections_to_loopback=private.connections)  # fmt: skip
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

        print_figures("Names that resolve to private addresses", sent=len(forbidden) + 1, received=0,
            refused=sum(attempt.error == "address_refused" for attempt in forbidden),
            connects=sum(address != PUBLIC for address in watched.connects),
            connections_to_loopback=sum(counter.connections for counter in private))  # fmt: skip
        passed = zip(FORBIDDEN, forbidden, strict=True)
        assert {address: attempt.error for address, attempt in passed if attempt.error != "address_refused"} == {}
        assert mixed.error in {"address_refused", "connect"}
        assert sum(counter.connections for counter in private) == 0
        # A name that stays public is connected to, which shows that connections are recorded.
        assert control.error == "connect"
        assert set(watched.connects) == {PUBLIC}

"""A web server that reads lists and reports from a replica, and somebody who looks at them."""

import pytest
import requests
from django.contrib.auth.models import User
from django.urls import reverse

from config.env import data_dir
from delivery.actions import deliveries
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.faults.replica.browser import Browser
from tests.faults.replica.replication import Replica
from tests.faults.waiting import DEADLINE_SECONDS, until, until_web_answers
from tests.ports import free_port

_METRICS_TOKEN = "a-token-of-the-metrics-of-these-tests"  # pragma: allowlist secret
_LOG = "web.log"


@pytest.fixture(scope="module")
def replica():
    replica = Replica()
    yield replica
    replica.stop()


class Web:
    """The web server, with one process: each measures the lag by itself."""

    def __init__(self, address):
        self.address = address

    def check(self):
        """What `/readyz` says about the replica; it is kept for a second. Only a missing primary makes it fail."""
        answer = requests.get(f"{self.address}/readyz", timeout=DEADLINE_SECONDS)
        assert answer.status_code == 200, answer.text
        return answer.json()["checks"]["replica"]

    def metrics(self, family):
        """The lines of the samples of a metric."""
        headers = {"Authorization": f"Bearer {_METRICS_TOKEN}"}
        answer = requests.get(f"{self.address}/metrics", headers=headers, timeout=DEADLINE_SECONDS)
        assert answer.status_code == 200
        return [line for line in answer.text.splitlines() if line.startswith(family)]

    def lag(self):
        found = self.metrics("rota_replica_lag_seconds ")
        return float(found[0].split()[1]) if found else None

    def uses_replica(self):
        lag = self.lag()
        return lag is not None and lag < 10


@pytest.fixture(scope="module")
def environment(replica):
    """The variables of the web server."""
    return {"DATABASE_REPLICA_URL": replica.url}


@pytest.fixture(scope="module")
def web(module_processes, environment):
    port = free_port()
    module_processes.start("web", port=port, WEB_WORKERS="1", METRICS_TOKEN=_METRICS_TOKEN, **environment)
    base = f"http://127.0.0.1:{port}"
    until_web_answers(base)
    return Web(base)


@pytest.fixture(autouse=True)
def _is_in_use(web, replica):
    """Each test begins with a replica that is read from and has what is committed."""
    replica.catch_up()
    until(web.uses_replica, what="the replica is in use")


@pytest.fixture
def log():
    """Returns what the web server has logged since the test began."""
    path = data_dir() / "logs" / _LOG
    size = path.stat().st_size

    def read():
        return path.read_bytes()[size:].decode()

    return read


@pytest.fixture(scope="module")
def staff(_database):
    return User.objects.get_or_create(username="replica-staff", is_staff=True, is_superuser=True)[0]


@pytest.fixture
def browser(web, staff):
    return Browser(web, staff)


@pytest.fixture
def other_browser(web, staff):
    return Browser(web, staff)


@pytest.fixture(scope="module")
def account(_database):
    """A token of an account."""
    return TokenFactory.create()


@pytest.fixture
def page_of(account):
    """The address of a page of the account."""
    return lambda name, *more: reverse(f"panel:{name}", args=[account.integrator.pk, "live", *more])


@pytest.fixture
def end_delivery(account):
    """Makes a delivery that has ended. Returns its id as pages show it."""

    def make():
        delivery = DeliveryFactory.create(token=account)
        deliveries.cancel(delivery=delivery, reason="Closed", by=BY, at=delivery.created_at)
        return str(delivery.pk)

    return make

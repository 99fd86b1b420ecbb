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
from tests.faults.waiting import DEADLINE_SECONDS

_METRICS_TOKEN = "a-token-of-the-metrics-of-these-tests"  # pragma: allowlist secret
_LOG = "web.log"


@pytest.fixture(scope="module")
def replica():
    replica = Replica()
    yield replica
    replica.stop()


class Web:
    """The web server, with one process: each notices by itself that the replica fails."""

    def __init__(self, address):
        self.address = address

    def reads(self, source):
        """How many requests were answered from the replica or for a reason from the primary. Added every 5 s."""
        headers = {"Authorization": f"Bearer {_METRICS_TOKEN}"}
        answer = requests.get(f"{self.address}/metrics", headers=headers, timeout=DEADLINE_SECONDS)
        assert answer.status_code == 200
        name = f'rota_replica_reads_total{{source="{source}"}} '
        return sum(float(line.removeprefix(name)) for line in answer.text.splitlines() if line.startswith(name))


@pytest.fixture(scope="module")
def environment(replica):
    """The variables of the web server."""
    return {"DATABASE_REPLICA_URL": replica.url}


@pytest.fixture(scope="module")
def web(module_processes, environment):
    return Web(module_processes.start_web(WEB_WORKERS="1", METRICS_TOKEN=_METRICS_TOKEN, **environment).base)


@pytest.fixture(autouse=True)
def _is_up_to_date(web, replica):
    """Each test begins with a replica that has what is committed."""
    replica.catch_up()


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

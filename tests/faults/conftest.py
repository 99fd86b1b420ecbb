"""A database and processes for `make test-faults`, which is not part of `make test`.

CI runs those with the mark `ci`. A comment in each of them says what has to be broken for it to fail.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from common.postgresql.invariants import find_broken
from config.env import data_dir
from delivery import invariants as deliveries
from delivery.models import Token
from dev import embedded
from integration import invariants as orders
from integration.models import Seller
from tests import servers
from tests.factories import TariffFactory
from tests.faults import integrators, log_contents
from tests.faults.calls import Callers
from tests.faults.endpoint import Answer, Endpoint
from tests.faults.processes import Process, Processes
from tests.faults.report import print_figures
from tests.integration.factories import SellerFactory

# Longer than several of the deadlines in `waiting`, which say what did not happen.
_TIMEOUT_SECONDS = 600


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "failover" not in config.option.markexpr:  # they need further packages and ten minutes
        items[:] = [item for item in items if item.get_closest_marker("failover") is None]
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(_TIMEOUT_SECONDS))


@pytest.fixture(scope="session", autouse=True)
def _database(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The real database and not pytest-django's, because workers use it too. All its tables are dropped first.

    At the end, whatever was killed, its invariants hold, and no log has a secret or personal data.
    """
    if not django_settings.EMBEDDED or data_dir().name != "faults":
        pytest.exit("These tests empty the database of DATA_DIR. Run them with: make test-faults", returncode=4)
    log_contents.clear()
    with django_db_blocker.unblock():
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        servers.make_tables(embedded.postgres_url())
        TariffFactory.create()
        yield
        found = find_broken((*deliveries.ALL, *orders.ALL))
        connection.close()
    print_figures("Logs of the processes", lines=log_contents.count())
    assert (found, log_contents.leaks()) == ([], [])


@pytest.fixture
def processes() -> Iterator[Processes]:
    """Starts processes, which are killed at the end of the test, so that none does the work of those of the next."""
    processes = Processes()
    yield processes
    processes.kill_all()


@pytest.fixture(scope="module")
def module_processes() -> Iterator[Processes]:
    """Starts processes for all tests of a module."""
    processes = Processes()
    yield processes
    processes.kill_all()


@pytest.fixture(scope="module")
def worker(module_processes: Processes) -> Process:
    """A worker, with beat, for a module whose tests leave it alone."""
    module_processes.start("beat")
    return module_processes.start("worker")


@pytest.fixture
def web(processes: Processes) -> str:
    """The address of a web server of two processes."""
    return processes.start_web().base


@pytest.fixture(scope="session")
def seller(_database: None) -> Seller:
    return SellerFactory.create()


@pytest.fixture
def callers(shop: Token, seller: Seller) -> Callers:
    return Callers(shop, seller)


@pytest.fixture
def new_endpoint() -> Iterator[Callable[..., Endpoint]]:
    """Opens endpoints, and closes them after the test."""
    opened: list[Endpoint] = []

    def open_(answer: Answer | None = None, **options: Any) -> Endpoint:
        opened.append(Endpoint(answer, **options))
        return opened[-1]

    yield open_
    for endpoint in opened:
        endpoint.close()


@pytest.fixture
def endpoint(new_endpoint: Callable[..., Endpoint]) -> Endpoint:
    return new_endpoint()


@pytest.fixture
def shop_at() -> Iterator[Callable[..., Token]]:
    """Opens shops, live or with `sandbox=True`, whose webhooks go to a URL, and closes them after the test."""
    opened: list[Token] = []

    def open_(url: str, *, sandbox: bool = False) -> Token:
        opened.append(integrators.create(url, sandbox=sandbox))
        return opened[-1]

    yield open_
    for token in opened:
        integrators.remove_url(token)


@pytest.fixture
def shop(shop_at: Callable[..., Token], endpoint: Endpoint) -> Token:
    """A shop whose webhooks go to `endpoint`."""
    return shop_at(endpoint.url)

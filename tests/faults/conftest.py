"""A database and processes that outlive a transaction: `make test-faults`, never part of `make test`."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from pytest_django.plugin import DjangoDbBlocker

from config.env import data_dir
from delivery.actions import endpoints
from delivery.models import Token, WebhookEndpoint
from tests.factories import BY, TariffFactory, TokenFactory
from tests.faults.endpoint import Answer, Endpoint
from tests.faults.stage import Process, Stage


@pytest.fixture(scope="session", autouse=True)
def _database(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database itself and not pytest-django's, because workers have to see the same; made anew."""
    if not django_settings.EMBEDDED or data_dir().name != "faults":
        pytest.exit("These tests empty the database of DATA_DIR. Run them with: make test-faults", returncode=4)
    with django_db_blocker.unblock():
        with connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        call_command("migrate", verbosity=0)
        TariffFactory.create()
        yield
        connection.close()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """An empty one for each module; nothing on it outlives the module."""
    stage = Stage()
    yield stage
    stage.clear()


@pytest.fixture(scope="module")
def worker(stage: Stage) -> Process:
    """A worker, with beat, for a module whose tests leave it alone."""
    stage.start("beat")
    return stage.start("worker")


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
def shop_at() -> Iterator[Callable[[str], Token]]:
    """Makes a shop whose webhooks go to a URL, and returns its token. After the test nothing more is sent there."""
    shops: list[WebhookEndpoint] = []

    def make(url: str) -> Token:
        token = TokenFactory.create()
        shop = token.integrator.endpoints.get(environment="live")
        shops.append(endpoints.set_url(endpoint=shop, url=url, by=BY))
        return token

    yield make
    for shop in shops:
        endpoints.set_url(endpoint=shop, url="", by=BY)


@pytest.fixture
def shop(shop_at: Callable[[str], Token], endpoint: Endpoint) -> Token:
    """A shop whose webhooks go to `endpoint`."""
    return shop_at(endpoint.url)

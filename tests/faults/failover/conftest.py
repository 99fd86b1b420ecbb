"""A cluster and the product's processes on it, for all tests of this folder; what the tests make is made there."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from django.db import connection, connections
from pytest_django.plugin import DjangoDbBlocker

from common.postgresql.invariants import find_broken
from config.database import from_url
from delivery import invariants as deliveries
from dev import embedded
from integration import invariants as orders
from integration.models import Seller
from tests.factories import TariffFactory
from tests.faults.failover.cluster import Cluster, cluster
from tests.faults.processes import Processes
from tests.integration.factories import SellerFactory
from tests.pgbouncer import pgbouncer, variables

_WORKER = "tests.faults.worker_to_loopback"


@pytest.fixture(scope="package")
def postgresql(program: Callable[[str], str], _database: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Cluster]:
    """The cluster, to whose primary the tests' own connections lead. At the end the invariants of its data hold."""
    with cluster(program) as found, django_db_blocker.unblock():
        kept = dict(connections.databases["default"])
        connection.close()
        connections.databases["default"].update(from_url(found.url))
        try:
            TariffFactory.create()
            yield found
            connection.close()
            broken = find_broken((*deliveries.ALL, *orders.ALL))
        finally:
            connection.close()
            connections.databases["default"].update(kept)
    assert broken == []


@pytest.fixture(scope="package")
def environment(postgresql):
    return {
        "DATABASE_URL": postgresql.url,
        "DATABASE_REPLICA_URL": postgresql.replica_url,
        "REDIS_URL": postgresql.redis_url,
        "ALLOWED_HOSTS": "127.0.0.1",
        "WEB_WORKERS": "1",
        **embedded.local_secrets(),
    }


@pytest.fixture(scope="package")
def package_processes() -> Iterator[Processes]:
    processes = Processes()
    yield processes
    processes.kill_all()


@pytest.fixture(scope="package")
def pooled(program, tmp_path_factory):
    """Starts PgBouncer in front of a PostgreSQL. Returns the variables of a web server."""
    with ExitStack() as stack:

        def start(url):
            folder = tmp_path_factory.mktemp("pgbouncer")
            address = stack.enter_context(pgbouncer(program("pgbouncer"), url, folder))
            return {
                "DATABASE_URL": f"{address}/rota_web?target_session_attrs=any", **variables(program("pgbouncer")),
            }  # fmt: skip  # two rows

        yield start


@pytest.fixture(scope="package")
def webs(package_processes, postgresql, environment, pooled):
    """Web servers that reach PostgreSQL by HAProxy, by the addresses of all servers, and by PgBouncer and HAProxy."""
    by_hosts = environment | {"DATABASE_URL": postgresql.url_of_hosts}
    by_pool = environment | pooled(postgresql.url)
    return [package_processes.start_web(**each) for each in (environment, by_hosts, by_pool)]


@pytest.fixture(scope="package")
def others(package_processes, postgresql, environment):
    """A worker that reaches PostgreSQL by HAProxy, one and beat by the addresses of all servers."""
    by_hosts = environment | {"DATABASE_URL": postgresql.url_of_hosts}
    return [
        package_processes.start("worker", module=_WORKER, **environment),
        package_processes.start("worker", module=_WORKER, **by_hosts),
        package_processes.start("beat", **by_hosts),
    ]


@pytest.fixture(scope="package")
def seller(postgresql: Cluster) -> Seller:
    return SellerFactory.create()

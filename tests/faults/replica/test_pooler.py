"""A replica behind PgBouncer in transaction mode, as docs/deployment.md describes it."""

import pytest

from tests.faults.replica.browser import Browser
from tests.pgbouncer import pgbouncer, variables


@pytest.fixture(scope="module")
def environment(replica, program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pgbouncer")
    # Few server connections, so that transactions of different clients follow each other on the same one.
    with pgbouncer(program("pgbouncer"), replica.url, folder, default_pool_size=2) as url:
        yield {"DATABASE_REPLICA_URL": f"{url}/rota_web", **variables(program("pgbouncer"))}


def test_answers_lists_behind_pgbouncer(web, staff, page_of, replica, end_delivery):
    browser = Browser(web, staff)
    with replica.paused():
        delivery = end_delivery()
        old = browser.get(page_of("deliveries"))
    replica.catch_up()

    assert delivery not in old
    assert delivery in browser.get(page_of("deliveries"))

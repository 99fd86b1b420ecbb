"""Other programs hold all server connections of PgBouncer in transactions: calls get 503, until one is free."""

import time
from contextlib import ExitStack

import psycopg
import pytest

from dev import embedded
from tests.faults.calls import Traffic, statuses
from tests.faults.report import print_figures
from tests.faults.waiting import until
from tests.pgbouncer import pgbouncer, variables

_POOL_SIZE = 2
_WAIT_SECONDS = 3


@pytest.fixture
def pool(program, tmp_path):
    url = embedded.postgres_url()
    settings = {"default_pool_size": _POOL_SIZE, "query_wait_timeout": _WAIT_SECONDS}
    with pgbouncer(program("pgbouncer"), url, tmp_path, **settings) as address:
        yield f"{address}/rota_web"


@pytest.fixture
def base(program, processes, pool):
    environment = {**embedded.environment(), "DATABASE_URL": pool, **variables(program("pgbouncer"))}
    return processes.start_web(**environment).base


def test_the_pool_is_used_up(base, pool, callers):
    with Traffic(callers, [base], per_second=40, threads=24) as traffic:
        until(lambda: len(traffic.answers) > 100, what="100 answers")
        with ExitStack() as held:
            for _number in range(_POOL_SIZE):
                connection = held.enter_context(psycopg.connect(pool, prepare_threshold=None))
                connection.execute("SELECT 1")  # begins a transaction, which keeps the server's connection
            gone = time.monotonic()
            until(lambda: statuses(traffic.since(gone))[503] > 100, what="100 calls are refused meanwhile")
            returning = time.monotonic()
        back = time.monotonic()
        traffic.until_good(100)
    meanwhile = [answer for answer in traffic.answers if gone < answer.begun and answer.ended < returning]

    print_figures(
        f"PgBouncer's {_POOL_SIZE} connections held for {back - gone:.0f} s, calls", answered=len(traffic.answers),
        refused=len(traffic.refused), slowest_seconds=max(answer.seconds for answer in traffic.answers),
        seconds_to_resume=max(answer.ended for answer in traffic.refused) - back,
    )  # fmt: skip  # one figure each
    assert statuses(meanwhile).keys() == {503}
    traffic.assert_repeatable(base)

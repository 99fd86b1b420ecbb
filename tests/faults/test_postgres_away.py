"""PostgreSQL is away for a while, or has no connection left: 503 with Retry-After, and nothing is made by halves."""

import time
from contextlib import ExitStack

import psycopg
import pytest
from django.db import connection

from tests.faults import outages
from tests.faults.calls import Traffic, made, statuses
from tests.faults.report import print_figures
from tests.faults.waiting import until

_MOST_CONNECTIONS = 1000


# Fails if an error of the connection is not known as one (`is_unavailable` in common/connections.py): 500, not 503.
@pytest.mark.ci
def test_postgres_is_killed_and_away(web, callers):
    with Traffic(callers, [web], per_second=40) as traffic:
        until(lambda: len(traffic.answers) > 100, what="100 answers")
        with outages.no_postgres():
            gone = time.monotonic()
            until(lambda: len(traffic.since(gone)) > 100, what="100 answers meanwhile")
            returning = time.monotonic()
        seconds = traffic.until_good(100)
    meanwhile = [answer for answer in traffic.answers if gone < answer.begun and answer.ended < returning]
    refused = [answer for answer in traffic.answers if not answer.is_good]
    before_repetition = made(traffic.answers)
    repeated = traffic.repeat(web, refused)

    print_figures(
        "PostgreSQL killed and away, calls", answered=len(traffic.answers), meanwhile=len(meanwhile),
        refused=len(refused), slowest_refusal_seconds=max(answer.seconds for answer in refused),
        seconds_to_100_good_answers=seconds,
    )  # fmt: skip  # one figure each
    assert statuses(meanwhile).keys() == statuses(refused).keys() == {503}
    assert [answer for answer in refused if answer.headers.get("retry-after") != "5"] == []
    assert before_repetition.keys() == {0, 1}
    assert statuses(repeated).keys() == {201}
    assert made(traffic.answers) == {1: before_repetition.total()}


def test_postgres_has_no_connection_left(web, callers):
    """First none at all, then two for the six threads of the web server."""
    with ExitStack() as held:
        connections = _all_connections(held)
        with Traffic(callers, [web], per_second=40) as traffic:
            until(lambda: len(traffic.answers) > 100, what="100 answers without a connection")
            without, few = list(traffic.answers), time.monotonic()
            for each in connections[:2]:
                each.close()
            until(lambda: any(answer.is_good for answer in traffic.since(few)), what="a good one with two connections")
            for each in connections:
                each.close()
            traffic.until_good(100)
    refused = [answer for answer in traffic.answers if not answer.is_good]
    repeated = traffic.repeat(web, refused)

    print_figures(
        "No connection left, calls", answered=len(traffic.answers), held=len(connections), refused=len(refused),
        slowest_refusal_seconds=max(answer.seconds for answer in refused),
    )  # fmt: skip  # one figure each
    assert statuses(without).keys() == statuses(refused).keys() == {503}
    assert [answer for answer in refused if answer.headers.get("retry-after") != "5"] == []
    assert statuses(repeated).keys() == {201}
    assert made(traffic.answers).keys() == {1}


def _all_connections(held):
    """Open connections until PostgreSQL has none left; `held` closes them."""
    parameters = connection.get_connection_params()
    arguments = {name: parameters[name] for name in ("host", "port", "user", "dbname") if name in parameters}
    connections: list[psycopg.Connection] = []

    def fill():
        while len(connections) < _MOST_CONNECTIONS:
            connections.append(held.enter_context(psycopg.connect(**arguments)))

    with pytest.raises(psycopg.OperationalError, match=r"too many clients|remaining connection slots"):
        fill()
    return connections

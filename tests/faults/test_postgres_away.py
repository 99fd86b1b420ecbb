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

_AWAY_SECONDS = 10
_BACK_SECONDS = 5
_MOST_CONNECTIONS = 1000


@pytest.mark.timeout(150)
def test_postgres_is_away_for_ten_seconds(web, callers):
    with Traffic(callers, [web], per_second=40) as traffic:
        until(lambda: len(traffic.answers) > 150, seconds=30, what="150 answers")
        with outages.no_postgres():
            gone = time.monotonic()
            time.sleep(_AWAY_SECONDS)
            returning = time.monotonic()
        back = time.monotonic()
        until(lambda: len(traffic.since(back + _BACK_SECONDS)) > 150, seconds=40, what="150 answers afterwards")
    meanwhile = [answer for answer in traffic.answers if gone < answer.begun and answer.ended < returning]
    refused = [answer for answer in traffic.answers if not answer.is_good]
    before_repetition = made(traffic.answers)
    repeated = traffic.repeat(web, refused)

    print_figures(
        "PostgreSQL away for 10 s, calls", answered=len(traffic.answers), meanwhile=len(meanwhile),
        refused=len(refused),
        slowest_refusal_seconds=max(answer.seconds for answer in refused),
        seconds_to_resume=max(0.0, max(answer.ended for answer in refused) - back),
    )  # fmt: skip
    assert len(meanwhile) > 100
    assert statuses(meanwhile).keys() == statuses(refused).keys() == {503}
    assert [answer for answer in refused if answer.headers.get("retry-after") != "5"] == []
    assert max(answer.ended for answer in refused) < back + _BACK_SECONDS
    assert before_repetition.keys() == {0, 1}
    assert statuses(repeated).keys() == {201}
    assert made(traffic.answers) == {1: before_repetition.total()}


@pytest.mark.timeout(150)
def test_postgres_has_no_connection_left(web, callers):
    """First none at all, then two for the six threads of the web server."""
    with ExitStack() as held:
        connections = _all_connections(held)
        with Traffic(callers, [web], per_second=40) as traffic:
            until(lambda: len(traffic.answers) > 100, seconds=30, what="100 answers without a connection")
            without, few = list(traffic.answers), time.monotonic()
            for each in connections[:2]:
                each.close()
            until(lambda: len(traffic.since(few)) > 100, seconds=30, what="100 answers with two connections")
            free = time.monotonic()
            for each in connections:
                each.close()
            until(lambda: len(traffic.since(free + _BACK_SECONDS)) > 100, seconds=40, what="100 answers with enough")
    refused = [answer for answer in traffic.answers if not answer.is_good]
    with_few = [answer for answer in traffic.answers if few < answer.begun and answer.ended < free]
    repeated = traffic.repeat(web, refused)

    print_figures(
        "No connection left, calls", answered=len(traffic.answers), held=len(connections), refused=len(refused),
        good_with_two_connections=sum(answer.is_good for answer in with_few),
        slowest_refusal_seconds=max(answer.seconds for answer in refused),
    )  # fmt: skip  # one figure each
    assert statuses(without).keys() == statuses(refused).keys() == {503}
    assert [answer for answer in refused if answer.headers.get("retry-after") != "5"] == []
    assert any(answer.is_good for answer in with_few)
    assert max(answer.ended for answer in refused) < free + _BACK_SECONDS
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

"""PostgreSQL is away for a while, or has no connection left: 503 with Retry-After, and nothing is made by halves.

What was committed is sent.
"""

import time
from contextlib import ExitStack

import psycopg
import pytest
from django.db import connection

from tests.faults import integrators, outages
from tests.faults.calls import Traffic, created, made, statuses
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until

_MOST_CONNECTIONS = 1000


@pytest.fixture
def of_seller(seller, new_endpoint):
    """The endpoint that is told of the seller's orders."""
    endpoint = new_endpoint()
    integrators.set_url_of(seller, endpoint.url)
    yield endpoint
    integrators.set_url_of(seller, "")


# Fails if an error of the connection is not known as one (`is_unavailable` in common/connections.py): 500, not 503.
# Fails if commits are not durable (`synchronous_commit=off`, config/database.py): what was committed is missing. Fails
# if a worker does not go on after an error of the database (`_repeat` in common/webhooks/sender.py), or does not
# connect anew (`run_again_after_fault` there): no event of after the restart is received.
@pytest.mark.ci
def test_postgres_is_killed_and_away(processes, web, callers, endpoint, of_seller):
    processes.start("beat")
    processes.start("worker")
    with Traffic(callers, [web], per_second=40) as traffic:
        until(lambda: len(traffic.answers) > 100 and endpoint.receipts, what="100 answers, and an event received")
        with outages.no_postgres():
            gone = time.monotonic()
            until(lambda: len(traffic.since(gone)) > 100, what="100 answers meanwhile")
            returning = time.monotonic()
        seconds = traffic.until_good(100)
    meanwhile = [answer for answer in traffic.answers if gone < answer.begun and answer.ended < returning]
    committed = {(delivery, 1) for delivery in created(traffic.answers)}
    ordered = {(each.request.key, 1) for each in traffic.answers if each.request.kind == "order" and each.is_good}
    # An item whose claim was committed while the answer to the worker was lost is sent when its lease has ended.
    seconds_to_the_last = await_all(committed, endpoint)
    await_all(ordered, of_seller)
    figures, of_orders = figures_of(committed, endpoint.receipts), figures_of(ordered, of_seller.receipts)

    print_figures("PostgreSQL killed and away, orders", of_orders)
    print_figures(
        "PostgreSQL killed and away, calls", figures, answered=len(traffic.answers), meanwhile=len(meanwhile),
        refused=len(traffic.refused), slowest_refusal_seconds=max(answer.seconds for answer in traffic.refused),
        seconds_to_100_good_answers=seconds, seconds_to_the_last=seconds_to_the_last,
    )  # fmt: skip  # one figure each
    assert (figures.lost, of_orders.lost) == (0, 0)
    assert statuses(meanwhile).keys() == {503}
    assert made(traffic.answers).keys() == {0, 1}
    traffic.assert_repeatable(web)


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

    print_figures(
        "No connection left, calls", answered=len(traffic.answers), held=len(connections),
        refused=len(traffic.refused), slowest_refusal_seconds=max(answer.seconds for answer in traffic.refused),
    )  # fmt: skip  # one figure each
    assert statuses(without).keys() == {503}
    traffic.assert_repeatable(web)


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

"""PostgreSQL stands still under load with its connections open: every call ends, and nothing is doubled."""

import time
from statistics import median

import pytest

from delivery.models import WebhookEvent
from tests.faults import outages
from tests.faults.calls import Traffic, made, statuses
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import until

_STATEMENT_SECONDS = 4


@pytest.mark.usefixtures("worker")
def test_postgres_stands_still(processes, callers, endpoint, shop):
    """Of 24 calls that are made at the same time, 18 wait for one of the six threads of the web server."""
    base = processes.start_web(DATABASE_STATEMENT_SECONDS=str(_STATEMENT_SECONDS)).base
    with Traffic(callers, [base], per_second=40, threads=24) as traffic:
        until(lambda: len(traffic.answers) > 100, what="100 answers")
        with outages.frozen_postgres():
            gone = time.monotonic()
            # Four times as many as are made at a time: each that waits for PostgreSQL has ended.
            until(lambda: statuses(traffic.since(gone))[503] > 100, what="100 calls are refused while it stands still")
        back = time.monotonic()
        traffic.until_good(100)
    affected = [answer for answer in traffic.answers if gone < answer.ended and answer.begun < back]
    made_and_refused = made(traffic.refused)[1]
    traffic.assert_repeatable(base)
    events = sequences(WebhookEvent.objects.filter(endpoint__integrator=shop.integrator))
    await_all(events, endpoint)
    figures = figures_of(events, endpoint.receipts)

    print_figures(
        f"PostgreSQL stands still for {back - gone:.0f} s, calls", figures, answered=len(traffic.answers),
        meanwhile=len(affected),
        by_status=dict(statuses(affected)), slowest_seconds=max(answer.seconds for answer in affected),
        median_seconds_of_refusals=median(answer.seconds for answer in traffic.refused),
        made_and_refused=made_and_refused,
        seconds_to_resume=min(answer.ended for answer in traffic.since(back) if answer.is_good) - back,
    )  # fmt: skip  # one figure each
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert len({receipt.webhook_id for receipt in endpoint.receipts}) == figures.received

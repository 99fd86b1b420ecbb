"""All processes of PostgreSQL are killed. What was committed is sent."""

import time

import pytest

from tests.faults import outages
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until


# Fails if commits are not durable (`synchronous_commit=off`, config/database.py): what was committed is missing. Fails
# if a worker does not go on after an error of the database (`_repeat` in common/webhooks/sender.py), or does not
# connect anew (`run_again_after_fault` there): no event of after the restart is received.
@pytest.mark.ci
def test_postgres_is_killed_and_started_again(processes, shop, endpoint):
    processes.start("beat")
    processes.start("worker")
    with Load(shop, per_second=30, survives_database=True) as load:
        until(lambda: len(endpoint.receipts) > 50, what="50 events received")
        with outages.no_postgres():
            until(lambda: load.refused, what="a change that is refused")
        back, committed = time.monotonic(), set(load.committed)
        until(lambda: endpoint.accepted() - committed, what="an event of after the restart received")
        resumed = time.monotonic() - back
        until(lambda: len(load.committed) > len(committed) + 100, what="100 changes after the restart")
    # An item whose claim was committed while the answer to the worker was lost is sent when its lease has ended.
    seconds = await_all(load.committed, endpoint)

    figures = figures_of(load.committed, endpoint.receipts)
    print_figures(
        "PostgreSQL killed", figures, changes_refused=load.refused, seconds_to_resume=resumed,
        seconds_to_the_last=seconds,
    )  # fmt: skip  # one figure each
    assert (figures.lost, figures.out_of_order) == (0, 0)

"""PostgreSQL crashes and recovers. What was committed is sent."""

import time

import pytest

from tests.faults import outages
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until


@pytest.mark.timeout(150)
def test_postgres_restarts_in_immediate_mode(processes, shop, endpoint):
    processes.start("beat")
    processes.start("worker")
    with Load(shop, per_second=30, survives_database=True) as load:
        until(lambda: len(endpoint.receipts) > 50, seconds=30, what="50 events received")
        outages.restart_postgres()
        back, committed = time.monotonic(), set(load.committed)
        until(lambda: endpoint.accepted() - committed, seconds=30, what="an event of after the restart received")
        resumed = time.monotonic() - back
        until(lambda: len(load.committed) > len(committed) + 100, seconds=30, what="100 changes after the restart")
    # An item whose claim was committed while the answer to the worker was lost is sent when its lease has ended.
    seconds = await_all(load.committed, endpoint, seconds=90)

    figures = figures_of(load.committed, endpoint.receipts)
    print_figures(
        "PostgreSQL restarted, immediate mode", figures, changes_refused=load.refused, seconds_to_resume=resumed,
        seconds_to_the_last=seconds,
    )  # fmt: skip
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert load.refused
    assert resumed < 10

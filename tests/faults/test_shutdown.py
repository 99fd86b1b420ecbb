"""Processes that are asked to end, as on every update of the service."""

import psutil

from delivery.models import EventState, WebhookEvent
from tests.faults.endpoint import Answer
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until


def test_a_worker_ends_in_order_and_the_next_one_goes_on(processes, shop, endpoint):
    endpoint.answer = Answer(after=0.05)  # so that something is always in flight
    processes.start("beat")
    worker = processes.start("worker")

    with Load(shop, per_second=30) as load:
        until(lambda: len(endpoint.receipts) > 50, what="50 events received")
        seconds = worker.end()
        ended = len(load.committed)
        processes.start("worker")
        until(lambda: len(load.committed) > ended + 100, what="100 changes for the next worker")
    await_all(load.committed, endpoint)
    pending = WebhookEvent.objects.filter(endpoint__integrator=shop.integrator, state=EventState.PENDING)
    until(lambda: not pending.exists(), what="everything recorded")

    figures = figures_of(load.committed, endpoint.receipts)
    print_figures("SIGTERM under load", figures, seconds_to_exit=seconds)
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)


def test_a_web_process_that_does_not_hear_the_signal_is_killed(processes):
    """As one that is told to end in the moment of its start, or that hangs. The server would wait for it for ever."""
    web = processes.start_web()
    until(lambda: len(web.children()) > 3, what="both processes, and those of heavy calls")
    psutil.Process(web.pid).children()[-1].suspend()

    web.end()  # raises TimeoutExpired if it does not end

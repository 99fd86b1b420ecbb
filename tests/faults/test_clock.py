"""Clocks of processes that jump: nothing is lost, and no offer expires because one clock is wrong."""

import pytest

from config.env import data_dir
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery
from tests.faults.calls import Traffic, made, statuses
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until

_HOUR = 3600


class Clock:
    """That of a worker; `jump` moves it to so many seconds before or after the real one."""

    def __init__(self, file):
        self.file = file
        self.jump(0)

    def jump(self, seconds):
        draft = self.file.with_suffix(".new")
        draft.write_text(str(seconds))
        draft.rename(self.file)


@pytest.mark.timeout(180)
def test_the_clock_of_the_only_worker_jumps_by_an_hour(processes, web, callers, endpoint):
    """An hour ahead it would expire every offer; an hour back it finds nothing due, until its clock is right."""
    clock = Clock(data_dir() / "clock")
    processes.start("beat")
    worker = processes.start("worker", module="tests.faults.worker_with_jumping_clock", CLOCK_OFFSET=str(clock.file))
    logged = worker.log.stat().st_size

    def go_on(*, received):
        answered, events = len(traffic.answers), len(endpoint.receipts)
        until(lambda: len(traffic.answers) > answered + 150, seconds=40, what="150 answers")
        until(lambda: len(endpoint.receipts) >= events + received, seconds=40, what=f"{received} events received")

    with Traffic(callers, [web], per_second=25) as traffic:
        go_on(received=10)
        clock.jump(_HOUR)
        go_on(received=10)
        until(
            lambda: b"ClocksDiffer" in worker.log.read_bytes()[logged:],
            seconds=60,
            what="a task that refuses the clock",
        )
        clock.jump(-_HOUR)
        go_on(received=0)
        clock.jump(0)
        go_on(received=10)
    created = [each.json["deliveryId"] for each in traffic.answers if each.request.kind == "delivery"]
    committed = {(delivery, 1) for delivery in created}
    seconds = await_all(committed, endpoint, seconds=60)

    figures = figures_of(committed, endpoint.receipts)
    expired = Delivery.objects.filter(pk__in=created, route_status=RouteStatus.EXPIRED)
    print_figures(
        "Clock of a worker an hour ahead and back", figures, calls=len(traffic.answers), seconds_to_the_last=seconds,
        expired=expired.count(),
    )  # fmt: skip  # one figure each
    assert statuses(traffic.answers).keys() == {200, 201}
    assert made(traffic.answers).keys() == {1}
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert not expired.exists()

"""Shops, sellers, members and drivers at work while processes are killed at random. Nothing is lost, nothing doubled.

MIXED_TRAFFIC_SECONDS says for how long; ten minutes unless it is set.
"""

import os
import random
import subprocess
import sys
import time
from collections import Counter

import pytest

from config.env import BASE_DIR
from delivery.lifecycle import Trigger
from delivery.models import EventState, GoodsInHand, Transition, WebhookEvent
from tests.faults import outages
from tests.faults.calls import Traffic, call, created, made, new_session, statuses
from tests.faults.drivers import Drivers
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import DEADLINE_SECONDS, until, until_web_answers

_SECONDS = float(os.environ.get("MIXED_TRAFFIC_SECONDS", "600"))
_DRIVERS = 6
_SEED = 15
_KEPT_SECONDS = (3, 8)  # between two faults


class Faults:
    """Kills, ends or restarts something at random; a process is started again after a moment."""

    def __init__(self, running):
        self.counts: Counter[str] = Counter()
        self._running = running
        self._choice = random.Random(_SEED)  # noqa: S311  # which fault

    def next(self):
        """Do one of them, and return how many seconds to wait for the next."""
        kind = self._choice.choice(["kill", "kill", "kill", "end", "Redis", "PostgreSQL"])
        match kind:
            case "Redis":
                with outages.no_redis():
                    time.sleep(self._choice.uniform(0, 2))
                self.counts["Redis killed"] += 1
            case "PostgreSQL":
                with outages.no_postgres():
                    time.sleep(self._choice.uniform(0, 2))
                self.counts["PostgreSQL killed"] += 1
            case _:
                self._process(kind)
        return self._choice.uniform(*_KEPT_SECONDS)

    def _process(self, kind):
        process = self._choice.choice(self._running)
        if kind == "kill":
            process.kill()
        else:
            process.end()
        time.sleep(self._choice.uniform(0, 1))
        process.start()
        self.counts[f"{process.name} {'killed' if kind == 'kill' else 'ended'}"] += 1


@pytest.fixture
def running(processes):
    """A web server, two workers and beat."""
    return [processes.start_web(), *(processes.start("worker") for _number in range(2)), processes.start("beat")]


@pytest.mark.timeout(_SECONDS + 600)
# Fails if an error of the connection is not known as one (`is_unavailable` in common/connections.py): 500 while
# PostgreSQL is away; and for the reasons named in test_web_killed.py, test_workers.py and test_postgres_away.py.
@pytest.mark.ci
def test_everything_adds_up_afterwards(running, callers, endpoint, shop):
    base, faults = running[0].base, Faults(running)
    choice = random.Random(_SEED)  # noqa: S311  # which delivery is cancelled
    cancelled = []
    with Traffic(callers, [base], per_second=25) as traffic, Drivers(base, _DRIVERS) as drivers, new_session() as http:
        end = next_fault = time.monotonic()
        end += _SECONDS
        while (now := time.monotonic()) < end:
            if now > next_fault:
                next_fault = time.monotonic() + faults.next()
            if newest := created(traffic.answers[-100:]):
                cancelled.append(call(http, base, callers.cancellation(choice.choice(newest))))
            time.sleep(0.5)
        until_web_answers(base)
    repeated = traffic.repeat(base, traffic.refused)
    events = WebhookEvent.objects.filter(endpoint__integrator=shop.integrator)
    seconds = await_all(sequences(events), endpoint)
    until(lambda: not events.exclude(state=EventState.SENT).exists(), what="every event is sent")

    figures = figures_of(sequences(events), endpoint.receipts)
    print_figures(
        f"{_SECONDS:g} s of mixed traffic", figures, calls=len(traffic.answers), not_answered_well=len(traffic.refused),
        cancellations=dict(statuses(cancelled)), seconds_to_the_last=seconds, faults=faults.counts.total(),
    )  # fmt: skip  # one figure each
    print_figures("Faults", None, **dict(sorted(faults.counts.items())))
    print_figures("Drivers", None, **dict(sorted(drivers.counts.items())))
    odd = [(answer, answer.body) for answer in traffic.answers if answer.status not in {0, 200, 201, 503}]
    assert odd == []
    assert statuses(repeated).keys() == {201}
    # 422: the route has ended, or was cancelled before.
    assert statuses(cancelled)[200] > 0
    assert statuses(cancelled).keys() <= {0, 200, 422, 503}
    assert made(traffic.answers).keys() == {1}
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert {trigger for _delivery, trigger, _point in drivers.done} >= {"collect", "deliver"}
    assert _missing(drivers.done) == []
    verify = [sys.executable, "manage.py", "verify"]
    subprocess.run(verify, cwd=BASE_DIR, check=True, timeout=DEADLINE_SECONDS, stdout=subprocess.DEVNULL)


def _missing(done):
    """Moves of drivers that were answered as done and that the history does not have once.

    A collection that is reported after the cancellation opens the route again, or leaves the goods in hand.
    """
    moves = Transition.objects.values_list("delivery", "trigger", "point")
    in_hand = ((delivery, "collect", "") for delivery in GoodsInHand.objects.values_list("delivery", flat=True))
    late = Trigger.GOODS_OUT.value
    counted = Counter(
        (str(delivery), "collect" if trigger == late else trigger, point)
        for delivery, trigger, point in (*moves, *in_hand)
    )
    return [move for move in done if counted[move] != 1]

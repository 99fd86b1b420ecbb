"""A Redis that answers late, or not at all: every call is answered, and nothing is lost."""

import time

import pytest

from tests.faults.calls import Traffic, created, made, statuses
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.slow_redis import relay
from tests.faults.waiting import until


@pytest.mark.parametrize("delay", [0.3, 600], ids=["late", "hangs"])
def test_redis_answers_slowly(processes, callers, endpoint, delay):
    with relay() as redis:
        processes.start("beat")
        processes.start("worker")
        web = processes.start_web(RATE_LIMIT_PER_SECOND="1000", METRICS_TOKEN="x" * 32)
        with Traffic(callers, [web.base], per_second=20) as traffic:
            until(lambda: len(endpoint.receipts) > 10, what="10 events received")
            usual, redis.delay, slow = list(traffic.answers), delay, time.monotonic()
            asked = redis.questions
            until(lambda: len(traffic.since(slow)) > 100, what="100 answers meanwhile")
            meanwhile = traffic.since(slow)
            assert redis.questions > asked  # it was used while it was slow
    committed = {(delivery, 1) for delivery in created(traffic.answers)}
    seconds = await_all(committed, endpoint)

    figures = figures_of(committed, endpoint.receipts)
    print_figures(
        f"Redis answers after {delay:g} s", figures, answered_meanwhile=len(meanwhile),
        slowest_answer_before=max(answer.seconds for answer in usual),
        slowest_answer=max(answer.seconds for answer in meanwhile), seconds_to_the_last=seconds,
    )  # fmt: skip  # one figure each
    assert statuses(traffic.answers).keys() == {200, 201}
    assert made(traffic.answers).keys() == {1}
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)

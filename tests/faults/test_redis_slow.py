"""A Redis that answers late, or not at all: every call is answered, and nothing is lost."""

import time

import pytest

from tests.faults.calls import Traffic, made, statuses
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.slow_redis import relay
from tests.faults.waiting import until
from tests.ports import free_port, listens


@pytest.mark.parametrize("delay", [0.3, 600], ids=["late", "hangs"])
def test_redis_answers_slowly(processes, callers, endpoint, delay):
    with relay() as redis:
        port = free_port()
        processes.start("beat")
        processes.start("worker")
        processes.start("web", port=port, RATE_LIMIT_PER_SECOND="1000", METRICS_TOKEN="x" * 32)
        until(lambda: listens(port), what="the web server")
        with Traffic(callers, [f"http://127.0.0.1:{port}"], per_second=20) as traffic:
            until(lambda: len(endpoint.receipts) > 10, what="10 events received")
            usual, redis.delay, slow = list(traffic.answers), delay, time.monotonic()
            asked = redis.questions
            until(lambda: len(traffic.since(slow)) > 100, what="100 answers meanwhile")
            meanwhile = traffic.since(slow)
            assert redis.questions > asked  # it was used while it was slow
    committed = _created(traffic)
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


def _created(traffic):
    """The first event of each delivery."""
    return {(answer.json["deliveryId"], 1) for answer in traffic.answers if answer.request.kind == "delivery"}

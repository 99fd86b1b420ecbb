"""Redis carries wake-ups only. Without it nothing is lost, and the API answers."""

from tests.faults import outages
from tests.faults.calls import call, new_session, statuses
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until


def test_redis_is_killed_and_comes_back_empty(processes, web, callers, shop, endpoint):
    processes.start("beat")
    worker = processes.start("worker")
    with Load(shop, per_second=20) as load, new_session() as session:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        with outages.no_redis():
            answers = [call(session, web, callers.delivery()) for _number in range(20)]
            worker.end()
            worker.start()
            untold = set(load.committed) - endpoint.accepted()
            late = until(lambda: untold <= endpoint.accepted(), what="a new worker sends what none is told of")
    committed = load.committed | {(answer.json["deliveryId"], 1) for answer in answers}
    await_all(committed, endpoint)

    figures = figures_of(committed, endpoint.receipts)
    print_figures(
        "Redis killed, back empty", figures, slowest_answer_seconds=max(answer.seconds for answer in answers),
        sent_without_redis=len(untold), seconds=late,
    )  # fmt: skip
    assert statuses(answers) == {201: 20}
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)

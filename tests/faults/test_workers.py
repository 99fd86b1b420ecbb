"""kill -9 for workers, as the kernel does when memory runs out.

The items of a killed worker stay leased to it for 15 seconds. The fixture `killed` does what both tests examine, so
that they wait for that once.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from django.db import connection, transaction

from delivery.models import WebhookAttempt, WebhookQueueItem
from tests.factories import DeliveryFactory
from tests.faults import integrators
from tests.faults.endpoint import Answer, Endpoint, Receipt
from tests.faults.load import Load
from tests.faults.report import Figures, await_all, figures_of, print_figures
from tests.faults.waiting import until

_KILLED = ("pool", "worker")  # the worker with its pool, or one process of this
# Events received. What was killed may have had all that an endpoint has in flight: then these wait for its leases too.
_BETWEEN_KILLS = 20


@dataclass
class Outcome:
    """`figures` of the load; `receipts` of the event whose outcome was lost."""

    figures: Figures
    receipts: list[Receipt]


@pytest.fixture(scope="module")
def killed(module_processes):
    busy, quiet = Endpoint(Answer(after=0.05)), Endpoint()
    customers = [integrators.create(endpoint.url) for endpoint in (busy, quiet)]
    module_processes.start("beat")
    worker = module_processes.start("worker")

    with Load(customers[0], per_second=30) as load:
        for name in _KILLED:
            received = len(busy.receipts)
            until(lambda: len(busy.receipts) > received + _BETWEEN_KILLS, what="further events received")  # noqa: B023  # used at once
            _kill(name, worker)
    # The outcomes of others would wait for the lock too.
    waiting = WebhookQueueItem.objects.filter(endpoint__integrator=customers[0].integrator, lease=None)
    until(lambda: not waiting.exists(), what="only what killed workers have claimed is left")
    event = _answered_and_not_recorded(worker, customers[1], quiet)
    worker.start()
    await_all(load.committed, busy)
    until(lambda: len(quiet.receipts) > 1, what="the event received again")
    until(lambda: _attempts(event) == 1, what="the second answer recorded")

    yield Outcome(figures_of(load.committed, busy.receipts), quiet.receipts)
    for customer, endpoint in zip(customers, (busy, quiet), strict=True):
        integrators.remove_url(customer)
        endpoint.close()


def _kill(name, worker):
    """Kill the worker, which is started again, or a process of its pool, which Celery replaces."""
    if name == "worker":
        worker.kill()
        worker.start()
    else:
        until(worker.children, what="a pool")
        worker.children()[0].kill()


def _answered_and_not_recorded(worker, shop, endpoint):
    """The id of an event whose answer the worker could not record before it was killed."""
    until(worker.children, what="a pool")
    with transaction.atomic(), connection.cursor() as cursor:
        # Writing an attempt waits for this lock.
        cursor.execute("LOCK TABLE delivery_webhookattempt IN SHARE ROW EXCLUSIVE MODE")
        with ThreadPoolExecutor(1) as elsewhere:  # on a connection of its own, committed while the lock is held
            elsewhere.submit(_request_delivery, shop).result(10)
        until(lambda: [r for r in endpoint.receipts if r.answered_at], what="the event received")
        worker.kill()
        # PostgreSQL would go on with the statement of the killed worker once the lock is released.
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
    return endpoint.receipts[0].webhook_id


def _request_delivery(shop):
    DeliveryFactory.create(token=shop)
    connection.close()


def _attempts(event):
    return WebhookAttempt.objects.filter(event=event).count()


@pytest.mark.ci
class TestAKilledWorker:
    # Fails if what a killed worker has claimed stays its own (LEASE in common/webhooks/claims.py): lost. Fails if the
    # events of a delivery are queued beside each other (`is_ordered` of what `add` queues there): out of order.
    def test_loses_nothing_and_keeps_the_order(self, killed):
        print_figures(f"kill -9 of {', '.join(_KILLED)}", killed.figures)

        assert (killed.figures.lost, killed.figures.out_of_order) == (0, 0)

    # Fails if an event is recorded as sent, or leaves the queue, before it is answered (`_claim_requests` in
    # common/webhooks/sender.py, `write` in common/webhooks/settlement.py).
    def test_repeats_once_what_was_answered_and_not_recorded(self, killed):
        first, *others = killed.receipts

        assert [(other.webhook_id, other.body) for other in others] == [(first.webhook_id, first.body)]

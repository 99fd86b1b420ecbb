"""kill -9 for workers, as the kernel does when memory runs out.

The items of a killed worker stay leased to it for 15 seconds. The fixture `killed` does what both tests examine, so
that they wait for that once.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from django.db import connection, transaction
from django.utils import timezone

from delivery.models import WebhookAttempt, WebhookQueueItem
from integration.actions import orders
from integration.lifecycle import Status
from tests.factories import BY, DeliveryFactory
from tests.faults import integrators
from tests.faults.endpoint import Answer, Endpoint, Receipt
from tests.faults.load import Load
from tests.faults.report import Figures, await_all, figures_of, print_figures
from tests.faults.waiting import until
from tests.integration.factories import OTHER_COMPANY, create_order

_KILLED = ("pool", "worker")  # the worker with its pool, or one process of this
# Events received. What was killed may have had all that an endpoint has in flight: then these wait for its leases too.
_BETWEEN_KILLS = 20


@dataclass
class Outcome:
    """`figures` of the load, and of a seller's orders; `receipts` of the event whose outcome was lost."""

    figures: Figures
    of_orders: Figures
    receipts: list[Receipt]


@pytest.fixture(scope="module")
def killed(module_processes):
    busy, quiet, of_seller = Endpoint(Answer(after=0.05)), Endpoint(), Endpoint(Answer(after=0.05))
    customers = [integrators.create(endpoint.url) for endpoint in (busy, quiet)]
    seller = integrators.create_seller(of_seller.url)
    module_processes.start("beat")
    worker = module_processes.start("worker")

    changed = set()
    with Load(customers[0], per_second=30) as load:
        for name in _KILLED:
            changed |= _change_orders(seller, name)
            received = len(busy.receipts)
            until(lambda: len(busy.receipts) > received + _BETWEEN_KILLS, what="further events received")  # noqa: B023  # used at once
            _kill(name, worker)
    # The outcomes of others would wait for the lock too.
    waiting = WebhookQueueItem.objects.filter(endpoint__integrator=customers[0].integrator, lease=None)
    until(lambda: not waiting.exists(), what="only what killed workers have claimed is left")
    event = _answered_and_not_recorded(worker, customers[1], quiet)
    worker.start()
    await_all(load.committed, busy)
    await_all(changed, of_seller)
    until(lambda: len(quiet.receipts) > 1, what="the event received again")
    until(lambda: _attempts(event) == 1, what="the second answer recorded")

    yield Outcome(figures_of(load.committed, busy.receipts), figures_of(changed, of_seller.receipts), quiet.receipts)
    integrators.set_url_of(seller, "")
    of_seller.close()
    for customer, endpoint in zip(customers, (busy, quiet), strict=True):
        integrators.remove_url(customer)
        endpoint.close()


def _change_orders(seller, name):
    """Ten orders with three changes each, as code and sequence."""
    changed = set()
    for number in range(10):
        order = create_order(seller, orderId=f"{name}-{number}", company_document=OTHER_COMPANY)
        for status in (Status.COLLECTED, Status.DELIVERED):
            orders.move(order=order, to=status, by=BY, at=timezone.now())
        changed |= {(order.code, sequence) for sequence in (1, 2, 3)}
    return changed


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

    # Fails for the same reasons: the tables of the other area are drained by the same processes.
    def test_loses_nothing_of_orders_and_keeps_their_order(self, killed):
        print_figures(f"kill -9 of {', '.join(_KILLED)}, orders", killed.of_orders)

        assert (killed.of_orders.lost, killed.of_orders.out_of_order) == (0, 0)

    # Fails if an event is recorded as sent, or leaves the queue, before it is answered (`_claim_requests` in
    # common/webhooks/sender.py, `write` in common/webhooks/settlement.py).
    def test_repeats_once_what_was_answered_and_not_recorded(self, killed):
        first, *others = killed.receipts

        assert [(other.webhook_id, other.body) for other in others] == [(first.webhook_id, first.body)]

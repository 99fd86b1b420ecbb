"""kill -9 for the worker whose threads move a simulated delivery and a simulated order."""

from django.db import connection, transaction
from django.utils import timezone

from common.accounts import Environment
from delivery.actions import deliveries
from delivery.lifecycle import Status
from delivery.models import Delivery, EventState, WebhookEvent
from tests.factories import BY, validated_payload
from tests.faults.report import await_all, figures_of
from tests.faults.waiting import until
from tests.integration.factories import create_order

_SPEED = 10  # 1 s to the acceptance, 3 s more to the pickup, 4 s to each of the two drop-offs
_STATUSES = ["pending", "collected", "in_transit", "out_for_delivery", "delivered"]
_TRIGGERS = ["request", "accept", "collect", "deliver", "deliver"]


def test_what_is_simulated_continues_after_its_worker_is_killed(processes, shop_at, endpoint, seller):
    processes.start("beat")
    worker = processes.start("worker")
    delivery = deliveries.request(
        token=shop_at(endpoint.url, sandbox=True),
        payload=validated_payload(stops=2),
        by=BY,
        at=timezone.now(),
        simulation_speed=_SPEED,
    )
    order = create_order(seller, Environment.SANDBOX, simulation_speed=_SPEED, orderId="simulated")
    events = WebhookEvent.objects.filter(delivery=delivery)

    accepted = events.filter(sequence=2, state=EventState.SENT)
    until(accepted.exists, what="the acceptance sent and recorded")
    worker.kill()  # on the way to A
    _kill_within_a_move(worker)
    worker.start()
    committed = {(str(delivery.pk), sequence) for sequence in range(1, len(_TRIGGERS) + 1)}
    await_all(committed, endpoint)
    until(lambda: not events.exclude(state=EventState.SENT).exists(), what="every event recorded as sent")
    until(order.status_log.filter(status=_STATUSES[-1]).exists, what="the order delivered")

    figures = figures_of(committed, endpoint.receipts)
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)
    assert len({receipt.webhook_id for receipt in endpoint.receipts}) == len(endpoint.receipts) == len(_TRIGGERS)
    assert list(delivery.transitions.order_by("pk").values_list("trigger", flat=True)) == _TRIGGERS
    assert Delivery.objects.get(pk=delivery.pk).status == Status.DELIVERED
    assert [entry.status for entry in order.status_log.all()] == _STATUSES


def _kill_within_a_move(worker):
    """Start the worker, and kill it when it has changed the delivery and not committed that."""
    with transaction.atomic(), connection.cursor() as cursor:
        # Writing the history, the second statement of a move, waits for this lock.
        cursor.execute("LOCK TABLE delivery_transition IN SHARE ROW EXCLUSIVE MODE")
        worker.start()
        until(lambda: _waiting(cursor), what="a move that waits for the lock")
        worker.kill()
        # PostgreSQL would go on with the statement of the killed worker once the lock is released.
        for pid in _waiting(cursor):
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])


def _waiting(cursor):
    """Processes of PostgreSQL that wait for a lock of the history."""
    cursor.execute("SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'delivery_transition'::regclass")
    return [pid for (pid,) in cursor.fetchall()]

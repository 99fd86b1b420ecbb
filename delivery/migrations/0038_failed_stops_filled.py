"""Fills the column of the migration before from the histories, and makes the indexes that have it.

Outside a transaction: deliveries are filled in batches, each of which locks its rows for moments, and the indexes are
made while the table is in use. All of it can be repeated. What fails from now on under the version before, which does not
know the column, counts as a failure by its status only.
"""

from typing import Any
from uuid import UUID

from django.db import migrations, models, transaction

_BATCH = 2_000
# A closed delivery changes only while people are forgotten. Rows are locked in one order, so that two cannot wait for
# each other.
_PERMIT = "SELECT set_config('rota.forgetting', 'on', TRUE)"
_FILL = """
WITH batch AS (
    SELECT id FROM delivery_delivery WHERE id > %s ORDER BY id LIMIT %s FOR NO KEY UPDATE
), filled AS (
    UPDATE delivery_delivery delivery SET has_failed_stop = TRUE
    FROM batch
    WHERE delivery.id = batch.id AND NOT delivery.has_failed_stop AND EXISTS (
        SELECT FROM delivery_transition WHERE delivery_id = batch.id AND trigger IN ('fail', 'recall')
    )
)
SELECT id FROM batch ORDER BY id DESC LIMIT 1
"""
_INDEX, _NEW = "delivery_ended_of_account", "delivery_ended_of_account_new"
_SUMMED = (
    "status", "route_status", "shipping_value", "cancelled_at", "cancel_fee", "driver", "distance_km", "created_at",
    "accepted_at", "driver_amount", "offer_at", "scheduled_for", "pickup_deadline_at", "deadline_at", "mode", "retry_fee",
    "return_fee", "cancel_percent_accepted", "cancel_percent_collected", "retry_percent", "return_percent",
    "ready_at", "missed_deadline", "fee_before_pickup", "has_failed_stop",
)  # fmt: skip  # a list of names
_CREATE = f"""
CREATE INDEX CONCURRENTLY {_NEW} ON delivery_delivery (integrator_id, environment, closed_at, id)
INCLUDE (status, route_status, shipping_value, cancelled_at, cancel_fee, driver_id, distance_km, created_at,
         accepted_at, driver_amount, offer_at, scheduled_for, pickup_deadline_at, deadline_at, mode, retry_fee,
         return_fee, cancel_percent_accepted, cancel_percent_collected, retry_percent, return_percent,
         ready_at, missed_deadline, fee_before_pickup{{more}})
WHERE closed_at IS NOT NULL
"""


def _replaced(more: str = "") -> tuple[str, ...]:
    """Statements that make the index with `more` columns. Reports read the former one until it is complete."""
    return (
        f"DROP INDEX CONCURRENTLY IF EXISTS {_NEW}",
        _CREATE.format(more=more),
        f"DROP INDEX CONCURRENTLY IF EXISTS {_INDEX}",
        f"ALTER INDEX {_NEW} RENAME TO {_INDEX}",
    )


_FAILED = "delivery_failed_of_account"
_DROP_FAILED = f"DROP INDEX CONCURRENTLY IF EXISTS {_FAILED}"
_CREATE_FAILED = f"""
CREATE INDEX CONCURRENTLY {_FAILED} ON delivery_delivery (integrator_id, environment, created_at DESC, id DESC)
WHERE status = 'FAILED' OR has_failed_stop
"""


def fill(apps: Any, schema_editor: Any) -> None:  # noqa: ARG001  # as Django calls it
    connection = schema_editor.connection
    last: UUID | None = UUID(int=0)
    while last:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(_PERMIT)
            cursor.execute(_FILL, [last, _BATCH])
            (last,) = cursor.fetchone() or (None,)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0037_failed_stops")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunSQL(
            [_DROP_FAILED, _CREATE_FAILED],
            _DROP_FAILED,
            state_operations=[
                migrations.AddIndex(
                    "delivery",
                    models.Index(
                        fields=["integrator", "environment", "-created_at", "-id"],
                        name=_FAILED,
                        condition=models.Q(status="FAILED") | models.Q(has_failed_stop=True),
                    ),
                ),
            ],
        ),
        # Without its column the way back to the migration before would drop the index.
        migrations.RunSQL(
            _replaced(", has_failed_stop"),
            _replaced(),
            state_operations=[
                migrations.RemoveIndex("delivery", _INDEX),
                migrations.AddIndex(
                    "delivery",
                    models.Index(
                        fields=["integrator", "environment", "closed_at", "id"],
                        include=_SUMMED,
                        name=_INDEX,
                        condition=models.Q(closed_at__isnull=False),
                    ),
                ),
            ],
        ),
    ]

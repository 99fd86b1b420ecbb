"""Fills the first acceptances from the histories, and makes the index that reports read them from.

Outside a transaction: deliveries are filled in batches, each of which locks its rows for moments, and the index is made
while the table is in use. All of it can be repeated. What is accepted from now on by the version before, which does
not know the column, has no first acceptance: reports leave those routes out of the time until one is accepted.
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
    UPDATE delivery_delivery delivery SET accepted_at = first.at
    FROM batch, LATERAL (
        SELECT at FROM delivery_transition WHERE delivery_id = batch.id AND trigger = 'accept' ORDER BY id LIMIT 1
    ) first
    WHERE delivery.id = batch.id AND delivery.accepted_at IS NULL
)
SELECT id FROM batch ORDER BY id DESC LIMIT 1
"""
_INDEX = "delivery_ended_of_account"
_DROP = f"DROP INDEX CONCURRENTLY IF EXISTS {_INDEX}"
_CREATE = f"""
CREATE INDEX CONCURRENTLY {_INDEX} ON delivery_delivery (integrator_id, environment, closed_at, id)
INCLUDE (status, route_status, shipping_value, cancelled_at, cancel_fee, driver_id, distance_km, created_at,
         accepted_at, driver_amount)
WHERE closed_at IS NOT NULL
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
    dependencies = [("delivery", "0017_first_acceptance")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunSQL(
            [_DROP, _CREATE],
            _DROP,
            state_operations=[
                migrations.AddIndex(
                    model_name="delivery",
                    index=models.Index(
                        fields=["integrator", "environment", "closed_at", "id"],
                        include=(
                            "status",
                            "route_status",
                            "shipping_value",
                            "cancelled_at",
                            "cancel_fee",
                            "driver",
                            "distance_km",
                            "created_at",
                            "accepted_at",
                            "driver_amount",
                        ),
                        name=_INDEX,
                        condition=models.Q(closed_at__isnull=False),
                    ),
                )
            ],
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS delivery_ended",
            migrations.RunSQL.noop,
            state_operations=[migrations.RemoveIndex(model_name="delivery", name="delivery_ended")],
        ),
    ]

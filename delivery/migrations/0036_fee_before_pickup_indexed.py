"""Makes the index of reports with the column of the migration before.

Outside a transaction: the index is made while the table is in use. All of it can be repeated.
"""

from django.db import migrations, models

_INDEX, _NEW = "delivery_ended_of_account", "delivery_ended_of_account_new"
_SUMMED = (
    "status", "route_status", "shipping_value", "cancelled_at", "cancel_fee", "driver", "distance_km", "created_at",
    "accepted_at", "driver_amount", "offer_at", "scheduled_for", "pickup_deadline_at", "deadline_at", "mode", "retry_fee",
    "return_fee", "cancel_percent_accepted", "cancel_percent_collected", "retry_percent", "return_percent",
    "ready_at", "missed_deadline", "fee_before_pickup",
)  # fmt: skip  # a list of names
_CREATE = f"""
CREATE INDEX CONCURRENTLY {_NEW} ON delivery_delivery (integrator_id, environment, closed_at, id)
INCLUDE (status, route_status, shipping_value, cancelled_at, cancel_fee, driver_id, distance_km, created_at,
         accepted_at, driver_amount, offer_at, scheduled_for, pickup_deadline_at, deadline_at, mode, retry_fee,
         return_fee, cancel_percent_accepted, cancel_percent_collected, retry_percent, return_percent,
         ready_at, missed_deadline{{more}})
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


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0035_goods_in_hand")]

    operations = [
        # Without its column the way back to the migration before would drop the index.
        migrations.RunSQL(
            _replaced(", fee_before_pickup"),
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

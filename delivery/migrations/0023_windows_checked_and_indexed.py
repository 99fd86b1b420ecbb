"""Check the rows that exist by the constraints of the migration before, and make its indexes while the table is in use.

Reports read when a delivery was due from the index of ended ones, which takes the place of the one without windows.
Outside a transaction; all of it can be repeated.
"""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

_ENDED = "delivery_ended_of_account"
_NEW = f"{_ENDED}_new"
_COLUMNS = (
    "status", "route_status", "shipping_value", "cancelled_at", "cancel_fee", "driver", "distance_km", "created_at",
    "accepted_at", "driver_amount", "offer_at", "scheduled_for", "pickup_deadline_at", "deadline_at", "mode",
)  # fmt: skip  # a list of names
_INCLUDED = ", ".join("driver_id" if name == "driver" else name for name in _COLUMNS)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0022_windows_and_scheduled_deliveries")]

    operations = [
        ValidateConstraint("delivery", "delivery_driver_fits_route"),
        ValidateConstraint("delivery", "delivery_status_fits_route"),
        ValidateConstraint("delivery", "delivery_scheduled_has_its_moments"),
        migrations.RunSQL(
            [
                "DROP INDEX CONCURRENTLY IF EXISTS delivery_scheduled",
                """
                CREATE INDEX CONCURRENTLY delivery_scheduled ON delivery_delivery (scheduled_for, id)
                WHERE route_status IN ('SCHEDULED')
                """,
            ],
            "DROP INDEX CONCURRENTLY IF EXISTS delivery_scheduled",
            state_operations=[
                migrations.AddIndex(
                    model_name="delivery",
                    index=models.Index(
                        condition=models.Q(("route_status__in", ["SCHEDULED"])),
                        fields=["scheduled_for", "id"],
                        name="delivery_scheduled",
                    ),
                )
            ],
        ),
        migrations.RunSQL(
            [
                f"DROP INDEX CONCURRENTLY IF EXISTS {_NEW}",
                f"""
                CREATE INDEX CONCURRENTLY {_NEW} ON delivery_delivery (integrator_id, environment, closed_at, id)
                INCLUDE ({_INCLUDED}) WHERE closed_at IS NOT NULL
                """,
                f"DROP INDEX CONCURRENTLY IF EXISTS {_ENDED}",
                f"ALTER INDEX {_NEW} RENAME TO {_ENDED}",
            ],
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveIndex(model_name="delivery", name=_ENDED),
                migrations.AddIndex(
                    model_name="delivery",
                    index=models.Index(
                        fields=["integrator", "environment", "closed_at", "id"],
                        include=_COLUMNS,
                        name=_ENDED,
                        condition=models.Q(closed_at__isnull=False),
                    ),
                ),
            ],
        ),
    ]

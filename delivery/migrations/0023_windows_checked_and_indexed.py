"""Check the rows that exist by the constraints of the migration before, and make its index while the table is in use.

Outside a transaction; all of it can be repeated.
"""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models


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
    ]

"""Checks the rows by the constraint of the migration before, and makes each first failure of a delivery one to report.

Outside a transaction: the index is made while the table is in use. All of it can be repeated.
"""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

_ONCE = "one_report_per_trouble_and_point"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0027_alerts_of_first_failures")]

    operations = [
        ValidateConstraint("reportedtrouble", "reported_trouble"),
        migrations.RunSQL(
            [
                f"DROP INDEX CONCURRENTLY IF EXISTS {_ONCE}",
                f"CREATE UNIQUE INDEX CONCURRENTLY {_ONCE} ON delivery_reportedtrouble (delivery_id, trouble, point)",
                "ALTER TABLE delivery_reportedtrouble DROP CONSTRAINT IF EXISTS one_report_per_trouble",
            ],
            migrations.RunSQL.noop,
            state_operations=[
                migrations.AddConstraint(
                    "reportedtrouble", models.UniqueConstraint("delivery", "trouble", "point", name=_ONCE)
                ),
                migrations.RemoveConstraint("reportedtrouble", "one_report_per_trouble"),
            ],
        ),
    ]

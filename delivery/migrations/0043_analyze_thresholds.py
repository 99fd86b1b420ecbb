"""Tables that grow with every delivery are analysed after a number of changes and not after a share of their rows.

So a plan that was made for few rows is replaced within a minute of their becoming many. The queue has this already
(0002). The statement waits for no reader and no writer.
"""

from django.db import migrations

_TABLES = (
    "delivery_delivery", "delivery_stop", "delivery_transition", "delivery_webhookevent", "delivery_webhookattempt",
    "delivery_driverposition", "delivery_drivermove", "delivery_idempotencyrecord",
)  # fmt: skip  # a list of names


class Migration(migrations.Migration):
    dependencies = [("delivery", "0042_silent_push_services")]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000)",
            f"ALTER TABLE {table} RESET (autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)",
        )
        for table in _TABLES
    ]

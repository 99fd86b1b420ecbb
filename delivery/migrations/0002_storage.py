"""Storage parameters of tables that are written much.

The rows of the webhook queue are updated and deleted soon after they are written: free space in each page allows
updates in place (HOT), and autovacuum removes dead rows by number and not by share. Tables that grow with every
delivery are analysed after a number of changes, so that a plan that was made for few rows is replaced within a minute
of their becoming many.
"""

from django.db import migrations

_GROWING = (
    "delivery_delivery", "delivery_stop", "delivery_transition", "delivery_webhookevent", "delivery_webhookattempt",
    "delivery_driverposition", "delivery_drivermove", "delivery_idempotencyrecord",
)  # fmt: skip  # a list of names


class Migration(migrations.Migration):
    initial = True
    dependencies = [("delivery", "0001_initial")]
    operations = [
        migrations.RunSQL(
            """
            ALTER TABLE delivery_webhookqueueitem SET (
                fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
                autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000,
                autovacuum_vacuum_cost_delay = 0
            )
            """,
            migrations.RunSQL.noop,
        ),
        *(
            migrations.RunSQL(
                f"ALTER TABLE {table} SET (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000)",
                migrations.RunSQL.noop,
            )
            for table in _GROWING
        ),
    ]

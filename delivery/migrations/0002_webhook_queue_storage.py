"""Storage parameters of the webhook queue, whose every row is updated and deleted soon after it is written.

Free space in each page allows updates in place (HOT); autovacuum removes dead rows by number and not by share.
"""

from django.db import migrations


class Migration(migrations.Migration):
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
            """
            ALTER TABLE delivery_webhookqueueitem RESET (
                fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold,
                autovacuum_analyze_scale_factor, autovacuum_analyze_threshold, autovacuum_vacuum_cost_delay
            )
            """,
        ),
    ]

"""The index of the orders whose last entry has no event. Concurrently, because the table is in use."""

from django.db import migrations, models

_DROP = "DROP INDEX CONCURRENTLY IF EXISTS order_unrecorded"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0019_webhooks")]

    operations = [
        migrations.RunSQL(
            [
                _DROP,  # of a migration that was interrupted
                "CREATE INDEX CONCURRENTLY order_unrecorded ON integration_order (seller_id, environment, unrecorded_at)"
                " WHERE unrecorded_at IS NOT NULL",
            ],
            _DROP,
            state_operations=[
                migrations.AddIndex(
                    model_name="order",
                    index=models.Index(
                        fields=["seller", "environment", "unrecorded_at"],
                        name="order_unrecorded",
                        condition=models.Q(unrecorded_at__isnull=False),
                    ),
                )
            ],
        )
    ]

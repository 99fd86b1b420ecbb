"""The index of orders that people sort by their value, without locking the table."""

from django.db import migrations, models

_DROP = "DROP INDEX CONCURRENTLY IF EXISTS order_of_seller_cost"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0009_order_freight_checked")]

    operations = [
        migrations.RunSQL(
            [_DROP, "CREATE INDEX CONCURRENTLY order_of_seller_cost ON integration_order (seller_id, cost, id)"],
            _DROP,
            state_operations=[
                migrations.AddIndex(
                    model_name="order",
                    index=models.Index(fields=["seller", "cost", "id"], name="order_of_seller_cost"),
                )
            ],
        ),
    ]

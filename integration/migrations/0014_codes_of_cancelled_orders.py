"""Drops the unique indexes of codes that hold for cancelled orders too, whose successors have their indexes.

Outside a transaction, so that no call waits for it. Each step can be repeated. Backwards it fails as long as two orders
have one code.
"""

from django.db import migrations


def _drop(name: str, column: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
        f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON integration_order (seller_id, environment, {column})",
        state_operations=[migrations.RemoveConstraint("order", name)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0013_one_order_per_code_in_use")]

    operations = [
        _drop("one_order_of_environment_per_code", "code"),
        _drop("one_order_of_environment_per_tracking_code", "tracking_code"),
    ]

"""Makes the index of updates while the table of orders is in use.

Outside a transaction. It can be repeated: an index that an interrupted run has left is invalid, and dropped first.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

_INDEX = models.Index(
    fields=["seller", "environment", "updated_at", "id"], include=["status", "created_at"], name="order_updated"
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0016_moment_of_updates")]

    operations = [
        migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {_INDEX.name}", migrations.RunSQL.noop),
        AddIndexConcurrently("order", _INDEX),
    ]

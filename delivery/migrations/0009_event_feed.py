"""Positions of webhook events in the feed, and the indexes for assigning and reading them.

A unique constraint with a condition is a unique index; Django would make it while it locks the table.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("delivery", "0008_idempotency_records")]

    operations = [
        migrations.AddField(
            model_name="webhookevent",
            name="feed_position",
            field=models.BigIntegerField(editable=False, null=True),
        ),
        AddIndexConcurrently(
            model_name="webhookevent",
            index=models.Index(
                condition=Q(("delivery__isnull", False), ("feed_position__isnull", True)),
                fields=["endpoint", "created_at"],
                name="event_without_position",
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    """
                    CREATE UNIQUE INDEX CONCURRENTLY one_event_per_feed_position
                    ON delivery_webhookevent (endpoint_id, feed_position) WHERE feed_position IS NOT NULL
                    """,
                    "DROP INDEX CONCURRENTLY one_event_per_feed_position",
                ),
            ],
            state_operations=[
                migrations.AddConstraint(
                    model_name="webhookevent",
                    constraint=models.UniqueConstraint(
                        condition=Q(("feed_position__isnull", False)),
                        fields=("endpoint", "feed_position"),
                        name="one_event_per_feed_position",
                    ),
                ),
            ],
        ),
    ]

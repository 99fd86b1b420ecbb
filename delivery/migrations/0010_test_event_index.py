"""An index of test events, without locking the table. It can be repeated."""

from django.db import migrations, models

_DROP = "DROP INDEX CONCURRENTLY IF EXISTS event_of_test"  # also what an interrupted run has left, an invalid index
_CREATE = """
CREATE INDEX CONCURRENTLY event_of_test ON delivery_webhookevent (endpoint_id, created_at DESC)
WHERE delivery_id IS NULL
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0009_one_endpoint_no_more")]

    operations = [
        migrations.RunSQL(
            [_DROP, _CREATE],
            _DROP,
            state_operations=[
                migrations.AddIndex(
                    model_name="webhookevent",
                    index=models.Index(
                        condition=models.Q(("delivery__isnull", True)),
                        fields=["endpoint", "-created_at"],
                        name="event_of_test",
                    ),
                )
            ],
        )
    ]

"""Indexes of several endpoints in one environment, without locking tables in use.

Every statement can be repeated, because a migration that did not get a lock is repeated as a whole.
"""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

_EVENT_INDEX = "event_without_feed_position"


def _create(name: str, statement: str, state: migrations.operations.base.Operation) -> migrations.RunSQL:
    """Drops what an interrupted run has left, which is an invalid index."""
    return migrations.RunSQL(
        [f"DROP INDEX CONCURRENTLY IF EXISTS {name}", statement],
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
        state_operations=[state],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0007_webhook_endpoints")]

    operations = [
        ValidateConstraint(model_name="webhookevent", name="event_state"),
        ValidateConstraint(model_name="webhookevent", name="event_copy_of_a_change"),
        _create(
            "one_endpoint_per_number",
            "CREATE UNIQUE INDEX CONCURRENTLY one_endpoint_per_number"
            " ON delivery_webhookendpoint (integrator_id, environment, number) WHERE number IS NOT NULL",
            migrations.AddConstraint(
                model_name="webhookendpoint",
                constraint=models.UniqueConstraint(
                    fields=("integrator", "environment", "number"),
                    name="one_endpoint_per_number",
                    condition=models.Q(("number__isnull", False)),
                ),
            ),
        ),
        _create(
            "one_event_per_endpoint_and_sequence",
            "CREATE UNIQUE INDEX CONCURRENTLY one_event_per_endpoint_and_sequence"
            " ON delivery_webhookevent (delivery_id, endpoint_id, sequence) WHERE delivery_id IS NOT NULL",
            migrations.AddConstraint(
                model_name="webhookevent",
                constraint=models.UniqueConstraint(
                    fields=("delivery", "endpoint", "sequence"),
                    name="one_event_per_endpoint_and_sequence",
                    condition=models.Q(("delivery__isnull", False)),
                ),
            ),
        ),
        _create(
            "one_ordered_queue_item_per_subject",
            "CREATE UNIQUE INDEX CONCURRENTLY one_ordered_queue_item_per_subject"
            " ON delivery_webhookqueueitem (delivery_id, endpoint_id) WHERE is_ordered",
            migrations.AddConstraint(
                model_name="webhookqueueitem",
                constraint=models.UniqueConstraint(
                    fields=("delivery", "endpoint"),
                    name="one_ordered_queue_item_per_subject",
                    condition=models.Q(("is_ordered", True)),
                ),
            ),
        ),
        _create(
            _EVENT_INDEX,
            f"CREATE INDEX CONCURRENTLY {_EVENT_INDEX} ON delivery_webhookevent (endpoint_id, created_at)"
            " WHERE copy_of IS NULL AND delivery_id IS NOT NULL AND feed_position IS NULL",
            migrations.AddIndex(
                model_name="webhookevent",
                index=models.Index(
                    fields=["endpoint", "created_at"],
                    name=_EVENT_INDEX,
                    condition=models.Q(
                        ("copy_of__isnull", True), ("delivery__isnull", False), ("feed_position__isnull", True)
                    ),
                ),
            ),
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS one_ordered_queue_item_per_delivery",
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveConstraint(model_name="webhookqueueitem", name="one_ordered_queue_item_per_delivery")
            ],
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS event_without_position",
            migrations.RunSQL.noop,
            state_operations=[migrations.RemoveIndex(model_name="webhookevent", name="event_without_position")],
        ),
    ]

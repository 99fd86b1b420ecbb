"""Events that wait come into the queue: of each delivery the first."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("delivery", "0002_webhook_turns")]

    operations = [
        migrations.RunSQL(
            """
            INSERT INTO delivery_webhookturn (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
            SELECT DISTINCT ON (delivery_id)
                   id, delivery_id, endpoint_id, TRUE, next_attempt_at, attempts_made, 0
            FROM delivery_webhookevent WHERE state = 'pending'
            ORDER BY delivery_id, sequence
            """,
            "DELETE FROM delivery_webhookturn",
        ),
        migrations.RunSQL(
            "UPDATE delivery_webhookendpoint SET off_because = 'staff', off_since = now() WHERE NOT enabled",
            migrations.RunSQL.noop,
        ),
    ]

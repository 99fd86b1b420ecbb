"""An event's schedule stands in its turn."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0003_fill_turns")]

    operations = [
        migrations.RemoveConstraint(
            model_name='webhookevent',
            name='pending_event_has_its_time',
        ),
        migrations.RemoveIndex(
            model_name='webhookevent',
            name='event_due',
        ),
        migrations.RemoveIndex(
            model_name='webhookevent',
            name='event_order',
        ),
        migrations.RemoveField(
            model_name='webhookevent',
            name='lease',
        ),
        migrations.RemoveField(
            model_name='webhookevent',
            name='leased_until',
        ),
        migrations.RemoveField(
            model_name='webhookevent',
            name='next_attempt_at',
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('enabled', True), ('off_because', ''), ('off_since', None)), models.Q(('enabled', False), ('off_since__isnull', False), models.Q(('off_because', ''), _negated=True)), _connector='OR'), name='endpoint_off_has_its_reason'),
        ),
    ]

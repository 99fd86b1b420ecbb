"""The constraints that allowed one endpoint, and which signing secrets somebody has seen.

In a transaction, so that its locks are waited for a second at most.
"""

from django.db import migrations

_SEEN = """
UPDATE delivery_webhookendpoint e SET secret_shown = TRUE
WHERE EXISTS (
    SELECT FROM delivery_auditentry a
    WHERE a.integrator_id = e.integrator_id AND a.environment = e.environment
      AND a.action IN ('secret_shown', 'secret_rotated')
)
"""


class Migration(migrations.Migration):
    dependencies = [("delivery", "0007_filled_checked_and_indexed")]

    operations = [
        migrations.RemoveConstraint(model_name="webhookendpoint", name="one_endpoint_per_environment"),
        migrations.RemoveConstraint(model_name="webhookevent", name="one_event_per_sequence"),
        migrations.RunSQL(_SEEN, migrations.RunSQL.noop),
    ]

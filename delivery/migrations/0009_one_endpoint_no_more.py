"""The constraints that allowed one endpoint. In a transaction, so that its locks are waited for a second at most."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("delivery", "0008_webhook_endpoint_indexes")]

    operations = [
        migrations.RemoveConstraint(model_name="webhookendpoint", name="one_endpoint_per_environment"),
        migrations.RemoveConstraint(model_name="webhookevent", name="one_event_per_sequence"),
    ]

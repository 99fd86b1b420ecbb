"""When the route of a delivery was first accepted. The next migration fills it for the deliveries that exist.

In a transaction, so that its locks are waited for a second at most.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0016_duty_hours")]

    operations = [
        migrations.AddField(
            model_name="delivery",
            name="accepted_at",
            field=models.DateTimeField(editable=False, null=True, verbose_name="first accepted at"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="delivery",
            trigger=pgtrigger.compiler.Trigger(
                name="delivery_first_acceptance",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."accepted_at" IS NOT NULL AND OLD."accepted_at" IS DISTINCT FROM (NEW."accepted_at"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="aae2654ba991c8befcd6bcd901eb073ef47349e7",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_delivery_first_acceptance_e1bb1",
                    table="delivery_delivery",
                    when="BEFORE",
                ),
            ),
        ),
    ]

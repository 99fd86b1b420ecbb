"""Indexes of the dead events, which a trigger marks in a column of their own.

With an index on the state itself, every event that is sent would be an update of all indexes of the table.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("delivery", "0011_repeated_indexes")]

    operations = [
        migrations.AddField(
            model_name="webhookevent",
            name="dead_since",
            field=models.DateTimeField(editable=False, null=True),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='event_dead_since', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (NEW.state = 'dead' OR NEW.dead_since IS NOT NULL)", func="\n                    NEW.dead_since := CASE WHEN NEW.state = 'dead' THEN coalesce(NEW.dead_since, now()) END;\n                    RETURN NEW;\n                ", hash='9649d2233214b36c83d9e6ce123af3ea3964a895', operation='INSERT OR UPDATE', pgid='pgtrigger_event_dead_since_2a47d', table='delivery_webhookevent', when='BEFORE')),
        ),
        # When they became dead is not known.
        migrations.RunSQL(
            "UPDATE delivery_webhookevent SET dead_since = created_at WHERE state = 'dead'", migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="webhookevent",
            index=models.Index(
                condition=models.Q(("dead_since__isnull", False)),
                fields=["endpoint", "-created_at", "-id"],
                name="event_dead_log",
            ),
        ),
        AddIndexConcurrently(
            model_name="webhookevent",
            index=models.Index(
                condition=models.Q(("dead_since__isnull", False)), fields=["-id"], name="event_dead_newest"
            ),
        ),
    ]

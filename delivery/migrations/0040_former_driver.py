"""Who held a route until it was released or reassigned, so that this is found when the driver is forgotten."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0039_told_moment_of_a_position'),
    ]

    operations = [
        # Moves wait meanwhile. Behind a transaction that holds the table for long this fails, and can be repeated.
        migrations.RunSQL("SET LOCAL lock_timeout = '3s'", migrations.RunSQL.noop),
        pgtrigger.migrations.RemoveTrigger(
            model_name='transition',
            name='transition_immutable',
        ),
        migrations.AddField(
            model_name='transition',
            name='former_driver',
            field=models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='delivery.driver'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='transition',
            trigger=pgtrigger.compiler.Trigger(name='transition_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."trigger" IS DISTINCT FROM (NEW."trigger") OR OLD."point" IS DISTINCT FROM (NEW."point") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."route_status" IS DISTINCT FROM (NEW."route_status") OR OLD."at" IS DISTINCT FROM (NEW."at") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at") OR OLD."former_driver_id" IS DISTINCT FROM (NEW."former_driver_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='f91603de6fb7694d1ef166c7c3e3efe721554548', operation='UPDATE', pgid='pgtrigger_transition_immutable_adce9', table='delivery_transition', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

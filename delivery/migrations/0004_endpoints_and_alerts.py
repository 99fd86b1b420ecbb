"""Several webhook endpoints in one environment, and alerts about deliveries.

In a transaction, so that its locks are waited for a second at most. Rows that exist are checked later, and indexes made.
"""
# ruff: noqa: E501  # generated
import django.contrib.postgres.fields
import django.contrib.postgres.operations
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0003_dispatch_rules'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='webhookendpoint',
            options={'ordering': ['integrator', 'environment', 'number'], 'verbose_name': 'webhook endpoint', 'verbose_name_plural': 'webhook endpoints'},
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='number',
            field=models.PositiveSmallIntegerField(db_default=1, default=1, editable=False, null=True, verbose_name='number'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='secret_shown',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='statuses',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('PENDING', 'Waiting for a driver'), ('ACCEPT', 'Driver assigned'), ('COLLECTED', 'On the way'), ('DELIVERED', 'Delivered'), ('FAILED', 'Not delivered')], max_length=9), blank=True, db_default=[], default=list, help_text='Events with these statuses are sent. None: all events.', size=None, verbose_name='filter'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1), ('number__lte', 5)), name='endpoint_number'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('statuses__contained_by', ['PENDING', 'ACCEPT', 'COLLECTED', 'DELIVERED', 'FAILED'])), name='endpoint_statuses'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('number__isnull', False), ('url', ''), _connector='OR'), name='removed_endpoint_has_no_url'),
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='webhookevent',
            name='event_body_immutable',
        ),
        migrations.RemoveConstraint(
            model_name='webhookevent',
            name='event_state',
        ),
        migrations.AddField(
            model_name='webhookevent',
            name='copy_of',
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='webhookevent',
            name='failure',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=25),
        ),
        migrations.AlterField(
            model_name='webhookevent',
            name='state',
            field=models.CharField(choices=[('pending', 'Waiting'), ('sent', 'Received'), ('dead', 'Failed, no more retries'), ('unaddressed', 'No URL was set'), ('filtered', 'Left out by the filter')], default='pending', max_length=11, verbose_name='state'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='webhookevent',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'sent', 'dead', 'unaddressed', 'filtered'])), name='event_state'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='webhookevent',
            constraint=models.CheckConstraint(condition=models.Q(('copy_of', None), models.Q(('delivery__isnull', False), ('feed_position', None)), _connector='OR'), name='event_copy_of_a_change'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='event_body_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."endpoint_id" IS DISTINCT FROM (NEW."endpoint_id") OR OLD."sequence" IS DISTINCT FROM (NEW."sequence") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."copy_of" IS DISTINCT FROM (NEW."copy_of") OR OLD."failure" IS DISTINCT FROM (NEW."failure"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='c9cf7a1275d0937ea03743f4ebcc569f2a81f2ff', operation='UPDATE', pgid='pgtrigger_event_body_immutable_b4424', table='delivery_webhookevent', when='BEFORE')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='alertchoice',
            name='trouble',
            field=models.BooleanField(db_default=False, default=False, verbose_name='Deliveries without a driver, late or failed'),
        ),
        migrations.AlterField(
            model_name='alertpost',
            name='kind',
            field=models.CharField(choices=[('failing', 'The endpoint fails'), ('off', 'The endpoint is switched off'), ('recovered', 'The endpoint works again'), ('trouble', 'Deliveries without a driver, late or failed'), ('digest', 'Daily digest'), ('test', 'Test')], max_length=9, verbose_name='kind'),
        ),
        migrations.AddField(
            model_name='endpointalerts',
            name='late_minutes',
            field=models.PositiveSmallIntegerField(db_default=15, default=15),
        ),
        migrations.AddField(
            model_name='endpointalerts',
            name='trouble_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='endpointalerts',
            name='untaken_minutes',
            field=models.PositiveSmallIntegerField(db_default=10, default=10),
        ),
        migrations.AddConstraint(
            model_name='endpointalerts',
            constraint=models.CheckConstraint(condition=models.Q(('late_minutes__range', (1, 1440)), ('untaken_minutes__range', (1, 1440))), name='alerts_minutes'),
        ),
        migrations.RunSQL(
            sql='UPDATE delivery_alertchoice SET trouble = failing',
            reverse_sql='',
        ),
    ]

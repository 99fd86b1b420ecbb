"""Webhooks of orders: endpoints of sellers, events, the queue and attempts. The next migration indexes the orders.

The table of sellers is locked before that of orders, as by whoever creates an order.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0018_counts_of_environments'),
    ]

    operations = [
        migrations.CreateModel(
            name='WebhookEndpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], max_length=7, verbose_name='environment')),
                ('number', models.PositiveSmallIntegerField(db_default=1, default=1, editable=False, null=True, verbose_name='number')),
                ('url', models.CharField(blank=True, max_length=2000, verbose_name='URL')),
                ('enabled', models.BooleanField(default=True, help_text='While switched off, events are kept and sent later.', verbose_name='enabled')),
                ('off_because', models.CharField(blank=True, choices=[('', 'Switched on'), ('staff', 'Switched off by hand'), ('gone', 'It answered 410 Gone'), ('failing', 'Five days without a success')], default='', editable=False, max_length=7, verbose_name='why it is off')),
                ('off_since', models.DateTimeField(editable=False, null=True, verbose_name='off since')),
                ('secret_ciphertext', models.TextField(editable=False)),
                ('previous_secret_ciphertext', models.TextField(blank=True, editable=False)),
                ('previous_secret_until', models.DateTimeField(blank=True, editable=False, null=True)),
                ('secret_shown', models.BooleanField(db_default=False, default=False, editable=False)),
                ('failures', models.PositiveIntegerField(default=0, editable=False, verbose_name='failures in a row')),
                ('failing_since', models.DateTimeField(editable=False, null=True, verbose_name='failing since')),
                ('paused_until', models.DateTimeField(editable=False, null=True, verbose_name='paused until')),
                ('last_success_at', models.DateTimeField(editable=False, null=True, verbose_name='last success')),
                ('retry_after_until', models.DateTimeField(editable=False, help_text='End of the pause that the endpoint asked for with Retry-After.', null=True)),
                ('statuses', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('pending', 'Waiting for collection'), ('collected', 'Collected'), ('in_transit', 'In transit'), ('out_for_delivery', 'Out for delivery'), ('delivered', 'Delivered'), ('delivery_failed', 'Delivery failed'), ('returned', 'Returned'), ('cancelled', 'Cancelled')], max_length=16), blank=True, db_default=[], default=list, help_text='Events with these statuses are sent. None: all events.', size=None, verbose_name='filter')),
                ('authentication_kind', models.CharField(choices=[('none', 'Nothing: the signature alone'), ('basic', 'User and password (Basic)'), ('bearer', 'Token (Bearer)'), ('header', 'A header of your own')], db_default='none', default='none', editable=False, max_length=6, verbose_name='authentication')),
                ('header_name', models.CharField(blank=True, db_default='', default='', editable=False, max_length=64, verbose_name='header')),
                ('authentication_ciphertext', models.TextField(blank=True, db_default='', editable=False)),
            ],
            options={
                'verbose_name': 'webhook endpoint',
                'verbose_name_plural': 'webhook endpoints',
                'ordering': ['seller', 'environment', 'number'],
            },
        ),
        migrations.CreateModel(
            name='EndpointChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment')),
                ('action', models.CharField(choices=[('url_set', 'Webhook URL set'), ('filter_set', 'Filter of webhooks set'), ('endpoint_added', 'Webhook endpoint added'), ('endpoint_removed', 'Webhook endpoint removed'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('authentication_set', 'Authentication set')], max_length=20)),
                ('subject', models.CharField(blank=True, max_length=2000)),
                ('by', models.CharField(max_length=200)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-id'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='WebhookAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(verbose_name='number')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('milliseconds', models.PositiveIntegerField(verbose_name='milliseconds')),
                ('status_code', models.PositiveSmallIntegerField(null=True, verbose_name='answer')),
                ('error', models.CharField(blank=True, max_length=200, verbose_name='error')),
                ('response_start', models.TextField(blank=True, verbose_name='response body')),
                ('url', models.TextField(blank=True, db_default='', verbose_name='URL')),
                ('webhook_timestamp', models.BigIntegerField(null=True)),
                ('signature', models.TextField(blank=True, db_default='', verbose_name='signature')),
                ('token_hint', models.CharField(blank=True, db_default='', max_length=80, verbose_name='authentication')),
            ],
            options={
                'verbose_name': 'attempt',
                'verbose_name_plural': 'attempts',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='WebhookEvent',
            fields=[
                ('feed_position', models.BigIntegerField(editable=False, null=True)),
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('body', models.TextField(verbose_name='body')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('state', models.CharField(choices=[('pending', 'Waiting'), ('sent', 'Received'), ('dead', 'Failed, no more retries'), ('unaddressed', 'No URL was set'), ('filtered', 'Left out by the filter')], default='pending', max_length=11, verbose_name='state')),
                ('attempts_made', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('sent_at', models.DateTimeField(null=True, verbose_name='received at')),
                ('trace_context', models.CharField(blank=True, db_default='', default='', editable=False, max_length=55)),
                ('dead_since', models.DateTimeField(editable=False, null=True)),
                ('copy_of', models.UUIDField(editable=False, null=True)),
                ('sequence', models.PositiveIntegerField(help_text='1, 2, 3 … within the order.', verbose_name='sequence')),
                ('name', models.CharField(choices=[('pending', 'Waiting for collection'), ('collected', 'Collected'), ('in_transit', 'In transit'), ('out_for_delivery', 'Out for delivery'), ('delivered', 'Delivered'), ('delivery_failed', 'Delivery failed'), ('returned', 'Returned'), ('cancelled', 'Cancelled')], max_length=16, verbose_name='event')),
            ],
            options={
                'verbose_name': 'webhook event',
                'verbose_name_plural': 'webhook events',
                'ordering': ['-created_at', '-sequence'],
            },
        ),
        migrations.CreateModel(
            name='WebhookQueueItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_ordered', models.BooleanField(default=True)),
                ('due_at', models.DateTimeField(help_text='While the item is claimed, the end of its lease.', verbose_name='next attempt at')),
                ('tries', models.PositiveSmallIntegerField(default=0, help_text='Attempts that count towards the schedule of retries. A replay of an ended event resets them.')),
                ('refusals', models.PositiveSmallIntegerField(default=0, help_text='Attempts with an answer other than 2xx.')),
                ('first_refused_at', models.DateTimeField(null=True)),
                ('lease', models.UUIDField(help_text='Fencing token: only the worker that claimed the item under it may settle the item.', null=True)),
            ],
            options={
                'verbose_name': 'webhook queue item',
                'verbose_name_plural': 'webhook queue items',
            },
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='seller',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='endpoints', to='integration.seller', verbose_name='seller'),
        ),
        migrations.AddField(
            model_name='endpointchange',
            name='seller',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.seller'),
        ),
        migrations.AddField(
            model_name='order',
            name='unrecorded_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='webhookevent',
            name='endpoint',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='integration.webhookendpoint', verbose_name='endpoint'),
        ),
        migrations.AddField(
            model_name='webhookevent',
            name='order',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='integration.order', verbose_name='order'),
        ),
        migrations.AddField(
            model_name='webhookattempt',
            name='event',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='integration.webhookevent', verbose_name='event'),
        ),
        migrations.AddField(
            model_name='webhookqueueitem',
            name='endpoint',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queue_items', to='integration.webhookendpoint', verbose_name='endpoint'),
        ),
        migrations.AddField(
            model_name='webhookqueueitem',
            name='event',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='queue_item', to='integration.webhookevent', verbose_name='event'),
        ),
        migrations.AddField(
            model_name='webhookqueueitem',
            name='order',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='queue_items', to='integration.order', verbose_name='order'),
        ),
        migrations.CreateModel(
            name='EndpointAlerts',
            fields=[
                ('reported', models.CharField(default='recovered', max_length=9)),
                ('reported_at', models.DateTimeField(null=True)),
                ('endpoint', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='alerts', serialize=False, to='integration.webhookendpoint')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('reported__in', ['failing', 'off', 'recovered'])), name='seller_alerts_reported')],
            },
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.UniqueConstraint(condition=models.Q(('number__isnull', False)), fields=('seller', 'environment', 'number'), name='b_one_endpoint_per_number'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1), ('number__lte', 5)), name='b_endpoint_number'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('statuses__contained_by', ['pending', 'collected', 'in_transit', 'out_for_delivery', 'delivered', 'delivery_failed', 'returned', 'cancelled'])), name='b_endpoint_statuses'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('number__isnull', False), ('url', ''), _connector='OR'), name='b_removed_endpoint_has_no_url'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='b_endpoint_environment'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('enabled', True), ('off_because', ''), ('off_since', None)), models.Q(('enabled', False), ('off_since__isnull', False), models.Q(('off_because', ''), _negated=True)), _connector='OR'), name='b_endpoint_off_has_its_reason'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(('authentication_kind__in', ['none', 'basic', 'bearer', 'header'])), name='endpoint_authentication_kind'),
        ),
        migrations.AddConstraint(
            model_name='webhookendpoint',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('authentication_ciphertext', ''), ('authentication_kind', 'none'), ('header_name', '')), models.Q(('authentication_kind__in', ['basic', 'bearer']), ('header_name', ''), models.Q(('authentication_ciphertext', ''), _negated=True)), models.Q(('authentication_kind', 'header'), models.Q(('authentication_ciphertext', ''), _negated=True), models.Q(('header_name', ''), _negated=True)), _connector='OR'), name='endpoint_authentication_is_whole'),
        ),
        migrations.AddIndex(
            model_name='endpointchange',
            index=models.Index(fields=['seller', 'environment', 'action', '-at', '-id'], name='endpoint_change_by_action'),
        ),
        migrations.AddConstraint(
            model_name='endpointchange',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='endpoint_change_environment'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='endpointchange',
            trigger=pgtrigger.compiler.Trigger(name='endpoint_change_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='7dd435adc0dfd1fba0571268f1d06c99c5e1af1a', operation='UPDATE OR DELETE', pgid='pgtrigger_endpoint_change_append_only_633a9', table='integration_endpointchange', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=models.Index(fields=['endpoint', '-created_at'], name='b_event_log'),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=models.Index(condition=models.Q(('order__isnull', True)), fields=['endpoint', '-created_at'], name='b_event_of_test'),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=models.Index(condition=models.Q(('copy_of__isnull', True), ('feed_position__isnull', True), ('order__isnull', False)), fields=['endpoint', 'created_at'], name='b_event_without_feed_position'),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=models.Index(condition=models.Q(('dead_since__isnull', False)), fields=['endpoint', '-created_at', '-id'], name='b_event_dead_log'),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=models.Index(condition=models.Q(('dead_since__isnull', False)), fields=['-id'], name='b_event_dead_newest'),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['created_at', 'state'], name='b_event_age_and_state', pages_per_range=32),
        ),
        migrations.AddConstraint(
            model_name='webhookevent',
            constraint=models.UniqueConstraint(condition=models.Q(('order__isnull', False)), fields=('order', 'endpoint', 'sequence'), name='b_one_event_per_endpoint_and_sequence'),
        ),
        migrations.AddConstraint(
            model_name='webhookevent',
            constraint=models.CheckConstraint(condition=models.Q(('copy_of', None), models.Q(('feed_position', None), ('order__isnull', False)), _connector='OR'), name='b_event_copy_of_a_change'),
        ),
        migrations.AddConstraint(
            model_name='webhookevent',
            constraint=models.UniqueConstraint(condition=models.Q(('feed_position__isnull', False)), fields=('endpoint', 'feed_position'), name='b_one_event_per_feed_position'),
        ),
        migrations.AddConstraint(
            model_name='webhookevent',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'sent', 'dead', 'unaddressed', 'filtered'])), name='b_event_state'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='b_event_body_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."endpoint_id" IS DISTINCT FROM (NEW."endpoint_id") OR OLD."sequence" IS DISTINCT FROM (NEW."sequence") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."copy_of" IS DISTINCT FROM (NEW."copy_of"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7d9071b737bcfd1266f0a383d14201ddba945918', operation='UPDATE', pgid='pgtrigger_b_event_body_immutable_87ed9', table='integration_webhookevent', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='b_event_body_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.body IS DISTINCT FROM NEW.body AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND TRUE)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='6545b37de61b74970e9508ca1b7cc6b7575e191f', operation='UPDATE', pgid='pgtrigger_b_event_body_forgotten_dbe26', table='integration_webhookevent', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='b_event_dead_since', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (NEW.state = 'dead' OR NEW.dead_since IS NOT NULL)", func="\n                    NEW.dead_since := CASE WHEN NEW.state = 'dead' THEN coalesce(NEW.dead_since, now()) END;\n                    RETURN NEW;\n                ", hash='9c991177d20d7d7ed04a9e489be6a0065824f024', operation='INSERT OR UPDATE', pgid='pgtrigger_b_event_dead_since_d4b3f', table='integration_webhookevent', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='webhookattempt',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['at'], name='b_attempt_age', pages_per_range=32),
        ),
        migrations.AddConstraint(
            model_name='webhookattempt',
            constraint=models.UniqueConstraint(fields=('event', 'number'), name='b_one_attempt_per_number'),
        ),
        migrations.AddIndex(
            model_name='webhookqueueitem',
            index=models.Index(fields=['endpoint', 'due_at'], name='b_queue_item_due'),
        ),
        migrations.AddIndex(
            model_name='webhookqueueitem',
            index=models.Index(condition=models.Q(('lease__isnull', False)), fields=['endpoint'], name='b_queue_item_leased'),
        ),
        migrations.AddConstraint(
            model_name='webhookqueueitem',
            constraint=models.UniqueConstraint(condition=models.Q(('is_ordered', True)), fields=('order', 'endpoint'), name='b_one_ordered_queue_item_per_subject'),
        ),
    ]

"""Carriers, manifests, webhooks of orders, simulations, and e-mails to receivers.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. The table of sellers comes
first, because whoever creates an order locks its seller before it uses the other tables: neither waits for the other.
"""
# ruff: noqa: E501  # generated
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0005_environments_freight_and_invoices'),
    ]

    operations = [
        migrations.RunSQL(
            sql='LOCK TABLE integration_seller IN EXCLUSIVE MODE',
            reverse_sql='',
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assigned_at', models.DateTimeField(verbose_name='assigned at')),
                ('assigned_by', models.CharField(max_length=200, verbose_name='assigned by')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='integration.order', verbose_name='order')),
                ('carrier', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='integration.carrier', verbose_name='carrier')),
            ],
            options={
                'verbose_name': 'assignment',
                'verbose_name_plural': 'assignments',
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='CarrierKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('created_at', models.DateTimeField(editable=False, verbose_name='created at')),
                ('created_by', models.CharField(editable=False, max_length=200, verbose_name='created by')),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='revoked at')),
                ('revoked_by', models.CharField(blank=True, editable=False, max_length=200, verbose_name='revoked by')),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='last used at')),
                ('hint', models.CharField(editable=False, help_text='Its beginning and end.', max_length=24, verbose_name='key')),
                ('carrier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='integration.carrier', verbose_name='carrier')),
            ],
            options={
                'verbose_name': 'carrier key',
                'verbose_name_plural': 'carrier keys',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='CarrierRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(blank=True, choices=[('', 'any'), ('AC', 'AC'), ('AL', 'AL'), ('AM', 'AM'), ('AP', 'AP'), ('BA', 'BA'), ('CE', 'CE'), ('DF', 'DF'), ('ES', 'ES'), ('GO', 'GO'), ('MA', 'MA'), ('MG', 'MG'), ('MS', 'MS'), ('MT', 'MT'), ('PA', 'PA'), ('PB', 'PB'), ('PE', 'PE'), ('PI', 'PI'), ('PR', 'PR'), ('RJ', 'RJ'), ('RN', 'RN'), ('RO', 'RO'), ('RR', 'RR'), ('RS', 'RS'), ('SC', 'SC'), ('SE', 'SE'), ('SP', 'SP'), ('TO', 'TO')], max_length=2, verbose_name='destination state')),
                ('region', models.CharField(blank=True, choices=[('', 'any'), ('capital', 'Capital'), ('interior', 'Interior')], max_length=8, verbose_name='capital or interior')),
                ('service', models.CharField(blank=True, choices=[('', 'any'), ('base', 'Base (economy)'), ('next', 'Next (express)'), ('turbo', 'Turbo')], max_length=5, verbose_name='service')),
                ('carrier', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rules', to='integration.carrier', verbose_name='carrier')),
            ],
            options={
                'verbose_name': 'rule of assignment',
                'verbose_name_plural': 'rules of assignment',
                'ordering': ['-state', '-region', '-service'],
                'constraints': [models.UniqueConstraint(fields=('state', 'region', 'service'), name='one_carrier_per_rule', violation_error_message='Another rule has the same conditions.'), models.CheckConstraint(condition=models.Q(('state__in', ['', 'AC', 'AL', 'AM', 'AP', 'BA', 'CE', 'DF', 'ES', 'GO', 'MA', 'MG', 'MS', 'MT', 'PA', 'PB', 'PE', 'PI', 'PR', 'RJ', 'RN', 'RO', 'RR', 'RS', 'SC', 'SE', 'SP', 'TO'])), name='carrier_rule_state'), models.CheckConstraint(condition=models.Q(('region__in', ['', 'capital', 'interior'])), name='carrier_rule_region'), models.CheckConstraint(condition=models.Q(('service__in', ['', 'base', 'next', 'turbo'])), name='carrier_rule_service')],
            },
        ),
        migrations.CreateModel(
            name='MovementRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=40)),
                ('event_id', models.CharField(max_length=100)),
                ('status', models.CharField(max_length=16)),
                ('was_already', models.BooleanField()),
                ('recorded_at', models.DateTimeField()),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.order')),
                ('content', models.BinaryField(db_default=b'', default=b'', max_length=32)),
            ],
            options={
                'indexes': [models.Index(fields=['recorded_at'], name='movement_record_oldest')],
                'constraints': [models.UniqueConstraint(fields=('source', 'event_id'), name='one_movement_per_event'), models.CheckConstraint(condition=models.Q(('status__in', ['collected', 'in_transit', 'out_for_delivery', 'delivered', 'delivery_failed', 'returned'])), name='movement_record_status')],
            },
        ),
        migrations.CreateModel(
            name='RefusedCarrierCall',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(verbose_name='when')),
                ('method', models.CharField(max_length=10)),
                ('path', models.CharField(max_length=255)),
                ('status', models.PositiveSmallIntegerField()),
                ('code', models.CharField(blank=True, max_length=60)),
                ('request_id', models.CharField(max_length=128)),
                ('credential', models.CharField(max_length=24)),
                ('query', models.TextField(blank=True)),
                ('content_type', models.CharField(blank=True, max_length=101)),
                ('size', models.PositiveIntegerField()),
                ('body', models.TextField(blank=True)),
                ('answer', models.TextField(blank=True)),
                ('carrier', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.carrier')),
                ('reasons', models.JSONField(null=True)),
            ],
            options={
                'verbose_name': 'refused call of a carrier',
                'verbose_name_plural': 'refused calls of carriers',
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['carrier', '-created_at', '-id'], name='refused_carrier_call_newest'), models.Index(fields=['created_at'], name='refused_carrier_call_oldest')],
            },
        ),
        migrations.CreateModel(
            name='RefusedCarrierCallCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hour', models.DateTimeField()),
                ('refused', models.PositiveIntegerField()),
                ('over_limit', models.PositiveIntegerField()),
                ('carrier', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.carrier')),
            ],
            options={
                'indexes': [models.Index(fields=['hour'], name='refused_carrier_count_oldest')],
                'constraints': [models.UniqueConstraint(fields=('carrier', 'hour'), name='refused_carrier_count_of_hour')],
            },
        ),
        migrations.CreateModel(
            name='Manifest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('created_by', models.CharField(max_length=200, verbose_name='created by')),
                ('closed_at', models.DateTimeField(editable=False, null=True, verbose_name='closed at')),
                ('closed_by', models.CharField(blank=True, editable=False, max_length=200, verbose_name='closed by')),
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='manifests', to='integration.seller', verbose_name='seller')),
            ],
            options={
                'verbose_name': 'manifest',
                'verbose_name_plural': 'manifests',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['seller', 'environment', '-created_at', '-id'], name='manifest_of_seller'), models.Index(condition=models.Q(('environment', 'sandbox')), fields=['-id'], name='manifest_of_sandbox')],
                'constraints': [models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='manifest_environment'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at', None), ('closed_by', '')), models.Q(models.Q(('closed_at__isnull', False)), models.Q(('closed_by', ''), _negated=True)), _connector='OR'), name='manifest_closing_has_who')],
            },
        ),
        migrations.CreateModel(
            name='ManifestEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('manifest', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='integration.manifest', verbose_name='manifest')),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='manifest_entries', to='integration.order', verbose_name='order')),
            ],
            options={
                'verbose_name': 'order of a manifest',
                'verbose_name_plural': 'orders of a manifest',
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('order',), name='one_manifest_per_order')],
            },
        ),
        migrations.CreateModel(
            name='Simulation',
            fields=[
                ('speed', models.FloatField()),
                ('due_at', models.DateTimeField(null=True)),
                ('failures', models.PositiveSmallIntegerField(default=0)),
                ('order', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='simulation', serialize=False, to='integration.order')),
                ('outcome', models.CharField(choices=[('delivered', 'delivered'), ('fail', 'fail'), ('return', 'return'), ('lost', 'lost')], max_length=9)),
            ],
            options={
                'indexes': [models.Index(fields=['due_at'], name='order_simulation_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('outcome__in', ['delivered', 'fail', 'return', 'lost'])), name='order_simulation_outcome'), models.CheckConstraint(condition=models.Q(('speed__gte', 1), ('speed__lte', 120)), name='order_simulation_speed')],
            },
        ),
        migrations.CreateModel(
            name='ReceiverMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(max_length=16)),
                ('message', models.BigIntegerField()),
                ('created_at', models.DateTimeField()),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='receiver_mails', to='integration.order')),
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='integration.seller')),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['seller', '-created_at'], name='receiver_mail_newest')],
                'constraints': [models.UniqueConstraint(fields=('order', 'status'), name='one_receiver_mail_of_each_status'), models.CheckConstraint(condition=models.Q(('status__in', ['collected', 'out_for_delivery', 'delivered', 'delivery_failed', 'returned'])), name='receiver_mail_status')],
            },
        ),
        migrations.CreateModel(
            name='ReceiverMailStop',
            fields=[
                ('order', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='receiver_mail_stop', serialize=False, to='integration.order')),
                ('stopped_at', models.DateTimeField(verbose_name='stopped at')),
            ],
            options={
                'default_permissions': (),
            },
        ),
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
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='endpoints', to='integration.seller', verbose_name='seller')),
            ],
            options={
                'verbose_name': 'webhook endpoint',
                'verbose_name_plural': 'webhook endpoints',
                'ordering': ['seller', 'environment', 'number'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('number__isnull', False)), fields=('seller', 'environment', 'number'), name='b_one_endpoint_per_number'), models.CheckConstraint(condition=models.Q(('number__gte', 1), ('number__lte', 5)), name='b_endpoint_number'), models.CheckConstraint(condition=models.Q(('statuses__contained_by', ['pending', 'collected', 'in_transit', 'out_for_delivery', 'delivered', 'delivery_failed', 'returned', 'cancelled'])), name='b_endpoint_statuses'), models.CheckConstraint(condition=models.Q(('number__isnull', False), ('url', ''), _connector='OR'), name='b_removed_endpoint_has_no_url'), models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='b_endpoint_environment'), models.CheckConstraint(condition=models.Q(models.Q(('enabled', True), ('off_because', ''), ('off_since', None)), models.Q(('enabled', False), ('off_since__isnull', False), models.Q(('off_because', ''), _negated=True)), _connector='OR'), name='b_endpoint_off_has_its_reason'), models.CheckConstraint(condition=models.Q(('authentication_kind__in', ['none', 'basic', 'bearer', 'header'])), name='endpoint_authentication_kind'), models.CheckConstraint(condition=models.Q(models.Q(('authentication_ciphertext', ''), ('authentication_kind', 'none'), ('header_name', '')), models.Q(('authentication_kind__in', ['basic', 'bearer']), ('header_name', ''), models.Q(('authentication_ciphertext', ''), _negated=True)), models.Q(('authentication_kind', 'header'), models.Q(('authentication_ciphertext', ''), _negated=True), models.Q(('header_name', ''), _negated=True)), _connector='OR'), name='endpoint_authentication_is_whole')],
            },
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
        migrations.CreateModel(
            name='EndpointChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment')),
                ('action', models.CharField(choices=[('url_set', 'Webhook URL set'), ('filter_set', 'Filter of webhooks set'), ('endpoint_added', 'Webhook endpoint added'), ('endpoint_removed', 'Webhook endpoint removed'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('authentication_set', 'Authentication set')], max_length=20)),
                ('subject', models.CharField(blank=True, max_length=2000)),
                ('by', models.CharField(max_length=200)),
                ('at', models.DateTimeField()),
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.seller')),
            ],
            options={
                'ordering': ['-id'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['seller', 'environment', 'action', '-at', '-id'], name='endpoint_change_by_action')],
                'constraints': [models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='endpoint_change_environment')],
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
                ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='integration.webhookendpoint', verbose_name='endpoint')),
                ('order', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='integration.order', verbose_name='order')),
            ],
            options={
                'verbose_name': 'webhook event',
                'verbose_name_plural': 'webhook events',
                'ordering': ['-created_at', '-sequence'],
                'indexes': [models.Index(fields=['endpoint', '-created_at'], name='b_event_log'), models.Index(condition=models.Q(('order__isnull', True)), fields=['endpoint', '-created_at'], name='b_event_of_test'), models.Index(condition=models.Q(('copy_of__isnull', True), ('feed_position__isnull', True), ('order__isnull', False)), fields=['endpoint', 'created_at'], name='b_event_without_feed_position'), models.Index(condition=models.Q(('dead_since__isnull', False)), fields=['endpoint', '-created_at', '-id'], name='b_event_dead_log'), models.Index(condition=models.Q(('dead_since__isnull', False)), fields=['-id'], name='b_event_dead_newest'), django.contrib.postgres.indexes.BrinIndex(fields=['created_at', 'state'], name='b_event_age_and_state', pages_per_range=32)],
                'constraints': [models.UniqueConstraint(condition=models.Q(('order__isnull', False)), fields=('order', 'endpoint', 'sequence'), name='b_one_event_per_endpoint_and_sequence'), models.CheckConstraint(condition=models.Q(('copy_of', None), models.Q(('feed_position', None), ('order__isnull', False)), _connector='OR'), name='b_event_copy_of_a_change'), models.UniqueConstraint(condition=models.Q(('feed_position__isnull', False)), fields=('endpoint', 'feed_position'), name='b_one_event_per_feed_position'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'sent', 'dead', 'unaddressed', 'filtered'])), name='b_event_state')],
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
                ('event', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='integration.webhookevent', verbose_name='event')),
            ],
            options={
                'verbose_name': 'attempt',
                'verbose_name_plural': 'attempts',
                'ordering': ['id'],
                'indexes': [django.contrib.postgres.indexes.BrinIndex(fields=['at'], name='b_attempt_age', pages_per_range=32)],
                'constraints': [models.UniqueConstraint(fields=('event', 'number'), name='b_one_attempt_per_number')],
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
                ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queue_items', to='integration.webhookendpoint', verbose_name='endpoint')),
                ('event', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='queue_item', to='integration.webhookevent', verbose_name='event')),
                ('order', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='queue_items', to='integration.order', verbose_name='order')),
            ],
            options={
                'verbose_name': 'webhook queue item',
                'verbose_name_plural': 'webhook queue items',
                'indexes': [models.Index(fields=['endpoint', 'due_at'], name='b_queue_item_due'), models.Index(condition=models.Q(('lease__isnull', False)), fields=['endpoint'], name='b_queue_item_leased')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_ordered', True)), fields=('order', 'endpoint'), name='b_one_ordered_queue_item_per_subject')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignment',
            trigger=pgtrigger.compiler.Trigger(name='assignment_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='cdef332562cbccb5b7d590be1b5cd47d81907fc8', operation='UPDATE OR DELETE', pgid='pgtrigger_assignment_append_only_737b7', table='integration_assignment', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifest',
            trigger=pgtrigger.compiler.Trigger(name='manifest_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='f2fab4688ceb83b299dc4326b6836fdacef8a5d7', operation='UPDATE', pgid='pgtrigger_manifest_immutable_d44df', table='integration_manifest', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifest',
            trigger=pgtrigger.compiler.Trigger(name='manifest_closed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."closed_at" IS NOT NULL)', func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='e0206747a16a57c25830922cb8a521bad47cef68', operation='UPDATE OR DELETE', pgid='pgtrigger_manifest_closed_0e216', table='integration_manifest', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifestentry',
            trigger=pgtrigger.compiler.Trigger(name='manifest_entry_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b4fbcd29e069c1f65884923b89dee3e114e86394', operation='UPDATE', pgid='pgtrigger_manifest_entry_immutable_afa11', table='integration_manifestentry', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifestentry',
            trigger=pgtrigger.compiler.Trigger(name='manifest_set_is_open', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE closed timestamptz;', func="\n    SELECT closed_at INTO closed FROM integration_manifest\n        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.manifest_id ELSE OLD.manifest_id END;\n    IF closed IS NOT NULL THEN\n        RAISE EXCEPTION 'rota: the orders of a closed manifest cannot change';\n    END IF;\n    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;\n    RETURN OLD;\n", hash='26391ad4eab804f06e1c563d137193a81c4048ed', operation='INSERT OR DELETE', pgid='pgtrigger_manifest_set_is_open_7e678', table='integration_manifestentry', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='endpointchange',
            trigger=pgtrigger.compiler.Trigger(name='endpoint_change_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='7dd435adc0dfd1fba0571268f1d06c99c5e1af1a', operation='UPDATE OR DELETE', pgid='pgtrigger_endpoint_change_append_only_633a9', table='integration_endpointchange', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='b_event_body_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."endpoint_id" IS DISTINCT FROM (NEW."endpoint_id") OR OLD."sequence" IS DISTINCT FROM (NEW."sequence") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."copy_of" IS DISTINCT FROM (NEW."copy_of"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7d9071b737bcfd1266f0a383d14201ddba945918', operation='UPDATE', pgid='pgtrigger_b_event_body_immutable_87ed9', table='integration_webhookevent', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='b_event_body_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.body IS DISTINCT FROM NEW.body AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND TRUE)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='6545b37de61b74970e9508ca1b7cc6b7575e191f', operation='UPDATE', pgid='pgtrigger_b_event_body_forgotten_dbe26', table='integration_webhookevent', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='b_event_dead_since', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (NEW.state = 'dead' OR NEW.dead_since IS NOT NULL)", func="\n                    NEW.dead_since := CASE WHEN NEW.state = 'dead' THEN coalesce(NEW.dead_since, now()) END;\n                    RETURN NEW;\n                ", hash='9c991177d20d7d7ed04a9e489be6a0065824f024', operation='INSERT OR UPDATE', pgid='pgtrigger_b_event_dead_since_d4b3f', table='integration_webhookevent', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

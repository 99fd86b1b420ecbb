"""Environments, the freight and the volumes of orders, reasons of changes of status, and what the tax office says of invoices.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. The table of sellers comes
first, because whoever creates an order locks its seller before it uses the other tables: neither waits for the other.
Rows that exist are checked and filled later, and indexes made.
"""
# ruff: noqa: E501  # generated
import django.contrib.postgres.operations
import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0004_storage'),
    ]

    operations = [
        migrations.RunSQL(
            sql='LOCK TABLE integration_seller IN EXCLUSIVE MODE',
            reverse_sql='',
        ),
        migrations.CreateModel(
            name='Carrier',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rate_limit_per_second', models.PositiveIntegerField(blank=True, help_text="Of each token or key. Empty: this installation's RATE_LIMIT_PER_SECOND. 0: no limit.", null=True, validators=[django.core.validators.MaxValueValidator(1000000000)], verbose_name='calls per second')),
                ('rate_limit_per_hour', models.PositiveIntegerField(blank=True, help_text="Of each token or key. Empty: this installation's RATE_LIMIT_PER_HOUR. 0: no limit.", null=True, validators=[django.core.validators.MaxValueValidator(1000000000)], verbose_name='calls per hour')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('active', models.BooleanField(default=True, help_text='If not, its keys are refused and no order is assigned to it. It keeps the orders that it has.', verbose_name='active')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
            ],
            options={
                'verbose_name': 'carrier',
                'verbose_name_plural': 'carriers',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('name',), name='carrier_has_a_name_of_its_own', violation_error_message='Another carrier has this name.')],
            },
        ),
        migrations.CreateModel(
            name='InvoiceChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('linked', 'Linked'), ('unlinked', 'Link removed'), ('marked_void', 'Marked as void')], max_length=11, verbose_name='kind')),
                ('reason', models.CharField(choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('void', 'The tax office has denied or cancelled the invoice.')], max_length=13, verbose_name='reason')),
                ('text', models.CharField(blank=True, max_length=255, verbose_name='reason in words')),
                ('by', models.CharField(max_length=200, verbose_name='by')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='integration.invoice', verbose_name='invoice')),
                ('order', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='integration.order', verbose_name='order')),
            ],
            options={
                'verbose_name': 'change of an invoice',
                'verbose_name_plural': 'changes of invoices',
                'ordering': ['id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['linked', 'unlinked', 'marked_void'])), name='invoice_change_kind'), models.CheckConstraint(condition=models.Q(('reason__in', ['reference', 'cut_reference', 'access_key', 'by_hand', 'other_order', 'void'])), name='invoice_change_reason'), models.CheckConstraint(condition=models.Q(('kind', 'marked_void'), ('order__isnull', False), _connector='OR'), name='invoice_change_names_its_order')],
            },
        ),
        migrations.AddField(
            model_name='seller',
            name='sandbox_invoice_bytes',
            field=models.BigIntegerField(db_default=0, default=0, editable=False, verbose_name='bytes of test invoices'),
        ),
        migrations.AddField(
            model_name='seller',
            name='mails_receivers',
            field=models.BooleanField(db_default=False, default=False, help_text='Receivers are told by e-mail how their live orders stand.', verbose_name='e-mails to receivers'),
        ),
        migrations.AlterField(
            model_name='seller',
            name='invoice_quota_mb',
            field=models.PositiveIntegerField(blank=True, help_text='In each environment. Empty: 2048. 0: no limit.', null=True, verbose_name='space for invoices (MB)'),
        ),
        migrations.AlterField(
            model_name='seller',
            name='invoices_per_day',
            field=models.PositiveIntegerField(blank=True, help_text='In each environment. Empty: 5000. 0: no limit.', null=True, verbose_name='invoices in 24 hours'),
        ),
        migrations.AddField(
            model_name='company',
            name='postcode',
            field=models.CharField(blank=True, db_default='', help_text='Where its parcels leave from. Orders get a freight from here; without it they get none.', max_length=8, verbose_name='origin CEP'),
        ),
        migrations.AddField(
            model_name='apikey',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', help_text='A test key sees, and makes, orders of the sandbox only, which a simulated carrier moves.', max_length=7, verbose_name='environment'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='api_key_environment'),
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_immutable',
        ),
        migrations.AlterModelOptions(
            name='order',
            options={'ordering': ['-id'], 'permissions': [('assign_order', 'Can assign orders to carriers'), ('scan_order', 'Can scan the parcels of orders')], 'verbose_name': 'order', 'verbose_name_plural': 'orders'},
        ),
        migrations.AddField(
            model_name='order',
            name='delivered_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='delivered at'),
        ),
        migrations.AddField(
            model_name='order',
            name='freight_centavos',
            field=models.BigIntegerField(editable=False, null=True, verbose_name='freight'),
        ),
        migrations.AddField(
            model_name='order',
            name='freight_days',
            field=models.SmallIntegerField(editable=False, null=True, verbose_name='deadline (business days)'),
        ),
        migrations.AddField(
            model_name='order',
            name='promised_on',
            field=models.DateField(editable=False, null=True, verbose_name='promised for'),
        ),
        migrations.AddField(
            model_name='order',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        migrations.AddField(
            model_name='order',
            name='unrecorded_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='order',
            name='carrier',
            field=models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='integration.carrier', verbose_name='carrier'),
        ),
        migrations.AddField(
            model_name='order',
            name='stated_volumes',
            field=models.SmallIntegerField(editable=False, null=True, verbose_name='volumes'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('freight_centavos', None), ('freight_days', None), ('promised_on', None)), models.Q(('freight_centavos__isnull', False), ('freight_days__isnull', False)), _connector='OR'), name='order_freight_is_whole'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='order_environment'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(('stated_volumes', None), ('stated_volumes__range', (1, 99)), _connector='OR'), name='order_volumes_in_range'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."tracking_code" IS DISTINCT FROM (NEW."tracking_code") OR OLD."service" IS DISTINCT FROM (NEW."service") OR OLD."cost" IS DISTINCT FROM (NEW."cost") OR OLD."items" IS DISTINCT FROM (NEW."items") OR OLD."stated_volumes" IS DISTINCT FROM (NEW."stated_volumes") OR OLD."invoice_data" IS DISTINCT FROM (NEW."invoice_data") OR OLD."invoice_key" IS DISTINCT FROM (NEW."invoice_key") OR OLD."freight_centavos" IS DISTINCT FROM (NEW."freight_centavos") OR OLD."freight_days" IS DISTINCT FROM (NEW."freight_days") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='ae016b723df17b09616aba365a9b9a4bdf756345', operation='UPDATE', pgid='pgtrigger_order_immutable_c6338', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='statuslog',
            name='status_log_append_only',
        ),
        migrations.AddField(
            model_name='statuslog',
            name='happened_at',
            field=models.DateTimeField(null=True, verbose_name='happened at'),
        ),
        migrations.AddField(
            model_name='statuslog',
            name='place',
            field=models.CharField(blank=True, db_default='', max_length=120, verbose_name='place'),
        ),
        migrations.AddField(
            model_name='statuslog',
            name='reason',
            field=models.CharField(blank=True, db_default='', max_length=255, verbose_name='reason in words'),
        ),
        migrations.AddField(
            model_name='statuslog',
            name='reason_code',
            field=models.CharField(blank=True, choices=[('ABSENT', 'Nobody there'), ('REFUSED', 'Refused by the receiver'), ('ADDRESS_NOT_FOUND', 'Address not found'), ('ADDRESS_INCOMPLETE', 'Address incomplete'), ('CLOSED', 'Place closed'), ('DAMAGED', 'Goods damaged'), ('LOST', 'Lost'), ('AREA_AT_RISK', 'Area at risk'), ('OTHER', 'Another reason')], db_default='', max_length=18, verbose_name='reason'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='statuslog',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('reason_code', '')), ('status__in', ['delivery_failed', 'returned']), _connector='OR'), name='status_log_reason_of_a_failure'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='statuslog',
            constraint=models.CheckConstraint(condition=models.Q(('reason_code__in', ['', 'ABSENT', 'REFUSED', 'ADDRESS_NOT_FOUND', 'ADDRESS_INCOMPLETE', 'CLOSED', 'DAMAGED', 'LOST', 'AREA_AT_RISK', 'OTHER'])), name='status_log_reason_code'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='766d3f81ca1ce5f403da19cbf0d676af368c1878', operation='DELETE', pgid='pgtrigger_status_log_kept_bcc6c', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."via_api" IS DISTINCT FROM (NEW."via_api") OR OLD."by" IS DISTINCT FROM (NEW."by") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."updated_at" IS DISTINCT FROM (NEW."updated_at") OR OLD."reason_code" IS DISTINCT FROM (NEW."reason_code") OR OLD."happened_at" IS DISTINCT FROM (NEW."happened_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='debdbcdb4281f916c9ae76d8a3d5221fcf31c3da', operation='UPDATE', pgid='pgtrigger_status_log_append_only_88862', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.reason IS DISTINCT FROM NEW.reason AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.reason = '')) OR (OLD.place IS DISTINCT FROM NEW.place AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.place = '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='30281586437aec21ffad2d357d402f2081fc2622', operation='UPDATE', pgid='pgtrigger_status_log_forgotten_143ac', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='searchcode',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_file_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_forgotten',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_bytes_of_seller',
        ),
        migrations.AddField(
            model_name='invoice',
            name='is_linked',
            field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name='linked'),
        ),
        migrations.AddField(
            model_name='invoice',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        migrations.AddField(
            model_name='invoice',
            name='is_return',
            field=models.BooleanField(db_default=False, default=False, verbose_name='of a return'),
        ),
        migrations.AddField(
            model_name='invoice',
            name='protocol',
            field=models.CharField(blank=True, db_default='', default='', max_length=3, verbose_name='protocol status (cStat)'),
        ),
        migrations.AddField(
            model_name='invoice',
            name='recipient_document',
            field=models.CharField(blank=True, db_default='', default='', max_length=14, verbose_name='recipient'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='invoice_environment'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_file_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7aa791f3be529843502c94280911b3f0823a538c', operation='UPDATE', pgid='pgtrigger_invoice_file_immutable_5fc6a', table='integration_invoice', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_bytes_of_seller', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE more bigint; owner bigint;', func="\nmore := coalesce(octet_length(NEW.raw), 0) - coalesce(octet_length(OLD.raw), 0);\nowner := coalesce(NEW.seller_id, OLD.seller_id);\nIF coalesce(NEW.environment, OLD.environment) = 'live' THEN\n    UPDATE integration_seller SET invoice_bytes = invoice_bytes + more WHERE id = owner;\nELSE\n    UPDATE integration_seller SET sandbox_invoice_bytes = sandbox_invoice_bytes + more WHERE id = owner;\nEND IF;\nRETURN NULL;\n", hash='5ef8e2a8d0f78e48a79ab4908a3488bdfd471d52', operation='INSERT OR UPDATE OF "raw" OR DELETE', pgid='pgtrigger_invoice_bytes_of_seller_f1bf4', table='integration_invoice', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.raw IS DISTINCT FROM NEW.raw AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.raw = ''::bytea OR OLD.forgotten_at IS NULL AND OLD.protocol <> NEW.protocol)) OR (OLD.recipient_document IS DISTINCT FROM NEW.recipient_document AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.recipient_document = '' OR OLD.forgotten_at IS NULL AND OLD.protocol <> NEW.protocol OR OLD.forgotten_at IS NULL AND OLD.recipient_document = '')) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='8db74076c9a0672c8c44e4e5dbff474f7cae7a62', operation='UPDATE', pgid='pgtrigger_invoice_forgotten_f576f', table='integration_invoice', when='BEFORE')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='invoicelink',
            name='reason',
            field=models.CharField(blank=True, choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('void', 'The tax office has denied or cancelled the invoice.')], db_default='', default='', max_length=13, verbose_name='reason'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoicelink',
            trigger=pgtrigger.compiler.Trigger(name='invoice_is_linked', sql=pgtrigger.compiler.UpsertTriggerSql(func="\nIF TG_OP = 'INSERT' THEN\n    UPDATE integration_invoice SET is_linked = TRUE WHERE id = NEW.invoice_id AND NOT is_linked;\nELSE\n    UPDATE integration_invoice SET is_linked = FALSE WHERE id = OLD.invoice_id\n        AND NOT EXISTS (SELECT FROM integration_invoicelink WHERE invoice_id = OLD.invoice_id);\nEND IF;\nRETURN NULL;\n", hash='8954534970852974d8e62aca2c8e9a13fc861150', operation='INSERT OR DELETE', pgid='pgtrigger_invoice_is_linked_c19ba', table='integration_invoicelink', when='AFTER')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='refusedsellercall',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        migrations.AddField(
            model_name='refusedsellercall',
            name='reasons',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='refusedsellercallcount',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoicechange',
            trigger=pgtrigger.compiler.Trigger(name='invoice_change_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='924f369ed54ac15911adaad2c266f93af47f65bf', operation='UPDATE', pgid='pgtrigger_invoice_change_append_only_00772', table='integration_invoicechange', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoicechange',
            trigger=pgtrigger.compiler.Trigger(name='invoice_change_kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='f1e6358bc6aab2c8c875cf57ba6d2dc947773413', operation='DELETE', pgid='pgtrigger_invoice_change_kept_2bc7a', table='integration_invoicechange', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

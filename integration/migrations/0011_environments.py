"""Environments of keys, orders and invoices, and the reason, place and moment of a change of an order's status.

The next migration checks the rows that exist, and replaces the indexes.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0010_orders_by_cost'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_file_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_immutable',
        ),
        migrations.AddField(
            model_name='apikey',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', help_text='A test key sees, and makes, orders of the sandbox only, which a simulated carrier moves.', max_length=7, verbose_name='environment'),
        ),
        migrations.AddField(
            model_name='invoice',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        migrations.AddField(
            model_name='order',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
        ),
        migrations.AddField(
            model_name='searchcode',
            name='environment',
            field=models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment'),
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
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_file_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7aa791f3be529843502c94280911b3f0823a538c', operation='UPDATE', pgid='pgtrigger_invoice_file_immutable_5fc6a', table='integration_invoice', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."tracking_code" IS DISTINCT FROM (NEW."tracking_code") OR OLD."service" IS DISTINCT FROM (NEW."service") OR OLD."cost" IS DISTINCT FROM (NEW."cost") OR OLD."items" IS DISTINCT FROM (NEW."items") OR OLD."invoice_data" IS DISTINCT FROM (NEW."invoice_data") OR OLD."invoice_key" IS DISTINCT FROM (NEW."invoice_key") OR OLD."freight_centavos" IS DISTINCT FROM (NEW."freight_centavos") OR OLD."freight_days" IS DISTINCT FROM (NEW."freight_days") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='0a201cb1df622abc863561c92841dae21c10f8a5', operation='UPDATE', pgid='pgtrigger_order_immutable_c6338', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
        AddConstraintNotValid(
            model_name='apikey',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='api_key_environment'),
        ),
        AddConstraintNotValid(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='invoice_environment'),
        ),
        AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='order_environment'),
        ),
        AddConstraintNotValid(
            model_name='statuslog',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), ('reason_code', '')), ('status__in', ['delivery_failed', 'returned']), _connector='OR'), name='status_log_reason_of_a_failure'),
        ),
        AddConstraintNotValid(
            model_name='statuslog',
            constraint=models.CheckConstraint(condition=models.Q(('reason_code__in', ['', 'ABSENT', 'REFUSED', 'ADDRESS_NOT_FOUND', 'ADDRESS_INCOMPLETE', 'CLOSED', 'DAMAGED', 'LOST', 'AREA_AT_RISK', 'OTHER'])), name='status_log_reason_code'),
        ),
    ]

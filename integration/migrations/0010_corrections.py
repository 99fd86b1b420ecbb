"""Corrections of orders that wait for collection.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. The table of sellers comes
first, because whoever creates an order or links an invoice locks its seller before it uses the other tables.
"""
# ruff: noqa: E501  # generated
import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0009_read_stored_invoices'),
    ]

    operations = [
        migrations.RunSQL(
            sql='LOCK TABLE integration_seller IN EXCLUSIVE MODE',
            reverse_sql='',
        ),
        migrations.CreateModel(
            name='Correction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fields', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=255), size=None, verbose_name='corrected')),
                ('corrected_at', models.DateTimeField(verbose_name='corrected at')),
                ('corrected_by', models.CharField(max_length=200, verbose_name='corrected by')),
            ],
            options={
                'verbose_name': 'correction',
                'verbose_name_plural': 'corrections',
                'ordering': ['id'],
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_forgotten',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_immutable',
        ),
        migrations.RemoveConstraint(
            model_name='invoicechange',
            name='invoice_change_reason',
        ),
        migrations.AlterField(
            model_name='invoicechange',
            name='reason',
            field=models.CharField(choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('corrected', 'The order was corrected, and does not fit this invoice any more.'), ('void', 'The tax office has denied or cancelled the invoice.')], max_length=13, verbose_name='reason'),
        ),
        migrations.AlterField(
            model_name='invoicelink',
            name='reason',
            field=models.CharField(blank=True, choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('corrected', 'The order was corrected, and does not fit this invoice any more.'), ('void', 'The tax office has denied or cancelled the invoice.')], db_default='', default='', max_length=13, verbose_name='reason'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."tracking_code" IS DISTINCT FROM (NEW."tracking_code") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='2f98ee51d2bdea88ffa46d1eb00e88a1732d8491', operation='UPDATE', pgid='pgtrigger_order_immutable_c6338', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_corrected_while_pending', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.service, OLD.cost, OLD.items, OLD.stated_volumes, OLD.invoice_data, OLD.invoice_key, OLD.freight_centavos, OLD.freight_days) IS DISTINCT FROM (NEW.service, NEW.cost, NEW.items, NEW.stated_volumes, NEW.invoice_data, NEW.invoice_key, NEW.freight_centavos, NEW.freight_days) AND NOT (OLD.status = 'pending' AND NEW.status = 'pending' AND OLD.forgotten_at IS NULL))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='c93ad8a3510c43777cefbc2d248b1a386975818b', operation='UPDATE', pgid='pgtrigger_order_corrected_while_pending_8fc3a', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.receiver_name IS DISTINCT FROM NEW.receiver_name AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.receiver_name = '' OR OLD.status = 'pending' AND NEW.status = 'pending' AND OLD.forgotten_at IS NULL)) OR (OLD.receiver_document IS DISTINCT FROM NEW.receiver_document AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.receiver_document = '' OR OLD.status = 'pending' AND NEW.status = 'pending' AND OLD.forgotten_at IS NULL)) OR (OLD.receiver IS DISTINCT FROM NEW.receiver AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.receiver <@ OLD.receiver OR OLD.status = 'pending' AND NEW.status = 'pending' AND OLD.forgotten_at IS NULL)) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='99fd79b5cf660b647288aea4cebc5d12773d33dd', operation='UPDATE', pgid='pgtrigger_order_forgotten_38db4', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
        AddConstraintNotValid(
            model_name='invoicechange',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['reference', 'cut_reference', 'access_key', 'by_hand', 'other_order', 'corrected', 'void'])), name='invoice_change_reason'),
        ),
        migrations.AddField(
            model_name='correction',
            name='order',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='corrections', to='integration.order', verbose_name='order'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='correction',
            trigger=pgtrigger.compiler.Trigger(name='correction_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='6959cd90692a6755bae3b10ceedaeaa2d22a9aca', operation='UPDATE OR DELETE', pgid='pgtrigger_correction_append_only_0362b', table='integration_correction', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

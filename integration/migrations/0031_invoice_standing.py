"""What the tax office says of an invoice, why an order is linked, and a history of links.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. The table of sellers comes
first, because whoever creates an order or receives an invoice locks its seller before it uses the other tables.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0030_content_of_movements'),
    ]

    operations = [
        migrations.RunSQL("LOCK TABLE integration_seller IN EXCLUSIVE MODE", migrations.RunSQL.noop),
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_forgotten',
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
        migrations.AddField(
            model_name='invoicelink',
            name='reason',
            field=models.CharField(blank=True, choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('void', 'The tax office has denied or cancelled the invoice.')], db_default='', default='', max_length=13, verbose_name='reason'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.raw IS DISTINCT FROM NEW.raw AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.raw = ''::bytea OR OLD.forgotten_at IS NULL AND OLD.protocol <> NEW.protocol)) OR (OLD.recipient_document IS DISTINCT FROM NEW.recipient_document AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.recipient_document = '' OR OLD.forgotten_at IS NULL AND OLD.protocol <> NEW.protocol OR OLD.forgotten_at IS NULL AND OLD.recipient_document = '')) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='8db74076c9a0672c8c44e4e5dbff474f7cae7a62', operation='UPDATE', pgid='pgtrigger_invoice_forgotten_f576f', table='integration_invoice', when='BEFORE')),  # pragma: allowlist secret
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
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('kind__in', ['linked', 'unlinked', 'marked_void'])), name='invoice_change_kind'),
                    models.CheckConstraint(condition=models.Q(('reason__in', ['reference', 'cut_reference', 'access_key', 'by_hand', 'other_order', 'void'])), name='invoice_change_reason'),
                    models.CheckConstraint(condition=models.Q(('kind', 'marked_void'), ('order__isnull', False), _connector='OR'), name='invoice_change_names_its_order'),
                ],
            },
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

"""Counts the bytes of invoices from now on in each environment, and lets the place of a change of status be forgotten.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. The table of sellers comes
first, because whoever creates an order locks its seller before it uses the other tables: neither waits for the other.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0022_orders_by_carrier_and_code'),
    ]

    operations = [
        migrations.AddField(
            model_name='seller',
            name='sandbox_invoice_bytes',
            field=models.BigIntegerField(db_default=0, default=0, editable=False, verbose_name='bytes of test invoices'),
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
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_bytes_of_seller',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='statuslog',
            name='status_log_append_only',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='statuslog',
            name='status_log_forgotten',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_bytes_of_seller', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE more bigint; owner bigint;', func="\nmore := coalesce(octet_length(NEW.raw), 0) - coalesce(octet_length(OLD.raw), 0);\nowner := coalesce(NEW.seller_id, OLD.seller_id);\nIF coalesce(NEW.environment, OLD.environment) = 'live' THEN\n    UPDATE integration_seller SET invoice_bytes = invoice_bytes + more WHERE id = owner;\nELSE\n    UPDATE integration_seller SET sandbox_invoice_bytes = sandbox_invoice_bytes + more WHERE id = owner;\nEND IF;\nRETURN NULL;\n", hash='5ef8e2a8d0f78e48a79ab4908a3488bdfd471d52', operation='INSERT OR UPDATE OF "raw" OR DELETE', pgid='pgtrigger_invoice_bytes_of_seller_f1bf4', table='integration_invoice', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."via_api" IS DISTINCT FROM (NEW."via_api") OR OLD."by" IS DISTINCT FROM (NEW."by") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."updated_at" IS DISTINCT FROM (NEW."updated_at") OR OLD."reason_code" IS DISTINCT FROM (NEW."reason_code") OR OLD."happened_at" IS DISTINCT FROM (NEW."happened_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='debdbcdb4281f916c9ae76d8a3d5221fcf31c3da', operation='UPDATE', pgid='pgtrigger_status_log_append_only_88862', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.reason IS DISTINCT FROM NEW.reason AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.reason = '')) OR (OLD.place IS DISTINCT FROM NEW.place AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.place = '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='30281586437aec21ffad2d357d402f2081fc2622', operation='UPDATE', pgid='pgtrigger_status_log_forgotten_143ac', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

"""Triggers let personal data be anonymised, see common/forgetting.py."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0016_index_of_price_changes'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_file_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='invoice',
            name='invoice_bytes_of_seller',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_immutable',
        ),
        migrations.AddField(
            model_name='invoice',
            name='forgotten_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='anonymised at'),
        ),
        migrations.AddField(
            model_name='order',
            name='forgotten_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='anonymised at'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_file_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."seller_id" IS DISTINCT FROM (NEW."seller_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='224ae0897c38b87ae4532f6947abd3ec9e726254', operation='UPDATE', pgid='pgtrigger_invoice_file_immutable_5fc6a', table='integration_invoice', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.raw IS DISTINCT FROM NEW.raw AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.raw = ''::bytea)) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='60af3b9081e0a1dd1eabae67985372d30cb80712', operation='UPDATE', pgid='pgtrigger_invoice_forgotten_f576f', table='integration_invoice', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_bytes_of_seller', sql=pgtrigger.compiler.UpsertTriggerSql(func="\nIF TG_OP = 'INSERT' THEN\n    UPDATE integration_seller SET invoice_bytes = invoice_bytes + octet_length(NEW.raw) WHERE id = NEW.seller_id;\nELSIF TG_OP = 'UPDATE' THEN\n    UPDATE integration_seller SET invoice_bytes = invoice_bytes + octet_length(NEW.raw) - octet_length(OLD.raw)\n        WHERE id = OLD.seller_id;\nELSE\n    UPDATE integration_seller SET invoice_bytes = invoice_bytes - octet_length(OLD.raw) WHERE id = OLD.seller_id;\nEND IF;\nRETURN NULL;\n", hash='1f9e7fa8db41323fcd3dc3337bee5355f7601e00', operation='INSERT OR UPDATE OF "raw" OR DELETE', pgid='pgtrigger_invoice_bytes_of_seller_f1bf4', table='integration_invoice', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."tracking_code" IS DISTINCT FROM (NEW."tracking_code") OR OLD."service" IS DISTINCT FROM (NEW."service") OR OLD."cost" IS DISTINCT FROM (NEW."cost") OR OLD."items" IS DISTINCT FROM (NEW."items") OR OLD."invoice_data" IS DISTINCT FROM (NEW."invoice_data") OR OLD."invoice_key" IS DISTINCT FROM (NEW."invoice_key") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='be788ec2ea59d2039a69f0b9f0d9f249e76440c7', operation='UPDATE', pgid='pgtrigger_order_immutable_c6338', table='integration_order', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.receiver_name IS DISTINCT FROM NEW.receiver_name AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.receiver_name = '')) OR (OLD.receiver_document IS DISTINCT FROM NEW.receiver_document AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.receiver_document = '')) OR (OLD.receiver IS DISTINCT FROM NEW.receiver AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.receiver <@ OLD.receiver)) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='eff4215d6f13e4e132ac5ef33006977dd2d4cf22', operation='UPDATE', pgid='pgtrigger_order_forgotten_38db4', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

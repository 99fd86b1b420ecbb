"""When orders were changed for the last time; of those that exist, the moment of this migration.

Their column has a constant default, so that no row is written. In a transaction, so that its locks are waited for a second at
most. The table of sellers comes first, because whoever creates an order or links an invoice locks its seller before
it uses the other tables.
"""
# ruff: noqa: E501  # generated
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0015_outcome_of_manifests'),
    ]

    operations = [
        migrations.RunSQL(
            sql='LOCK TABLE integration_seller IN EXCLUSIVE MODE',
            reverse_sql='',
        ),
        migrations.AddField(
            model_name='order',
            name='updated_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='updated at'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoice',
            trigger=pgtrigger.compiler.Trigger(name='invoice_updates_orders', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN ((OLD.access_key, OLD.number, OLD.series, OLD.value, OLD.issued_at) IS DISTINCT FROM (NEW.access_key, NEW.number, NEW.series, NEW.value, NEW.issued_at))', func='\n        UPDATE integration_order SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM integration_order WHERE id = ANY(ARRAY(SELECT order_id FROM integration_invoicelink WHERE invoice_id = NEW.id)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='ea72d9c048ea38f330234507abc60bdf5224d85f', operation='UPDATE OF "access_key", "number", "series", "value", "issued_at"', pgid='pgtrigger_invoice_updates_orders_08138', table='integration_invoice', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoicelink',
            trigger=pgtrigger.compiler.Trigger(name='invoice_link_updates_orders', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n        UPDATE integration_order SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM integration_order WHERE id = ANY(ARRAY(SELECT order_id FROM changed)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='03659b51cf36c9d233d2e0d398cbf3fcebc8cdd4', level='STATEMENT', operation='INSERT', pgid='pgtrigger_invoice_link_updates_orders_c41fa', referencing='REFERENCING NEW TABLE AS changed ', table='integration_invoicelink', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='invoicelink',
            trigger=pgtrigger.compiler.Trigger(name='invoice_unlink_updates_orders', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n        UPDATE integration_order SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM integration_order WHERE id = ANY(ARRAY(SELECT order_id FROM changed)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='5f5758c500befb0e2ef522929a5a2250ed3fb3d9', level='STATEMENT', operation='DELETE', pgid='pgtrigger_invoice_unlink_updates_orders_fdb76', referencing='REFERENCING OLD TABLE AS changed ', table='integration_invoicelink', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func='NEW.updated_at := clock_timestamp(); RETURN NEW;', hash='42fc70e17b70f247cdee1dfe1a19c4b4e008a0ee', operation='UPDATE OF "updated_at", "status", "promised_on", "delivered_at", "carrier_id", "receiver_name", "receiver_document", "receiver", "forgotten_at", "service", "cost", "items", "stated_volumes", "invoice_data", "invoice_key", "freight_centavos", "freight_days"', pgid='pgtrigger_order_updated_a95b9', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

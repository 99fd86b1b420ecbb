"""Whether an invoice is linked, kept by a trigger of its links. The next migration counts the links that exist."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integration", "0005_compact_search_codes")]
    operations = [
        migrations.AddField(
            model_name="invoice",
            name="is_linked",
            field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name="linked"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="invoicelink",
            trigger=pgtrigger.compiler.Trigger(
                name="invoice_is_linked",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\nIF TG_OP = 'INSERT' THEN\n    UPDATE integration_invoice SET is_linked = TRUE WHERE id = NEW.invoice_id AND NOT is_linked;\nELSE\n    UPDATE integration_invoice SET is_linked = FALSE WHERE id = OLD.invoice_id\n        AND NOT EXISTS (SELECT FROM integration_invoicelink WHERE invoice_id = OLD.invoice_id);\nEND IF;\nRETURN NULL;\n",
                    hash="8954534970852974d8e62aca2c8e9a13fc861150",  # pragma: allowlist secret
                    operation="INSERT OR DELETE",
                    pgid="pgtrigger_invoice_is_linked_c19ba",
                    table="integration_invoicelink",
                    when="AFTER",
                ),
            ),
        ),
    ]

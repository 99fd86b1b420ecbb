"""Separates the bytes of the sandbox' invoices from those of live ones, for invoices of before.

In a transaction of its own, so that no table is locked exclusively while it counts. What an invoice changes meanwhile
is added by its trigger afterwards, because that waits for the lock of the sellers; they and everything else are read.
"""

from django.db import migrations

_LOCK = "LOCK TABLE integration_seller IN EXCLUSIVE MODE"
# `sandbox_invoice_bytes` has what was written since the migration before, whose bytes are not among the live ones.
_COUNT = """
UPDATE integration_seller seller
SET sandbox_invoice_bytes = sandbox.bytes,
    invoice_bytes = seller.invoice_bytes - (sandbox.bytes - seller.sandbox_invoice_bytes)
FROM integration_seller each CROSS JOIN LATERAL (
    SELECT coalesce(sum(octet_length(raw)), 0) AS bytes FROM integration_invoice
    WHERE seller_id = each.id AND environment = 'sandbox'
) sandbox
WHERE seller.id = each.id AND sandbox.bytes <> seller.sandbox_invoice_bytes
"""


class Migration(migrations.Migration):
    dependencies = [("integration", "0023_bytes_of_environments")]

    operations = [migrations.RunSQL([_LOCK, _COUNT], migrations.RunSQL.noop)]

"""Lets the reason of a change of status be forgotten with its order, and drops the unique constraints without environment.

In a transaction, so that it waits for the locks of tables no longer than the timeout says.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0012_indexes_of_environments'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="order", name="one_order_per_code"),
        migrations.RemoveConstraint(model_name="order", name="one_order_per_tracking_code"),
        migrations.RemoveConstraint(model_name="invoice", name="one_invoice_per_access_key"),
        pgtrigger.migrations.RemoveTrigger(
            model_name='statuslog',
            name='status_log_append_only',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."order_id" IS DISTINCT FROM (NEW."order_id") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."via_api" IS DISTINCT FROM (NEW."via_api") OR OLD."by" IS DISTINCT FROM (NEW."by") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."updated_at" IS DISTINCT FROM (NEW."updated_at") OR OLD."reason_code" IS DISTINCT FROM (NEW."reason_code") OR OLD."place" IS DISTINCT FROM (NEW."place") OR OLD."happened_at" IS DISTINCT FROM (NEW."happened_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='f2363f47c135d89cbd9206062854524199472a7a', operation='UPDATE', pgid='pgtrigger_status_log_append_only_88862', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.reason IS DISTINCT FROM NEW.reason AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.reason = '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='d73580d1e0646b1494b54662ab45157748da3f58', operation='UPDATE', pgid='pgtrigger_status_log_forgotten_143ac', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='statuslog',
            trigger=pgtrigger.compiler.Trigger(name='status_log_kept', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='766d3f81ca1ce5f403da19cbf0d676af368c1878', operation='DELETE', pgid='pgtrigger_status_log_kept_bcc6c', table='integration_statuslog', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

"""What a delivery costs and its driver earns changes with a move only."""
# ruff: noqa: E501  # generated triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0031_lateness_indexed'),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_amounts_change_by_moves', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."last_sequence" = (NEW."last_sequence") AND (OLD."cancel_fee" IS DISTINCT FROM (NEW."cancel_fee") OR OLD."retry_fee" IS DISTINCT FROM (NEW."retry_fee") OR OLD."return_fee" IS DISTINCT FROM (NEW."return_fee") OR OLD."driver_amount" IS DISTINCT FROM (NEW."driver_amount")))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='720e9a5da78e0204671190cf1b75a9ea77ec7888', operation='UPDATE', pgid='pgtrigger_delivery_amounts_change_by_moves_cecf7', table='delivery_delivery', when='BEFORE')),
        ),
    ]

"""In how many volumes an order leaves. Orders from before do not say it: their labels and manifests counted units.

The next migration checks the rows that the previous version writes meanwhile.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0027_scan_permission'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_immutable',
        ),
        migrations.AddField(
            model_name='order',
            name='stated_volumes',
            field=models.SmallIntegerField(editable=False, null=True, verbose_name='volumes'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."tracking_code" IS DISTINCT FROM (NEW."tracking_code") OR OLD."service" IS DISTINCT FROM (NEW."service") OR OLD."cost" IS DISTINCT FROM (NEW."cost") OR OLD."items" IS DISTINCT FROM (NEW."items") OR OLD."stated_volumes" IS DISTINCT FROM (NEW."stated_volumes") OR OLD."invoice_data" IS DISTINCT FROM (NEW."invoice_data") OR OLD."invoice_key" IS DISTINCT FROM (NEW."invoice_key") OR OLD."freight_centavos" IS DISTINCT FROM (NEW."freight_centavos") OR OLD."freight_days" IS DISTINCT FROM (NEW."freight_days") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='ae016b723df17b09616aba365a9b9a4bdf756345', operation='UPDATE', pgid='pgtrigger_order_immutable_c6338', table='integration_order', when='BEFORE')),
        ),
        AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(('stated_volumes', None), ('stated_volumes__range', (1, 99)), _connector='OR'), name='order_volumes_in_range'),
        ),
    ]

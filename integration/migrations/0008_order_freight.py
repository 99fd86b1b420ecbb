"""The freight of an order, the day it is promised for, and the postcode that a company's parcels leave from.

The next migration checks the rows that exist.
"""

import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0007_invoices_by_link'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='order',
            name='order_immutable',
        ),
        migrations.AddField(
            model_name='company',
            name='postcode',
            field=models.CharField(blank=True, db_default='', help_text='Where its parcels leave from. Orders get a freight from here; without it they get none.', max_length=8, verbose_name='origin CEP'),
        ),
        migrations.AddField(
            model_name='order',
            name='delivered_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='delivered at'),
        ),
        migrations.AddField(
            model_name='order',
            name='freight_centavos',
            field=models.BigIntegerField(editable=False, null=True, verbose_name='freight'),
        ),
        migrations.AddField(
            model_name='order',
            name='freight_days',
            field=models.SmallIntegerField(editable=False, null=True, verbose_name='deadline (business days)'),
        ),
        migrations.AddField(
            model_name='order',
            name='promised_on',
            field=models.DateField(editable=False, null=True, verbose_name='promised for'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='order',
            trigger=pgtrigger.compiler.Trigger(name='order_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."company_id" IS DISTINCT FROM (NEW."company_id") OR OLD."code" IS DISTINCT FROM (NEW."code") OR OLD."tracking_code" IS DISTINCT FROM (NEW."tracking_code") OR OLD."service" IS DISTINCT FROM (NEW."service") OR OLD."cost" IS DISTINCT FROM (NEW."cost") OR OLD."items" IS DISTINCT FROM (NEW."items") OR OLD."invoice_data" IS DISTINCT FROM (NEW."invoice_data") OR OLD."invoice_key" IS DISTINCT FROM (NEW."invoice_key") OR OLD."freight_centavos" IS DISTINCT FROM (NEW."freight_centavos") OR OLD."freight_days" IS DISTINCT FROM (NEW."freight_days") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='9c9370f2b2f84295e80dd4f3ad8f23a9d31d70be', operation='UPDATE', pgid='pgtrigger_order_immutable_c6338', table='integration_order', when='BEFORE')),  # pragma: allowlist secret
        ),
        AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('freight_centavos', None), ('freight_days', None), ('promised_on', None)), models.Q(('freight_centavos__isnull', False), ('freight_days__isnull', False)), _connector='OR'), name='order_freight_is_whole'),
        ),
    ]

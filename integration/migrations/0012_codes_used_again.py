"""Codes of orders that were cancelled before they were collected can be those of new ones.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. The table of sellers comes
first, because whoever creates an order locks its seller before it uses the other tables.
"""
# ruff: noqa: E501  # generated
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0011_reasons_checked'),
    ]

    operations = [
        migrations.RunSQL(
            sql='LOCK TABLE integration_seller IN EXCLUSIVE MODE',
            reverse_sql='',
        ),
        migrations.AddField(
            model_name='order',
            name='code_reused',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='order',
            name='tracking_code_reused',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AlterField(
            model_name='invoicechange',
            name='reason',
            field=models.CharField(choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('corrected', 'The order was corrected or created again, and this invoice is not its own any more.'), ('void', 'The tax office has denied or cancelled the invoice.')], max_length=13, verbose_name='reason'),
        ),
        migrations.AlterField(
            model_name='invoicelink',
            name='reason',
            field=models.CharField(blank=True, choices=[('reference', 'The invoice names this orderId (xPed).'), ('cut_reference', 'The invoice names the first 15 characters of this orderId (xPed), and fits it.'), ('access_key', 'The order names the access key of this invoice.'), ('by_hand', 'By hand.'), ('other_order', 'The invoice is that of another order, whose orderId begins the same.'), ('corrected', 'The order was corrected or created again, and this invoice is not its own any more.'), ('void', 'The tax office has denied or cancelled the invoice.')], db_default='', default='', max_length=13, verbose_name='reason'),
        ),
        AddConstraintNotValid(
            model_name='order',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('code_reused', False), ('tracking_code_reused', False)), ('status', 'cancelled'), _connector='OR'), name='order_with_reused_codes_is_cancelled'),
        ),
    ]

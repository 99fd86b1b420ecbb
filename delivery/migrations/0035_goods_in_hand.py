"""Goods that drivers have of routes that are not theirs any more, and routes that are opened again for their goods.

In a transaction, so that its locks are waited for a second at most. The next migration has the index of reports include
the new column.
"""
# ruff: noqa: E501  # generated triggers
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0034_signals_of_arrival_times'),
    ]

    operations = [
        migrations.CreateModel(
            name='GoodsInHand',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('collected_at', models.DateTimeField(verbose_name='collected at')),
                ('reported_at', models.DateTimeField(verbose_name='reported at')),
                ('back_at', models.DateTimeField(null=True, verbose_name='recorded as back at')),
                ('back_by', models.CharField(blank=True, max_length=200, verbose_name='recorded as back by')),
                ('delivery', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='goods_in_hand', to='delivery.delivery', verbose_name='delivery')),
                ('driver', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='goods_in_hand', to='delivery.driver', verbose_name='driver')),
            ],
            options={
                'verbose_name': 'goods in hand',
                'verbose_name_plural': 'goods in hand',
                'default_permissions': (),
                'indexes': [
                    models.Index(condition=models.Q(('back_at', None)), fields=['reported_at', 'id'], name='goods_in_hand_out'),
                    models.Index(fields=['driver'], name='goods_in_hand_of_driver'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('delivery', 'driver'), name='goods_in_hand_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('back_at', None), ('back_by', '')), models.Q(('back_at__isnull', False), models.Q(('back_by', ''), _negated=True)), _connector='OR'), name='goods_in_hand_back_whole'),
                ],
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_closed_stays_so',
        ),
        migrations.AddField(
            model_name='delivery',
            name='fee_before_pickup',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_closed_stays_so', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (OLD.route_status = 'CANCELLED' AND NEW.route_status = 'RETURNING' AND OLD.forgotten_at IS NULL AND NEW.last_sequence = OLD.last_sequence + 1 AND NEW.cancelled_at = OLD.cancelled_at AND NEW.cancel_fee = OLD.cancel_fee AND NEW.driver_amount IS NOT DISTINCT FROM OLD.driver_amount) AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.fee_before_pickup IS NOT DISTINCT FROM NEW.fee_before_pickup AND OLD.retry_fee IS NOT DISTINCT FROM NEW.retry_fee AND OLD.return_fee IS NOT DISTINCT FROM NEW.return_fee AND OLD.missed_deadline IS NOT DISTINCT FROM NEW.missed_deadline AND OLD.driver_amount IS NOT DISTINCT FROM NEW.driver_amount AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='2d734420b5451579acd0c7dbb71451571fa2e8c7', operation='UPDATE', pgid='pgtrigger_delivery_closed_stays_so_13ad6', table='delivery_delivery', when='BEFORE')),
        ),
    ]

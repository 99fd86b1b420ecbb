"""When the last stop of a delivery is ready, and whether a stop was visited after its own deadline.

In a transaction, so that its locks are waited for a second at most. Of deliveries that were requested before neither
is known. The next migration has the index of reports include both columns.
"""
# ruff: noqa: E501  # generated triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0029_changes_of_stops_stay'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_closed_stays_so',
        ),
        migrations.AddField(
            model_name='delivery',
            name='missed_deadline',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='delivery',
            name='ready_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='ready at'),
        ),
        migrations.AlterField(
            model_name='stop',
            name='failure_code',
            field=models.CharField(blank=True, choices=[('ABSENT', 'Nobody there'), ('REFUSED', 'Refused at the door'), ('ADDRESS_NOT_FOUND', 'Address not found'), ('ADDRESS_INCOMPLETE', 'Address incomplete'), ('CLOSED', 'Place closed'), ('DAMAGED', 'Goods damaged'), ('WRONG_ITEM', 'Wrong item'), ('UNSAFE', 'Not a safe place'), ('PAYMENT', 'Problem with the payment'), ('VEHICLE', 'Vehicle broke down'), ('OTHER', 'Another reason')], max_length=20, null=True, verbose_name='failure code'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."route_id" IS DISTINCT FROM (NEW."route_id") OR OLD."integrator_id" IS DISTINCT FROM (NEW."integrator_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."token_id" IS DISTINCT FROM (NEW."token_id") OR OLD."vehicle_type" IS DISTINCT FROM (NEW."vehicle_type") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."packages" IS DISTINCT FROM (NEW."packages") OR OLD."shipping_value" IS DISTINCT FROM (NEW."shipping_value") OR OLD."distance_km" IS DISTINCT FROM (NEW."distance_km") OR OLD."cancel_percent_accepted" IS DISTINCT FROM (NEW."cancel_percent_accepted") OR OLD."cancel_percent_collected" IS DISTINCT FROM (NEW."cancel_percent_collected") OR OLD."retry_percent" IS DISTINCT FROM (NEW."retry_percent") OR OLD."return_percent" IS DISTINCT FROM (NEW."return_percent") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."scheduled_for" IS DISTINCT FROM (NEW."scheduled_for") OR OLD."pickup_deadline_at" IS DISTINCT FROM (NEW."pickup_deadline_at") OR OLD."ready_at" IS DISTINCT FROM (NEW."ready_at") OR OLD."deadline_at" IS DISTINCT FROM (NEW."deadline_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='502235b063c6e8b9317d22f29217d98a7fbb1b8c', operation='UPDATE', pgid='pgtrigger_delivery_immutable_a0206', table='delivery_delivery', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_closed_stays_so', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.retry_fee IS NOT DISTINCT FROM NEW.retry_fee AND OLD.return_fee IS NOT DISTINCT FROM NEW.return_fee AND OLD.missed_deadline IS NOT DISTINCT FROM NEW.missed_deadline AND OLD.driver_amount IS NOT DISTINCT FROM NEW.driver_amount AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='9550f76d97d76f9195a16a6f0bea48442923c861', operation='UPDATE', pgid='pgtrigger_delivery_closed_stays_so_13ad6', table='delivery_delivery', when='BEFORE')),
        ),
    ]

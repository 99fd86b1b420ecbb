"""What failures add to the price of a delivery.

In a transaction, so that its locks are waited for a second at most. The next migration checks the rows that exist.
"""
# ruff: noqa: E501  # generated triggers
import django.core.validators
import pgtrigger.compiler
import pgtrigger.migrations
from decimal import Decimal
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0024_service_hours'),
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
        pgtrigger.migrations.RemoveTrigger(
            model_name='tariff',
            name='added_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='tariff',
            name='changed_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='tariff',
            name='deleted_delete',
        ),
        migrations.AddField(
            model_name='delivery',
            name='retry_fee',
            field=models.DecimalField(decimal_places=2, editable=False, max_digits=10, null=True, verbose_name='second attempts'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='retry_percent',
            field=models.DecimalField(db_default=0, decimal_places=2, default=0, max_digits=5),
        ),
        migrations.AddField(
            model_name='delivery',
            name='return_fee',
            field=models.DecimalField(decimal_places=2, editable=False, max_digits=10, null=True, verbose_name='way back after a failure'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='return_percent',
            field=models.DecimalField(db_default=0, decimal_places=2, default=0, max_digits=5),
        ),
        migrations.AddField(
            model_name='tariff',
            name='retry_percent',
            field=models.DecimalField(db_default=0, decimal_places=2, default=0, help_text='Of the price, for each second attempt at a point.', max_digits=5, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))], verbose_name='second attempt'),
        ),
        migrations.AddField(
            model_name='tariff',
            name='return_percent',
            field=models.DecimalField(db_default=0, decimal_places=2, default=0, help_text='Of the price, if the driver brings goods back to A because a point failed. Not where the price includes the way back, and not if the cancellation itself turned the driver back.', max_digits=5, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))], verbose_name='way back after a failure'),
        ),
        migrations.AddField(
            model_name='tariffchange',
            name='retry_percent',
            field=models.DecimalField(db_default=0, decimal_places=2, default=0, help_text='Of the price, for each second attempt at a point.', max_digits=5, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))], verbose_name='second attempt'),
        ),
        migrations.AddField(
            model_name='tariffchange',
            name='return_percent',
            field=models.DecimalField(db_default=0, decimal_places=2, default=0, help_text='Of the price, if the driver brings goods back to A because a point failed. Not where the price includes the way back, and not if the cancellation itself turned the driver back.', max_digits=5, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))], verbose_name='way back after a failure'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."route_id" IS DISTINCT FROM (NEW."route_id") OR OLD."integrator_id" IS DISTINCT FROM (NEW."integrator_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."token_id" IS DISTINCT FROM (NEW."token_id") OR OLD."vehicle_type" IS DISTINCT FROM (NEW."vehicle_type") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."packages" IS DISTINCT FROM (NEW."packages") OR OLD."shipping_value" IS DISTINCT FROM (NEW."shipping_value") OR OLD."distance_km" IS DISTINCT FROM (NEW."distance_km") OR OLD."cancel_percent_accepted" IS DISTINCT FROM (NEW."cancel_percent_accepted") OR OLD."cancel_percent_collected" IS DISTINCT FROM (NEW."cancel_percent_collected") OR OLD."retry_percent" IS DISTINCT FROM (NEW."retry_percent") OR OLD."return_percent" IS DISTINCT FROM (NEW."return_percent") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."scheduled_for" IS DISTINCT FROM (NEW."scheduled_for") OR OLD."pickup_deadline_at" IS DISTINCT FROM (NEW."pickup_deadline_at") OR OLD."deadline_at" IS DISTINCT FROM (NEW."deadline_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='fde7fdf09f705550f5354f4d2bdac612b30c93d7', operation='UPDATE', pgid='pgtrigger_delivery_immutable_a0206', table='delivery_delivery', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_closed_stays_so', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.retry_fee IS NOT DISTINCT FROM NEW.retry_fee AND OLD.return_fee IS NOT DISTINCT FROM NEW.return_fee AND OLD.driver_amount IS NOT DISTINCT FROM NEW.driver_amount AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='8623efbe98759bfd8382f49253542257c7b32b98', operation='UPDATE', pgid='pgtrigger_delivery_closed_stays_so_13ad6', table='delivery_delivery', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tariff',
            trigger=pgtrigger.compiler.Trigger(name='added_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "retry_percent", "return_percent", "return_share", "vehicle_type") VALUES (NEW."active", NEW."base_fare", NEW."cancel_percent_accepted", NEW."cancel_percent_collected", NEW."driver_fixed", NEW."driver_per_km", NEW."driver_percent", NEW."id", NEW."included_km", NEW."integrator_id", NEW."maximum_kg", NEW."maximum_km", NEW."maximum_litres", NEW."maximum_side_cm", NEW."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."price_per_extra_dropoff", NEW."price_per_km", NEW."retry_percent", NEW."return_percent", NEW."return_share", NEW."vehicle_type"); RETURN NULL;', hash='f6d74b19d8b159a8a5b5264d5c06dae19909e166', operation='INSERT', pgid='pgtrigger_added_insert_0d134', table='delivery_tariff', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tariff',
            trigger=pgtrigger.compiler.Trigger(name='changed_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "retry_percent", "return_percent", "return_share", "vehicle_type") VALUES (NEW."active", NEW."base_fare", NEW."cancel_percent_accepted", NEW."cancel_percent_collected", NEW."driver_fixed", NEW."driver_per_km", NEW."driver_percent", NEW."id", NEW."included_km", NEW."integrator_id", NEW."maximum_kg", NEW."maximum_km", NEW."maximum_litres", NEW."maximum_side_cm", NEW."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."price_per_extra_dropoff", NEW."price_per_km", NEW."retry_percent", NEW."return_percent", NEW."return_share", NEW."vehicle_type"); RETURN NULL;', hash='bf9106bc6047af8988734362056aad54c528ee59', operation='UPDATE', pgid='pgtrigger_changed_update_c2abe', table='delivery_tariff', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tariff',
            trigger=pgtrigger.compiler.Trigger(name='deleted_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "retry_percent", "return_percent", "return_share", "vehicle_type") VALUES (OLD."active", OLD."base_fare", OLD."cancel_percent_accepted", OLD."cancel_percent_collected", OLD."driver_fixed", OLD."driver_per_km", OLD."driver_percent", OLD."id", OLD."included_km", OLD."integrator_id", OLD."maximum_kg", OLD."maximum_km", OLD."maximum_litres", OLD."maximum_side_cm", OLD."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."price_per_extra_dropoff", OLD."price_per_km", OLD."retry_percent", OLD."return_percent", OLD."return_share", OLD."vehicle_type"); RETURN NULL;', hash='618faf8c3706c2e0e231790ace503658d39fe879', operation='DELETE', pgid='pgtrigger_deleted_delete_b5567', table='delivery_tariff', when='AFTER')),
        ),
        AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('retry_fee__gte', 0), ('return_fee__gte', 0)), name='delivery_fees_not_negative'),
        ),
        migrations.AddConstraint(
            model_name='tariff',
            constraint=models.CheckConstraint(condition=models.Q(('retry_percent__range', (0, 100)), ('return_percent__range', (0, 100))), name='tariff_shares_of_failures'),
        ),
    ]

"""Windows of deliveries, and routes that are offered later than they are requested.

In a transaction, so that its locks are waited for a second at most. The next migration checks the rows that exist and
makes the indexes.
"""
# ruff: noqa: E501  # generated triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0021_policies_checked'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_offer_renewed_by_release',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_set_is_locked',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_immutable',
        ),
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_driver_fits_route',
        ),
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_status_fits_route',
        ),
        migrations.AddField(
            model_name='delivery',
            name='deadline_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='deadline'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='offer_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='offered at'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='pickup_deadline_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='deadline of the pickup'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='scheduled_for',
            field=models.DateTimeField(editable=False, null=True, verbose_name='scheduled for'),
        ),
        migrations.AddField(
            model_name='stop',
            name='deadline_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='deadline'),
        ),
        migrations.AddField(
            model_name='stop',
            name='ready_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='ready at'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='route_status',
            field=models.CharField(choices=[('SCHEDULED', 'Scheduled'), ('AVAILABLE', 'Waiting for a driver'), ('ACCEPTED', 'Driver assigned'), ('COLLECTED', 'On the way'), ('RETURNING', 'Returning'), ('FINISHED', 'Finished'), ('CANCELLED', 'Cancelled'), ('EXPIRED', 'Offer expired')], max_length=9, verbose_name='route status'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."route_id" IS DISTINCT FROM (NEW."route_id") OR OLD."integrator_id" IS DISTINCT FROM (NEW."integrator_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."token_id" IS DISTINCT FROM (NEW."token_id") OR OLD."vehicle_type" IS DISTINCT FROM (NEW."vehicle_type") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."packages" IS DISTINCT FROM (NEW."packages") OR OLD."shipping_value" IS DISTINCT FROM (NEW."shipping_value") OR OLD."distance_km" IS DISTINCT FROM (NEW."distance_km") OR OLD."cancel_percent_accepted" IS DISTINCT FROM (NEW."cancel_percent_accepted") OR OLD."cancel_percent_collected" IS DISTINCT FROM (NEW."cancel_percent_collected") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."scheduled_for" IS DISTINCT FROM (NEW."scheduled_for") OR OLD."pickup_deadline_at" IS DISTINCT FROM (NEW."pickup_deadline_at") OR OLD."deadline_at" IS DISTINCT FROM (NEW."deadline_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='01cbf4c83f5374b4828b3fac0657671f25b66ed2', operation='UPDATE', pgid='pgtrigger_delivery_immutable_a0206', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_offer_renewed_by_release', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."offer_expires_at" IS DISTINCT FROM (NEW."offer_expires_at") AND NOT (OLD."route_status" = \'SCHEDULED\') AND NOT (OLD."route_status" = \'ACCEPTED\' AND NEW."route_status" = \'AVAILABLE\'))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7950e5590357e9c79c769835ba2597146e00c9b1', operation='UPDATE', pgid='pgtrigger_delivery_offer_renewed_by_release_d3fa4', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_offer_begins_once', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."offer_at" IS DISTINCT FROM (NEW."offer_at") AND NOT (OLD."route_status" = \'SCHEDULED\'))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='4470e3775999e5f6ad9bbd90f15de220e49300ae', operation='UPDATE', pgid='pgtrigger_delivery_offer_begins_once_83755', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."index" IS DISTINCT FROM (NEW."index") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."external_id_digest" IS DISTINCT FROM (NEW."external_id_digest") OR OLD."ready_at" IS DISTINCT FROM (NEW."ready_at") OR OLD."deadline_at" IS DISTINCT FROM (NEW."deadline_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='c15993590b53bfd3c51c06d1f33ed64a2ff185a6', operation='UPDATE', pgid='pgtrigger_stop_immutable_49149', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_set_is_locked', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE route text;', func="\n                    SELECT route_status INTO route FROM delivery_delivery\n                        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.delivery_id ELSE OLD.delivery_id END\n                        FOR SHARE;\n                    IF route IS NOT NULL AND route NOT IN ('AVAILABLE', 'SCHEDULED') THEN\n                        RAISE EXCEPTION 'rota: the stops of an accepted route cannot change';\n                    END IF;\n                    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;\n                    RETURN OLD;\n                ", hash='ef5bce5432bbbd43ae20e4ed6c475e732443d6f0', operation='INSERT OR DELETE', pgid='pgtrigger_stop_set_is_locked_3fbe5', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['SCHEDULED', 'AVAILABLE', 'EXPIRED']), ('driver', None)), models.Q(('route_status__in', ['ACCEPTED', 'COLLECTED', 'RETURNING', 'FINISHED']), ('driver__isnull', False)), ('route_status__in', ['CANCELLED']), _connector='OR'), name='delivery_driver_fits_route'),
        ),
        AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['SCHEDULED', 'AVAILABLE']), ('status__in', ['PENDING'])), models.Q(('route_status__in', ['ACCEPTED']), ('status__in', ['ACCEPT'])), models.Q(('route_status__in', ['COLLECTED']), ('status__in', ['COLLECTED'])), models.Q(('route_status__in', ['RETURNING']), ('status__in', ['COLLECTED', 'FAILED'])), models.Q(('route_status__in', ['FINISHED']), ('status__in', ['DELIVERED', 'FAILED'])), models.Q(('route_status__in', ['CANCELLED', 'EXPIRED']), ('status__in', ['FAILED'])), _connector='OR'), name='delivery_status_fits_route'),
        ),
        AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['SCHEDULED']), _negated=True), models.Q(('offer_at__isnull', False), ('offer_at__lt', models.F('scheduled_for')), ('scheduled_for__isnull', False)), _connector='OR'), name='delivery_scheduled_has_its_moments'),
        ),
    ]

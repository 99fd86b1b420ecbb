"""Triggers let personal data be anonymised, see common/forgetting.py."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0033_trace_of_an_event'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_closed_stays_so',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='drivermove',
            name='driver_move_append_only',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='transition',
            name='transition_append_only',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='webhookevent',
            name='event_body_immutable',
        ),
        migrations.AddField(
            model_name='delivery',
            name='forgotten_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='anonymised at'),
        ),
        migrations.AddField(
            model_name='stop',
            name='forgotten_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='anonymised at'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."route_id" IS DISTINCT FROM (NEW."route_id") OR OLD."integrator_id" IS DISTINCT FROM (NEW."integrator_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."token_id" IS DISTINCT FROM (NEW."token_id") OR OLD."vehicle_type" IS DISTINCT FROM (NEW."vehicle_type") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."packages" IS DISTINCT FROM (NEW."packages") OR OLD."shipping_value" IS DISTINCT FROM (NEW."shipping_value") OR OLD."distance_km" IS DISTINCT FROM (NEW."distance_km") OR OLD."cancel_percent_accepted" IS DISTINCT FROM (NEW."cancel_percent_accepted") OR OLD."cancel_percent_collected" IS DISTINCT FROM (NEW."cancel_percent_collected") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='7ec9202d16321ddd09bd44b4f13f09536d2d1a43', operation='UPDATE', pgid='pgtrigger_delivery_immutable_a0206', table='delivery_delivery', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.contact_name IS DISTINCT FROM NEW.contact_name AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.contact_name = '')) OR (OLD.contact_phone IS DISTINCT FROM NEW.contact_phone AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.contact_phone = '')) OR (OLD.address IS DISTINCT FROM NEW.address AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.address <@ OLD.address)) OR (OLD.latitude IS DISTINCT FROM NEW.latitude AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.latitude = round(OLD.latitude::numeric, 1)::double precision)) OR (OLD.longitude IS DISTINCT FROM NEW.longitude AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.longitude = round(OLD.longitude::numeric, 1)::double precision)) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='be1cded4882391f6f607b718d5cc96321a896c30', operation='UPDATE', pgid='pgtrigger_delivery_forgotten_abf1a', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_closed_stays_so', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='787fb088ed52dc8cf55ce0443fc239370c7b22b6', operation='UPDATE', pgid='pgtrigger_delivery_closed_stays_so_13ad6', table='delivery_delivery', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='drivermove',
            trigger=pgtrigger.compiler.Trigger(name='driver_move_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."driver_id" IS DISTINCT FROM (NEW."driver_id") OR OLD."report" IS DISTINCT FROM (NEW."report") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."trigger" IS DISTINCT FROM (NEW."trigger") OR OLD."point" IS DISTINCT FROM (NEW."point") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at") OR OLD."received_at" IS DISTINCT FROM (NEW."received_at") OR OLD."refusal" IS DISTINCT FROM (NEW."refusal"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='be77d45e9469e961e844c5ee6c28f2e606a5e225', operation='UPDATE', pgid='pgtrigger_driver_move_append_only_0c871', table='delivery_drivermove', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='drivermove',
            trigger=pgtrigger.compiler.Trigger(name='driver_move_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.refusal_detail IS DISTINCT FROM NEW.refusal_detail AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.refusal_detail = '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='943805aca78f3ffe340ebee245a9d2bad320940f', operation='UPDATE', pgid='pgtrigger_driver_move_forgotten_bdbd1', table='delivery_drivermove', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."index" IS DISTINCT FROM (NEW."index") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='41b72b2ab6ba037762df0a6e0c0962a5732ffc51', operation='UPDATE', pgid='pgtrigger_stop_immutable_49149', table='delivery_stop', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.contact_name IS DISTINCT FROM NEW.contact_name AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.contact_name = '')) OR (OLD.contact_phone IS DISTINCT FROM NEW.contact_phone AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.contact_phone = '')) OR (OLD.address IS DISTINCT FROM NEW.address AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.address <@ OLD.address)) OR (OLD.latitude IS DISTINCT FROM NEW.latitude AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.latitude = round(OLD.latitude::numeric, 1)::double precision)) OR (OLD.longitude IS DISTINCT FROM NEW.longitude AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.longitude = round(OLD.longitude::numeric, 1)::double precision)) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='906ed24d7bc523ddb7e16ecd8870f7d5f2656a0b', operation='UPDATE', pgid='pgtrigger_stop_forgotten_78336', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='transition',
            trigger=pgtrigger.compiler.Trigger(name='transition_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='5b720ff0915c07d34c0a9659bd2fa6655214b523', operation='DELETE', pgid='pgtrigger_transition_append_only_f5b4d', table='delivery_transition', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='transition',
            trigger=pgtrigger.compiler.Trigger(name='transition_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."trigger" IS DISTINCT FROM (NEW."trigger") OR OLD."point" IS DISTINCT FROM (NEW."point") OR OLD."status" IS DISTINCT FROM (NEW."status") OR OLD."route_status" IS DISTINCT FROM (NEW."route_status") OR OLD."at" IS DISTINCT FROM (NEW."at") OR OLD."made_at" IS DISTINCT FROM (NEW."made_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='51537e91e699590c88d534467d25d8b91195f159', operation='UPDATE', pgid='pgtrigger_transition_immutable_adce9', table='delivery_transition', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='transition',
            trigger=pgtrigger.compiler.Trigger(name='transition_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.reason IS DISTINCT FROM NEW.reason AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.reason = '')) OR (OLD.by IS DISTINCT FROM NEW.by AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.by = 'driver')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='93bf94ed95efa85b8fe4b26adf7d34d0b8edc72d', operation='UPDATE', pgid='pgtrigger_transition_forgotten_1e2fd', table='delivery_transition', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='event_body_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."endpoint_id" IS DISTINCT FROM (NEW."endpoint_id") OR OLD."sequence" IS DISTINCT FROM (NEW."sequence") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='48f46facde96313b21d7950dabde755d1df6f832', operation='UPDATE', pgid='pgtrigger_event_body_immutable_b4424', table='delivery_webhookevent', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='event_body_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.body IS DISTINCT FROM NEW.body AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND TRUE)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='47d9c3a9d0e38e74386a9d1dbdf6207c105f3b38', operation='UPDATE', pgid='pgtrigger_event_body_forgotten_2c83b', table='delivery_webhookevent', when='BEFORE')),
        ),
    ]

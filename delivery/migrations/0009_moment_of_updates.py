"""When deliveries were changed for the last time; of those that exist, the moment of this migration.

Their column has a constant default, so that no row is written. In a transaction, so that its locks are waited for a second at
most.
"""
# ruff: noqa: E501  # generated
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0008_one_endpoint_no_more'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_closed_stays_so',
        ),
        migrations.AddField(
            model_name='delivery',
            name='updated_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False, verbose_name='updated at'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func='NEW.updated_at := clock_timestamp(); RETURN NEW;', hash='b2f45710e2b1a1d55672e6ad499e2494fbf8023a', operation='UPDATE', pgid='pgtrigger_delivery_updated_241f8', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_closed_stays_so', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (OLD.route_status = 'CANCELLED' AND NEW.route_status = 'RETURNING' AND OLD.forgotten_at IS NULL AND NEW.last_sequence = OLD.last_sequence + 1 AND NEW.cancelled_at = OLD.cancelled_at AND NEW.cancel_fee = OLD.cancel_fee AND NEW.driver_amount IS NOT DISTINCT FROM OLD.driver_amount) AND OLD IS DISTINCT FROM NEW AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.fee_before_pickup IS NOT DISTINCT FROM NEW.fee_before_pickup AND OLD.retry_fee IS NOT DISTINCT FROM NEW.retry_fee AND OLD.return_fee IS NOT DISTINCT FROM NEW.return_fee AND OLD.missed_deadline IS NOT DISTINCT FROM NEW.missed_deadline AND OLD.driver_amount IS NOT DISTINCT FROM NEW.driver_amount AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='1dca0e2636feac1164f978cb431ee5175e6a63f2', operation='UPDATE', pgid='pgtrigger_delivery_closed_stays_so_13ad6', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dropoffoptions',
            trigger=pgtrigger.compiler.Trigger(name='dropoff_options_update_delivery', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n        UPDATE delivery_delivery SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM delivery_delivery WHERE id = ANY(ARRAY(SELECT delivery_id FROM delivery_stop WHERE id = NEW.stop_id)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='9eff3e108e79164502d3a2f3bd8b0933ee7e31ba', operation='UPDATE OF "instructions", "contact_email", "on_failure"', pgid='pgtrigger_dropoff_options_update_delivery_20819', table='delivery_dropoffoptions', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='proofphoto',
            trigger=pgtrigger.compiler.Trigger(name='photo_updates_delivery', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n        UPDATE delivery_delivery SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM delivery_delivery WHERE id = ANY(ARRAY(SELECT delivery_id FROM delivery_stop WHERE id = NEW.stop_id)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='ede300e15362f9a7a00ba0b6935a2d6457e8a80c', operation='INSERT', pgid='pgtrigger_photo_updates_delivery_46b00', table='delivery_proofphoto', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_updates_delivery', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n        UPDATE delivery_delivery SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM delivery_delivery WHERE id = ANY(ARRAY(SELECT NEW.delivery_id)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='f9b7ce301cec2964afbb2c74561735e3f41812e0', operation='UPDATE OF "contact_name", "contact_phone", "address", "latitude", "longitude", "forgotten_at"', pgid='pgtrigger_stop_updates_delivery_a368c', table='delivery_stop', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stopchange',
            trigger=pgtrigger.compiler.Trigger(name='stop_change_updates_delivery', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n        UPDATE delivery_delivery SET updated_at = updated_at WHERE id = ANY(ARRAY(\n            SELECT id FROM delivery_delivery WHERE id = ANY(ARRAY(SELECT delivery_id FROM delivery_stop WHERE id = NEW.stop_id)) AND updated_at < transaction_timestamp()\n            ORDER BY id FOR NO KEY UPDATE\n        ));\n        RETURN NULL;\n    ', hash='559b20e7889dc23e3d3f8286e16f60622290cca7', operation='INSERT', pgid='pgtrigger_stop_change_updates_delivery_25a4a', table='delivery_stopchange', when='AFTER')),  # pragma: allowlist secret
        ),
    ]

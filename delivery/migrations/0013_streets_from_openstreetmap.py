"""Whether maps have the streets of openstreetmap.org. The history of the rules records it, by new triggers."""
# ruff: noqa: E501  # generated triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("delivery", "0012_earnings_reasons_and_notes"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="dispatchrules",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="dispatchrules",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="dispatchrules",
            name="deleted_delete",
        ),
        migrations.AddField(
            model_name="dispatchrules",
            name="streets_from_openstreetmap",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Where this server has no map of its own, browsers load the pictures of maps from openstreetmap.org, which learns the area that is looked at.",
                verbose_name="streets from openstreetmap.org",
            ),
        ),
        migrations.AddField(
            model_name="dispatchruleschange",
            name="streets_from_openstreetmap",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Where this server has no map of its own, browsers load the pictures of maps from openstreetmap.org, which learns the area that is looked at.",
                verbose_name="streets from openstreetmap.org",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="dispatchrules",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "delivery_dispatchruleschange" ("dispatch_radius_km", "driver_share_percent", "id", "late_minutes_per_km", "late_pickup_minutes", "late_without_driver_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position_fresh_seconds", "road_factor", "routing_time_factor_car", "routing_time_factor_motorcycle", "service_minutes_pickup", "service_minutes_stop", "speed_kmh_car", "speed_kmh_motorcycle", "streets_from_openstreetmap") VALUES (NEW."dispatch_radius_km", NEW."driver_share_percent", NEW."id", NEW."late_minutes_per_km", NEW."late_pickup_minutes", NEW."late_without_driver_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."position_fresh_seconds", NEW."road_factor", NEW."routing_time_factor_car", NEW."routing_time_factor_motorcycle", NEW."service_minutes_pickup", NEW."service_minutes_stop", NEW."speed_kmh_car", NEW."speed_kmh_motorcycle", NEW."streets_from_openstreetmap"); RETURN NULL;',
                    hash="5932755c03c755c1ef592e1ca042445dda501f10",  # pragma: allowlist secret
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_4db41",
                    table="delivery_dispatchrules",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="dispatchrules",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "delivery_dispatchruleschange" ("dispatch_radius_km", "driver_share_percent", "id", "late_minutes_per_km", "late_pickup_minutes", "late_without_driver_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position_fresh_seconds", "road_factor", "routing_time_factor_car", "routing_time_factor_motorcycle", "service_minutes_pickup", "service_minutes_stop", "speed_kmh_car", "speed_kmh_motorcycle", "streets_from_openstreetmap") VALUES (NEW."dispatch_radius_km", NEW."driver_share_percent", NEW."id", NEW."late_minutes_per_km", NEW."late_pickup_minutes", NEW."late_without_driver_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."position_fresh_seconds", NEW."road_factor", NEW."routing_time_factor_car", NEW."routing_time_factor_motorcycle", NEW."service_minutes_pickup", NEW."service_minutes_stop", NEW."speed_kmh_car", NEW."speed_kmh_motorcycle", NEW."streets_from_openstreetmap"); RETURN NULL;',
                    hash="077ee9720820114f4298c68165d692a8976fa8bc",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_77214",
                    table="delivery_dispatchrules",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="dispatchrules",
            trigger=pgtrigger.compiler.Trigger(
                name="deleted_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "delivery_dispatchruleschange" ("dispatch_radius_km", "driver_share_percent", "id", "late_minutes_per_km", "late_pickup_minutes", "late_without_driver_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position_fresh_seconds", "road_factor", "routing_time_factor_car", "routing_time_factor_motorcycle", "service_minutes_pickup", "service_minutes_stop", "speed_kmh_car", "speed_kmh_motorcycle", "streets_from_openstreetmap") VALUES (OLD."dispatch_radius_km", OLD."driver_share_percent", OLD."id", OLD."late_minutes_per_km", OLD."late_pickup_minutes", OLD."late_without_driver_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."position_fresh_seconds", OLD."road_factor", OLD."routing_time_factor_car", OLD."routing_time_factor_motorcycle", OLD."service_minutes_pickup", OLD."service_minutes_stop", OLD."speed_kmh_car", OLD."speed_kmh_motorcycle", OLD."streets_from_openstreetmap"); RETURN NULL;',
                    hash="4f02abe51aa473c0727c6b247ba4fa97332f0743",  # pragma: allowlist secret
                    operation="DELETE",
                    pgid="pgtrigger_deleted_delete_b858d",
                    table="delivery_dispatchrules",
                    when="AFTER",
                ),
            ),
        ),
    ]

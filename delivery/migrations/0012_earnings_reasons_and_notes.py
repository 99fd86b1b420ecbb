"""What drivers earn, offers that they declined, codes of failures, and what receivers tell drivers."""

from decimal import Decimal

import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("delivery", "0011_members_request"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeclinedOffer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("declined_at", models.DateTimeField(verbose_name="declined at")),
            ],
            options={
                "verbose_name": "declined offer",
                "verbose_name_plural": "declined offers",
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="ReceiverNote",
            fields=[
                (
                    "stop",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="receiver_note",
                        serialize=False,
                        to="delivery.stop",
                    ),
                ),
                ("receives", models.CharField(blank=True, max_length=80, verbose_name="who receives")),
                ("hint", models.CharField(blank=True, max_length=160, verbose_name="hint")),
                ("written_at", models.DateTimeField(verbose_name="written at")),
            ],
            options={
                "verbose_name": "note of a receiver",
                "verbose_name_plural": "notes of receivers",
                "default_permissions": (),
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="delivery",
            name="delivery_closed_stays_so",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="tariff",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="tariff",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="tariff",
            name="deleted_delete",
        ),
        migrations.AddField(
            model_name="delivery",
            name="driver_amount",
            field=models.DecimalField(
                decimal_places=2, editable=False, max_digits=10, null=True, verbose_name="earned by the driver"
            ),
        ),
        migrations.AddField(
            model_name="stop",
            name="failure_code",
            field=models.CharField(
                blank=True,
                choices=[
                    ("ABSENT", "Nobody there"),
                    ("REFUSED", "Refused by the receiver"),
                    ("ADDRESS_NOT_FOUND", "Address not found"),
                    ("ADDRESS_INCOMPLETE", "Address incomplete"),
                    ("CLOSED", "Place closed"),
                    ("DAMAGED", "Goods damaged"),
                    ("WRONG_ITEM", "Wrong item"),
                    ("UNSAFE", "Not safe to deliver"),
                    ("PAYMENT", "Problem with the payment"),
                    ("VEHICLE", "Vehicle broke down"),
                    ("OTHER", "Another reason"),
                ],
                max_length=20,
                null=True,
                verbose_name="failure code",
            ),
        ),
        migrations.AddField(
            model_name="tariff",
            name="driver_fixed",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="For each route.",
                max_digits=8,
                null=True,
                validators=[django.core.validators.MinValueValidator(Decimal(0))],
                verbose_name="drivers' fixed amount",
            ),
        ),
        migrations.AddField(
            model_name="tariff",
            name="driver_per_km",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="For each kilometre of the route.",
                max_digits=8,
                null=True,
                validators=[django.core.validators.MinValueValidator(Decimal(0))],
                verbose_name="drivers' amount per km",
            ),
        ),
        migrations.AddField(
            model_name="tariff",
            name="driver_percent",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="Of the price. Empty, like the next two: the share of the rules of dispatch.",
                max_digits=5,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(Decimal(0)),
                    django.core.validators.MaxValueValidator(Decimal(100)),
                ],
                verbose_name="drivers' share",
            ),
        ),
        migrations.AddField(
            model_name="tariffchange",
            name="driver_fixed",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="For each route.",
                max_digits=8,
                null=True,
                validators=[django.core.validators.MinValueValidator(Decimal(0))],
                verbose_name="drivers' fixed amount",
            ),
        ),
        migrations.AddField(
            model_name="tariffchange",
            name="driver_per_km",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="For each kilometre of the route.",
                max_digits=8,
                null=True,
                validators=[django.core.validators.MinValueValidator(Decimal(0))],
                verbose_name="drivers' amount per km",
            ),
        ),
        migrations.AddField(
            model_name="tariffchange",
            name="driver_percent",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="Of the price. Empty, like the next two: the share of the rules of dispatch.",
                max_digits=5,
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(Decimal(0)),
                    django.core.validators.MaxValueValidator(Decimal(100)),
                ],
                verbose_name="drivers' share",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="delivery",
            trigger=pgtrigger.compiler.Trigger(
                name="delivery_closed_stays_so",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.driver_amount IS NOT DISTINCT FROM NEW.driver_amount AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))",
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="75be0ddb40be6fd4ddcd2524a4008329df04cc1c",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_delivery_closed_stays_so_13ad6",
                    table="delivery_delivery",
                    when="BEFORE",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tariff",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "return_share", "vehicle_type") VALUES (NEW."active", NEW."base_fare", NEW."cancel_percent_accepted", NEW."cancel_percent_collected", NEW."driver_fixed", NEW."driver_per_km", NEW."driver_percent", NEW."id", NEW."included_km", NEW."integrator_id", NEW."maximum_kg", NEW."maximum_km", NEW."maximum_litres", NEW."maximum_side_cm", NEW."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."price_per_extra_dropoff", NEW."price_per_km", NEW."return_share", NEW."vehicle_type"); RETURN NULL;',
                    hash="3531f9ecb9b2f0dbc7d1e8ea1250009c2fc8d532",  # pragma: allowlist secret
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_0d134",
                    table="delivery_tariff",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tariff",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "return_share", "vehicle_type") VALUES (NEW."active", NEW."base_fare", NEW."cancel_percent_accepted", NEW."cancel_percent_collected", NEW."driver_fixed", NEW."driver_per_km", NEW."driver_percent", NEW."id", NEW."included_km", NEW."integrator_id", NEW."maximum_kg", NEW."maximum_km", NEW."maximum_litres", NEW."maximum_side_cm", NEW."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."price_per_extra_dropoff", NEW."price_per_km", NEW."return_share", NEW."vehicle_type"); RETURN NULL;',
                    hash="d5a8a95738a9eaa3e284b8a8ed5009fd9d05c00c",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_c2abe",
                    table="delivery_tariff",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="tariff",
            trigger=pgtrigger.compiler.Trigger(
                name="deleted_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "return_share", "vehicle_type") VALUES (OLD."active", OLD."base_fare", OLD."cancel_percent_accepted", OLD."cancel_percent_collected", OLD."driver_fixed", OLD."driver_per_km", OLD."driver_percent", OLD."id", OLD."included_km", OLD."integrator_id", OLD."maximum_kg", OLD."maximum_km", OLD."maximum_litres", OLD."maximum_side_cm", OLD."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."price_per_extra_dropoff", OLD."price_per_km", OLD."return_share", OLD."vehicle_type"); RETURN NULL;',
                    hash="5cb02218d028f7e25cff3d99b2b4c2be98d9e93f",  # pragma: allowlist secret
                    operation="DELETE",
                    pgid="pgtrigger_deleted_delete_b5567",
                    table="delivery_tariff",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="tariff",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("driver_fixed__gte", 0), ("driver_per_km__gte", 0), ("driver_percent__range", (0, 100))
                ),
                name="tariff_driver_pay",
            ),
        ),
        migrations.AddField(
            model_name="declinedoffer",
            name="delivery",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="declined_offers", to="delivery.delivery"
            ),
        ),
        migrations.AddField(
            model_name="declinedoffer",
            name="driver",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="declined_offers",
                to="delivery.driver",
            ),
        ),
        migrations.AddConstraint(
            model_name="declinedoffer",
            constraint=models.UniqueConstraint(fields=("driver", "delivery"), name="offer_declined_once"),
        ),
    ]

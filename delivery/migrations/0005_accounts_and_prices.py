"""Requests by members, what drivers earn and failures cost, hours of service, streets of maps, and addresses that were located.

In a transaction, so that its locks are waited for a second at most. Rows that exist are checked later.
"""
# ruff: noqa: E501  # generated
import django.contrib.postgres.operations
import django.core.validators
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0004_endpoints_and_alerts'),
    ]

    operations = [
        migrations.CreateModel(
            name='LocatedAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('latitude', models.FloatField(verbose_name='latitude')),
                ('longitude', models.FloatField(verbose_name='longitude')),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('precision', models.CharField(choices=[('rooftop', 'rooftop'), ('street', 'street'), ('postcode', 'postcode')], max_length=8)),
                ('created_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('latitude__gte', -90), ('latitude__lte', 90), ('longitude__gte', -180), ('longitude__lte', 180)), name='located_address_on_earth', violation_error_message='Latitude runs from -90 to 90, longitude from -180 to 180, in decimal degrees.'), models.CheckConstraint(condition=models.Q(('precision__in', ['rooftop', 'street', 'postcode'])), name='located_address_precision')],
            },
        ),
        migrations.CreateModel(
            name='ServiceHours',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('time_zone', models.CharField(blank=True, choices=[('America/Noronha', 'Fernando de Noronha'), ('America/Sao_Paulo', 'Brasília, São Paulo'), ('America/Bahia', 'Salvador'), ('America/Maceio', 'Maceió, Aracaju'), ('America/Recife', 'Recife'), ('America/Fortaleza', 'Fortaleza'), ('America/Belem', 'Belém'), ('America/Araguaina', 'Palmas'), ('America/Santarem', 'Santarém'), ('America/Campo_Grande', 'Campo Grande'), ('America/Cuiaba', 'Cuiabá'), ('America/Porto_Velho', 'Porto Velho'), ('America/Manaus', 'Manaus'), ('America/Boa_Vista', 'Boa Vista'), ('America/Eirunepe', 'Eirunepé'), ('America/Rio_Branco', 'Rio Branco')], help_text='Empty: that of the service.', max_length=30, verbose_name='time zone')),
                ('monday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Monday')),
                ('tuesday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Tuesday')),
                ('wednesday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Wednesday')),
                ('thursday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Thursday')),
                ('friday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Friday')),
                ('saturday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Saturday')),
                ('sunday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Sunday')),
                ('closed_on_holidays', models.BooleanField(default=False, help_text='Those of Brazil by law. A day off of the same date has its own hours.', verbose_name='closed on national holidays')),
                ('days_off', models.CharField(blank=True, help_text="A line for each: date, the hours of that day if there are any, and a name, such as '24/12/2026 08:00-12:00 Christmas Eve'.", max_length=5000, verbose_name='days off')),
                ('integrator', models.ForeignKey(blank=True, db_index=False, help_text='Whose deliveries these hours are for. Empty: everybody without hours of their own.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='service_hours', to='delivery.integrator', verbose_name='account')),
            ],
            options={
                'verbose_name': 'hours of service',
                'verbose_name_plural': 'hours of service',
                'ordering': ['integrator__name', 'id'],
                'constraints': [models.UniqueConstraint(fields=('integrator',), name='service_hours_one_of_a_scope', nulls_distinct=False, violation_error_message='There are hours of this account or the installation already.'), models.CheckConstraint(condition=models.Q(('time_zone__in', ['', 'America/Noronha', 'America/Sao_Paulo', 'America/Bahia', 'America/Maceio', 'America/Recife', 'America/Fortaleza', 'America/Belem', 'America/Araguaina', 'America/Santarem', 'America/Campo_Grande', 'America/Cuiaba', 'America/Porto_Velho', 'America/Manaus', 'America/Boa_Vista', 'America/Eirunepe', 'America/Rio_Branco'])), name='service_hours_time_zone'), models.CheckConstraint(condition=models.Q(('friday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('monday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('saturday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('sunday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('thursday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('tuesday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('wednesday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$')), name='service_hours_spans'), models.CheckConstraint(condition=models.Q(('friday', ''), ('monday', ''), ('saturday', ''), ('sunday', ''), ('thursday', ''), ('tuesday', ''), ('wednesday', ''), _negated=True), name='service_hours_some_day', violation_error_message='Fill in the hours of at least one day.'), models.CheckConstraint(condition=models.Q(('days_off__regex', '^([0-9]{4}-[01][0-9]-[0-3][0-9]( ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)? [^\\n]+(\\n[0-9]{4}-[01][0-9]-[0-3][0-9]( ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)? [^\\n]+)*)?$')), name='service_hours_days_off')],
            },
        ),
        migrations.CreateModel(
            name='ServiceHoursChange',
            fields=[
                ('pgh_id', models.AutoField(primary_key=True, serialize=False)),
                ('pgh_created_at', models.DateTimeField(auto_now_add=True, verbose_name='when')),
                ('pgh_label', models.TextField(choices=[('added', 'Added'), ('changed', 'Changed'), ('deleted', 'Deleted')], verbose_name='change')),
                ('pgh_context', pghistory.utils.JSONField(null=True)),
                ('id', models.BigIntegerField()),
                ('time_zone', models.CharField(blank=True, choices=[('America/Noronha', 'Fernando de Noronha'), ('America/Sao_Paulo', 'Brasília, São Paulo'), ('America/Bahia', 'Salvador'), ('America/Maceio', 'Maceió, Aracaju'), ('America/Recife', 'Recife'), ('America/Fortaleza', 'Fortaleza'), ('America/Belem', 'Belém'), ('America/Araguaina', 'Palmas'), ('America/Santarem', 'Santarém'), ('America/Campo_Grande', 'Campo Grande'), ('America/Cuiaba', 'Cuiabá'), ('America/Porto_Velho', 'Porto Velho'), ('America/Manaus', 'Manaus'), ('America/Boa_Vista', 'Boa Vista'), ('America/Eirunepe', 'Eirunepé'), ('America/Rio_Branco', 'Rio Branco')], help_text='Empty: that of the service.', max_length=30, verbose_name='time zone')),
                ('monday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Monday')),
                ('tuesday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Tuesday')),
                ('wednesday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Wednesday')),
                ('thursday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Thursday')),
                ('friday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Friday')),
                ('saturday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Saturday')),
                ('sunday', models.CharField(blank=True, default='00:00-24:00', max_length=100, verbose_name='Sunday')),
                ('closed_on_holidays', models.BooleanField(default=False, help_text='Those of Brazil by law. A day off of the same date has its own hours.', verbose_name='closed on national holidays')),
                ('days_off', models.CharField(blank=True, help_text="A line for each: date, the hours of that day if there are any, and a name, such as '24/12/2026 08:00-12:00 Christmas Eve'.", max_length=5000, verbose_name='days off')),
                ('integrator', models.ForeignKey(blank=True, db_constraint=False, help_text='Whose deliveries these hours are for. Empty: everybody without hours of their own.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', related_query_name='+', to='delivery.integrator', verbose_name='account')),
                ('pgh_obj', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='row_changes', to='delivery.servicehours')),
            ],
            options={
                'verbose_name': 'change of the hours of service',
                'verbose_name_plural': 'changes of the hours of service',
                'ordering': ['-pgh_id'],
                'abstract': False,
                'indexes': [models.Index(fields=['pgh_created_at'], name='servicehourschange_at')],
            },
        ),
        migrations.AddField(
            model_name='integrator',
            name='refuse_repeated_external_ids',
            field=models.BooleanField(db_default=False, default=False, help_text='A request is refused if the account has used one of its externalIds within 24 hours for an order that has not failed. Otherwise it is accepted with a warning.', verbose_name='refuse repeated external ids'),
        ),
        migrations.AddField(
            model_name='integrator',
            name='approve_pickup_points',
            field=models.BooleanField(db_default=False, default=False, help_text='Pickup points that members add, move or activate wait until staff approve them in the panel.', verbose_name='approve pickup points'),
        ),
        migrations.AddField(
            model_name='integrator',
            name='on_failure',
            field=models.CharField(choices=[('RETURN', 'Back to A'), ('RETRY', 'One more attempt'), ('LEAVE', 'May be left at the door')], db_default='RETURN', default='RETURN', help_text='Of drop-offs that are requested without onFailure.', max_length=6, verbose_name='when a drop-off fails'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='integrator',
            constraint=models.CheckConstraint(condition=models.Q(('on_failure__in', ['RETURN', 'RETRY', 'LEAVE'])), name='integrator_on_failure'),
        ),
        migrations.AddField(
            model_name='integratormembership',
            name='may_request',
            field=models.BooleanField(db_default=True, default=True, verbose_name='requests deliveries'),
        ),
        migrations.AddField(
            model_name='pickuppoint',
            name='awaits_approval',
            field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name='waits for approval'),
        ),
        migrations.AddConstraint(
            model_name='pickuppoint',
            constraint=models.CheckConstraint(condition=models.Q(('awaits_approval', False), ('active', False), _connector='OR'), name='pickup_point_waits_inactive'),
        ),
        migrations.AddField(
            model_name='token',
            name='to_hand_over',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('token_issued', 'Token issued'), ('token_rotated', 'Token rotated'), ('token_revoked', 'Token revoked'), ('token_renamed', 'Token renamed'), ('url_set', 'Webhook URL set'), ('filter_set', 'Filter of webhooks set'), ('endpoint_added', 'Webhook endpoint added'), ('endpoint_removed', 'Webhook endpoint removed'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('account_suspended', 'Account suspended'), ('alerts_set', 'URL of alerts set'), ('alert_times_set', 'Times of alerts set'), ('alert_tested', 'Test alert sent'), ('person_invited', 'Person invited'), ('invitation_resent', 'Invitation sent again'), ('invitation_revoked', 'Invitation revoked'), ('person_joined', 'Person joined'), ('role_changed', 'Role changed'), ('person_removed', 'Person removed'), ('suspension_lifted', 'Suspension lifted'), ('any_pickup_allowed', 'Pick up anywhere: allowed'), ('any_pickup_ended', 'Pick up anywhere: no longer allowed'), ('repeats_refused', 'Repeated external ids: refused'), ('repeats_accepted', 'Repeated external ids: accepted'), ('approval_begun', 'Pickup points: approved by staff'), ('approval_ended', 'Pickup points: no approval needed'), ('requests_allowed', 'Requesting deliveries: allowed'), ('requests_ended', 'Requesting deliveries: no longer allowed'), ('point_added', 'Pickup point added'), ('point_changed', 'Pickup point changed'), ('point_activated', 'Pickup point activated'), ('point_deactivated', 'Pickup point deactivated'), ('point_approved', 'Pickup point approved'), ('point_removed', 'Pickup point removed'), ('policy_set', 'Policy of failures set'), ('stop_changed', 'Drop-off changed'), ('failure_answered', 'Failure answered')], max_length=20, verbose_name='action'),
        ),
        migrations.AddField(
            model_name='refuseddeliverycall',
            name='reasons',
            field=models.JSONField(null=True),
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
            model_name='tariff',
            name='driver_fixed',
            field=models.DecimalField(blank=True, decimal_places=2, help_text='For each route.', max_digits=8, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name="drivers' fixed amount"),
        ),
        migrations.AddField(
            model_name='tariff',
            name='driver_per_km',
            field=models.DecimalField(blank=True, decimal_places=2, help_text='For each kilometre of the route.', max_digits=8, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name="drivers' amount per km"),
        ),
        migrations.AddField(
            model_name='tariff',
            name='driver_percent',
            field=models.DecimalField(blank=True, decimal_places=2, help_text='Of the price. Empty, like the next two: the share of the rules of dispatch.', max_digits=5, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))], verbose_name="drivers' share"),
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
        migrations.AddConstraint(
            model_name='tariff',
            constraint=models.CheckConstraint(condition=models.Q(('driver_fixed__gte', 0), ('driver_per_km__gte', 0), ('driver_percent__range', (0, 100))), name='tariff_driver_pay'),
        ),
        migrations.AddConstraint(
            model_name='tariff',
            constraint=models.CheckConstraint(condition=models.Q(('retry_percent__range', (0, 100)), ('return_percent__range', (0, 100))), name='tariff_shares_of_failures'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tariff',
            trigger=pgtrigger.compiler.Trigger(name='added_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "retry_percent", "return_percent", "return_share", "vehicle_type") VALUES (NEW."active", NEW."base_fare", NEW."cancel_percent_accepted", NEW."cancel_percent_collected", NEW."driver_fixed", NEW."driver_per_km", NEW."driver_percent", NEW."id", NEW."included_km", NEW."integrator_id", NEW."maximum_kg", NEW."maximum_km", NEW."maximum_litres", NEW."maximum_side_cm", NEW."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."price_per_extra_dropoff", NEW."price_per_km", NEW."retry_percent", NEW."return_percent", NEW."return_share", NEW."vehicle_type"); RETURN NULL;', hash='f6d74b19d8b159a8a5b5264d5c06dae19909e166', operation='INSERT', pgid='pgtrigger_added_insert_0d134', table='delivery_tariff', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tariff',
            trigger=pgtrigger.compiler.Trigger(name='changed_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "retry_percent", "return_percent", "return_share", "vehicle_type") VALUES (NEW."active", NEW."base_fare", NEW."cancel_percent_accepted", NEW."cancel_percent_collected", NEW."driver_fixed", NEW."driver_per_km", NEW."driver_percent", NEW."id", NEW."included_km", NEW."integrator_id", NEW."maximum_kg", NEW."maximum_km", NEW."maximum_litres", NEW."maximum_side_cm", NEW."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."price_per_extra_dropoff", NEW."price_per_km", NEW."retry_percent", NEW."return_percent", NEW."return_share", NEW."vehicle_type"); RETURN NULL;', hash='bf9106bc6047af8988734362056aad54c528ee59', operation='UPDATE', pgid='pgtrigger_changed_update_c2abe', table='delivery_tariff', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tariff',
            trigger=pgtrigger.compiler.Trigger(name='deleted_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_tariffchange" ("active", "base_fare", "cancel_percent_accepted", "cancel_percent_collected", "driver_fixed", "driver_per_km", "driver_percent", "id", "included_km", "integrator_id", "maximum_kg", "maximum_km", "maximum_litres", "maximum_side_cm", "minimum_fare", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "price_per_extra_dropoff", "price_per_km", "retry_percent", "return_percent", "return_share", "vehicle_type") VALUES (OLD."active", OLD."base_fare", OLD."cancel_percent_accepted", OLD."cancel_percent_collected", OLD."driver_fixed", OLD."driver_per_km", OLD."driver_percent", OLD."id", OLD."included_km", OLD."integrator_id", OLD."maximum_kg", OLD."maximum_km", OLD."maximum_litres", OLD."maximum_side_cm", OLD."minimum_fare", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."price_per_extra_dropoff", OLD."price_per_km", OLD."retry_percent", OLD."return_percent", OLD."return_share", OLD."vehicle_type"); RETURN NULL;', hash='618faf8c3706c2e0e231790ace503658d39fe879', operation='DELETE', pgid='pgtrigger_deleted_delete_b5567', table='delivery_tariff', when='AFTER')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='tariffchange',
            name='driver_fixed',
            field=models.DecimalField(blank=True, decimal_places=2, help_text='For each route.', max_digits=8, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name="drivers' fixed amount"),
        ),
        migrations.AddField(
            model_name='tariffchange',
            name='driver_per_km',
            field=models.DecimalField(blank=True, decimal_places=2, help_text='For each kilometre of the route.', max_digits=8, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0'))], verbose_name="drivers' amount per km"),
        ),
        migrations.AddField(
            model_name='tariffchange',
            name='driver_percent',
            field=models.DecimalField(blank=True, decimal_places=2, help_text='Of the price. Empty, like the next two: the share of the rules of dispatch.', max_digits=5, null=True, validators=[django.core.validators.MinValueValidator(Decimal('0')), django.core.validators.MaxValueValidator(Decimal('100'))], verbose_name="drivers' share"),
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
        pgtrigger.migrations.RemoveTrigger(
            model_name='dispatchrules',
            name='added_insert',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dispatchrules',
            name='changed_update',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dispatchrules',
            name='deleted_delete',
        ),
        migrations.AddField(
            model_name='dispatchrules',
            name='streets_from_openstreetmap',
            field=models.BooleanField(db_default=False, default=False, help_text='Where this server has no map of its own, browsers load the pictures of maps from openstreetmap.org, which learns the area that is looked at.', verbose_name='streets from openstreetmap.org'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dispatchrules',
            trigger=pgtrigger.compiler.Trigger(name='added_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_dispatchruleschange" ("dispatch_radius_km", "driver_share_percent", "id", "late_minutes_per_km", "late_pickup_minutes", "late_without_driver_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position_fresh_seconds", "road_factor", "routing_time_factor_car", "routing_time_factor_motorcycle", "service_minutes_pickup", "service_minutes_stop", "speed_kmh_car", "speed_kmh_motorcycle", "streets_from_openstreetmap") VALUES (NEW."dispatch_radius_km", NEW."driver_share_percent", NEW."id", NEW."late_minutes_per_km", NEW."late_pickup_minutes", NEW."late_without_driver_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."position_fresh_seconds", NEW."road_factor", NEW."routing_time_factor_car", NEW."routing_time_factor_motorcycle", NEW."service_minutes_pickup", NEW."service_minutes_stop", NEW."speed_kmh_car", NEW."speed_kmh_motorcycle", NEW."streets_from_openstreetmap"); RETURN NULL;', hash='5932755c03c755c1ef592e1ca042445dda501f10', operation='INSERT', pgid='pgtrigger_added_insert_4db41', table='delivery_dispatchrules', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dispatchrules',
            trigger=pgtrigger.compiler.Trigger(name='changed_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_dispatchruleschange" ("dispatch_radius_km", "driver_share_percent", "id", "late_minutes_per_km", "late_pickup_minutes", "late_without_driver_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position_fresh_seconds", "road_factor", "routing_time_factor_car", "routing_time_factor_motorcycle", "service_minutes_pickup", "service_minutes_stop", "speed_kmh_car", "speed_kmh_motorcycle", "streets_from_openstreetmap") VALUES (NEW."dispatch_radius_km", NEW."driver_share_percent", NEW."id", NEW."late_minutes_per_km", NEW."late_pickup_minutes", NEW."late_without_driver_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."position_fresh_seconds", NEW."road_factor", NEW."routing_time_factor_car", NEW."routing_time_factor_motorcycle", NEW."service_minutes_pickup", NEW."service_minutes_stop", NEW."speed_kmh_car", NEW."speed_kmh_motorcycle", NEW."streets_from_openstreetmap"); RETURN NULL;', hash='077ee9720820114f4298c68165d692a8976fa8bc', operation='UPDATE', pgid='pgtrigger_changed_update_77214', table='delivery_dispatchrules', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dispatchrules',
            trigger=pgtrigger.compiler.Trigger(name='deleted_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_dispatchruleschange" ("dispatch_radius_km", "driver_share_percent", "id", "late_minutes_per_km", "late_pickup_minutes", "late_without_driver_minutes", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position_fresh_seconds", "road_factor", "routing_time_factor_car", "routing_time_factor_motorcycle", "service_minutes_pickup", "service_minutes_stop", "speed_kmh_car", "speed_kmh_motorcycle", "streets_from_openstreetmap") VALUES (OLD."dispatch_radius_km", OLD."driver_share_percent", OLD."id", OLD."late_minutes_per_km", OLD."late_pickup_minutes", OLD."late_without_driver_minutes", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."position_fresh_seconds", OLD."road_factor", OLD."routing_time_factor_car", OLD."routing_time_factor_motorcycle", OLD."service_minutes_pickup", OLD."service_minutes_stop", OLD."speed_kmh_car", OLD."speed_kmh_motorcycle", OLD."streets_from_openstreetmap"); RETURN NULL;', hash='4f02abe51aa473c0727c6b247ba4fa97332f0743', operation='DELETE', pgid='pgtrigger_deleted_delete_b858d', table='delivery_dispatchrules', when='AFTER')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='dispatchruleschange',
            name='streets_from_openstreetmap',
            field=models.BooleanField(db_default=False, default=False, help_text='Where this server has no map of its own, browsers load the pictures of maps from openstreetmap.org, which learns the area that is looked at.', verbose_name='streets from openstreetmap.org'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehours',
            trigger=pgtrigger.compiler.Trigger(name='added_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_servicehourschange" ("closed_on_holidays", "days_off", "friday", "id", "integrator_id", "monday", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "saturday", "sunday", "thursday", "time_zone", "tuesday", "wednesday") VALUES (NEW."closed_on_holidays", NEW."days_off", NEW."friday", NEW."id", NEW."integrator_id", NEW."monday", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."saturday", NEW."sunday", NEW."thursday", NEW."time_zone", NEW."tuesday", NEW."wednesday"); RETURN NULL;', hash='8bb2cef3210e195b3eacce746faa5cdccfdb3e39', operation='INSERT', pgid='pgtrigger_added_insert_3e0bc', table='delivery_servicehours', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehours',
            trigger=pgtrigger.compiler.Trigger(name='changed_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_servicehourschange" ("closed_on_holidays", "days_off", "friday", "id", "integrator_id", "monday", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "saturday", "sunday", "thursday", "time_zone", "tuesday", "wednesday") VALUES (NEW."closed_on_holidays", NEW."days_off", NEW."friday", NEW."id", NEW."integrator_id", NEW."monday", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."saturday", NEW."sunday", NEW."thursday", NEW."time_zone", NEW."tuesday", NEW."wednesday"); RETURN NULL;', hash='51e4f75d39db801f8b085c237eeaa63f5b3af205', operation='UPDATE', pgid='pgtrigger_changed_update_f6403', table='delivery_servicehours', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehours',
            trigger=pgtrigger.compiler.Trigger(name='deleted_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_servicehourschange" ("closed_on_holidays", "days_off", "friday", "id", "integrator_id", "monday", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "saturday", "sunday", "thursday", "time_zone", "tuesday", "wednesday") VALUES (OLD."closed_on_holidays", OLD."days_off", OLD."friday", OLD."id", OLD."integrator_id", OLD."monday", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."saturday", OLD."sunday", OLD."thursday", OLD."time_zone", OLD."tuesday", OLD."wednesday"); RETURN NULL;', hash='92b17de2339ad22b11703b56866077dab2c0db74', operation='DELETE', pgid='pgtrigger_deleted_delete_5d1dc', table='delivery_servicehours', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehourschange',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='1c341bbb1c7db7d187922097c06198edcc1f5ffe', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_6dec2', table='delivery_servicehourschange', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

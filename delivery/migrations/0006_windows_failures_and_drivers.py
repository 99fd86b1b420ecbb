"""Windows, failures and their amounts, repeated externalIds, goods in hand, and what drivers and receivers tell each other.

In a transaction, so that its locks are waited for a second at most. The next migration fills columns, checks the rows that
exist and makes the indexes. Drivers on duty have their hours counted from now on: since when they have been is not known.
"""
# ruff: noqa: E501  # generated
import django.contrib.postgres.operations
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0005_accounts_and_prices'),
    ]

    operations = [
        migrations.CreateModel(
            name='DeclinedOffer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('declined_at', models.DateTimeField(verbose_name='declined at')),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='declined_offers', to='delivery.delivery')),
                ('driver', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='declined_offers', to='delivery.driver')),
            ],
            options={
                'verbose_name': 'declined offer',
                'verbose_name_plural': 'declined offers',
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('driver', 'delivery'), name='offer_declined_once')],
            },
        ),
        migrations.CreateModel(
            name='DutyChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('on_duty', models.BooleanField()),
                ('at', models.DateTimeField()),
                ('driver', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='duty_changes', to='delivery.driver')),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['driver', 'at'], name='duty_change_of_driver')],
            },
        ),
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
                'indexes': [models.Index(condition=models.Q(('back_at', None)), fields=['reported_at', 'id'], name='goods_in_hand_out'), models.Index(fields=['driver'], name='goods_in_hand_of_driver')],
                'constraints': [models.UniqueConstraint(fields=('delivery', 'driver'), name='goods_in_hand_once'), models.CheckConstraint(condition=models.Q(models.Q(('back_at', None), ('back_by', '')), models.Q(('back_at__isnull', False), models.Q(('back_by', ''), _negated=True)), _connector='OR'), name='goods_in_hand_back_whole')],
            },
        ),
        migrations.CreateModel(
            name='ReceiverNote',
            fields=[
                ('stop', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='receiver_note', serialize=False, to='delivery.stop')),
                ('receives', models.CharField(blank=True, max_length=80, verbose_name='who receives')),
                ('hint', models.CharField(blank=True, max_length=160, verbose_name='hint')),
                ('written_at', models.DateTimeField(verbose_name='written at')),
            ],
            options={
                'verbose_name': 'note of a receiver',
                'verbose_name_plural': 'notes of receivers',
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ReportedTrouble',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('trouble', models.CharField(choices=[('untaken', 'Without a driver'), ('late', 'Late'), ('attempt', 'First attempt failed'), ('failed', 'Not delivered')], max_length=7)),
                ('at', models.DateTimeField()),
                ('delivery', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='delivery.delivery')),
                ('point', models.CharField(blank=True, db_default='', default='', max_length=1)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['at'], name='reported_trouble_age')],
                'constraints': [models.CheckConstraint(condition=models.Q(('trouble__in', ['untaken', 'late', 'attempt', 'failed'])), name='reported_trouble'), models.UniqueConstraint(models.F('delivery'), models.F('trouble'), models.F('point'), name='one_report_per_trouble_and_point')],
            },
        ),
        migrations.CreateModel(
            name='StopChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('contacts', models.BooleanField(default=False, verbose_name='contact')),
                ('instructions', models.BooleanField(default=False, verbose_name='instructions')),
                ('answer', models.CharField(blank=True, choices=[('RETURN', 'Bring it back'), ('RETRY', 'Try again'), ('LEAVE', 'Leave it at the door')], max_length=6, verbose_name='answer')),
                ('by', models.CharField(max_length=200, verbose_name='by')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('stop', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='delivery.stop')),
            ],
            options={
                'verbose_name': 'change of a stop',
                'verbose_name_plural': 'changes of stops',
                'ordering': ['id'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('contacts', True), ('instructions', True), models.Q(('answer', ''), _negated=True), _connector='OR'), name='stop_change_of_something'), models.CheckConstraint(condition=models.Q(('answer__in', ['', 'RETURN', 'RETRY', 'LEAVE'])), name='stop_change_answer')],
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_offer_renewed_by_release',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='delivery',
            name='delivery_closed_stays_so',
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
            name='driver_amount',
            field=models.DecimalField(decimal_places=2, editable=False, max_digits=10, null=True, verbose_name='earned by the driver'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='accepted_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='first accepted at'),
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
            model_name='delivery',
            name='missed_deadline',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='delivery',
            name='ready_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='ready at'),
        ),
        migrations.AddField(
            model_name='delivery',
            name='fee_before_pickup',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='delivery',
            name='has_failed_stop',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='mode',
            field=models.CharField(choices=[('DEFAULT', 'From A to the points'), ('RETURN', 'From A to the points, and back to A'), ('REVERSE', 'From the points to A')], max_length=7, verbose_name='mode'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='route_status',
            field=models.CharField(choices=[('SCHEDULED', 'Scheduled'), ('AVAILABLE', 'Waiting for a driver'), ('ACCEPTED', 'Driver assigned'), ('COLLECTED', 'On the way'), ('RETURNING', 'Returning'), ('FINISHED', 'Finished'), ('CANCELLED', 'Cancelled'), ('EXPIRED', 'Offer expired')], max_length=9, verbose_name='route status'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='token',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='delivery.token', verbose_name='requested with'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['SCHEDULED', 'AVAILABLE', 'EXPIRED']), ('driver', None)), models.Q(('route_status__in', ['ACCEPTED', 'COLLECTED', 'RETURNING', 'FINISHED']), ('driver__isnull', False)), ('route_status__in', ['CANCELLED']), _connector='OR'), name='delivery_driver_fits_route'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['SCHEDULED', 'AVAILABLE']), ('status__in', ['PENDING'])), models.Q(('route_status__in', ['ACCEPTED']), ('status__in', ['ACCEPT'])), models.Q(('route_status__in', ['COLLECTED']), ('status__in', ['COLLECTED'])), models.Q(('route_status__in', ['RETURNING']), ('status__in', ['COLLECTED', 'FAILED'])), models.Q(('route_status__in', ['FINISHED']), ('status__in', ['DELIVERED', 'FAILED'])), models.Q(('route_status__in', ['CANCELLED', 'EXPIRED']), ('status__in', ['FAILED'])), _connector='OR'), name='delivery_status_fits_route'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['SCHEDULED']), _negated=True), models.Q(('offer_at__isnull', False), ('offer_at__lt', models.F('scheduled_for')), ('scheduled_for__isnull', False)), _connector='OR'), name='delivery_scheduled_has_its_moments'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(('retry_fee__gte', 0), ('return_fee__gte', 0)), name='delivery_fees_not_negative'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_first_acceptance', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."accepted_at" IS NOT NULL AND OLD."accepted_at" IS DISTINCT FROM (NEW."accepted_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='aae2654ba991c8befcd6bcd901eb073ef47349e7', operation='UPDATE', pgid='pgtrigger_delivery_first_acceptance_e1bb1', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
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
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."route_id" IS DISTINCT FROM (NEW."route_id") OR OLD."integrator_id" IS DISTINCT FROM (NEW."integrator_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."token_id" IS DISTINCT FROM (NEW."token_id") OR OLD."vehicle_type" IS DISTINCT FROM (NEW."vehicle_type") OR OLD."mode" IS DISTINCT FROM (NEW."mode") OR OLD."packages" IS DISTINCT FROM (NEW."packages") OR OLD."shipping_value" IS DISTINCT FROM (NEW."shipping_value") OR OLD."distance_km" IS DISTINCT FROM (NEW."distance_km") OR OLD."cancel_percent_accepted" IS DISTINCT FROM (NEW."cancel_percent_accepted") OR OLD."cancel_percent_collected" IS DISTINCT FROM (NEW."cancel_percent_collected") OR OLD."retry_percent" IS DISTINCT FROM (NEW."retry_percent") OR OLD."return_percent" IS DISTINCT FROM (NEW."return_percent") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."scheduled_for" IS DISTINCT FROM (NEW."scheduled_for") OR OLD."pickup_deadline_at" IS DISTINCT FROM (NEW."pickup_deadline_at") OR OLD."ready_at" IS DISTINCT FROM (NEW."ready_at") OR OLD."deadline_at" IS DISTINCT FROM (NEW."deadline_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='502235b063c6e8b9317d22f29217d98a7fbb1b8c', operation='UPDATE', pgid='pgtrigger_delivery_immutable_a0206', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_amounts_change_by_moves', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."last_sequence" = (NEW."last_sequence") AND (OLD."cancel_fee" IS DISTINCT FROM (NEW."cancel_fee") OR OLD."retry_fee" IS DISTINCT FROM (NEW."retry_fee") OR OLD."return_fee" IS DISTINCT FROM (NEW."return_fee") OR OLD."driver_amount" IS DISTINCT FROM (NEW."driver_amount")))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='720e9a5da78e0204671190cf1b75a9ea77ec7888', operation='UPDATE', pgid='pgtrigger_delivery_amounts_change_by_moves_cecf7', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='delivery',
            trigger=pgtrigger.compiler.Trigger(name='delivery_closed_stays_so', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.route_status IN ('FINISHED', 'CANCELLED', 'EXPIRED') AND NOT (OLD.route_status = 'CANCELLED' AND NEW.route_status = 'RETURNING' AND OLD.forgotten_at IS NULL AND NEW.last_sequence = OLD.last_sequence + 1 AND NEW.cancelled_at = OLD.cancelled_at AND NEW.cancel_fee = OLD.cancel_fee AND NEW.driver_amount IS NOT DISTINCT FROM OLD.driver_amount) AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.status IS NOT DISTINCT FROM NEW.status AND OLD.route_status IS NOT DISTINCT FROM NEW.route_status AND OLD.driver_id IS NOT DISTINCT FROM NEW.driver_id AND OLD.offer_expires_at IS NOT DISTINCT FROM NEW.offer_expires_at AND OLD.closed_at IS NOT DISTINCT FROM NEW.closed_at AND OLD.cancelled_at IS NOT DISTINCT FROM NEW.cancelled_at AND OLD.cancel_fee IS NOT DISTINCT FROM NEW.cancel_fee AND OLD.fee_before_pickup IS NOT DISTINCT FROM NEW.fee_before_pickup AND OLD.retry_fee IS NOT DISTINCT FROM NEW.retry_fee AND OLD.return_fee IS NOT DISTINCT FROM NEW.return_fee AND OLD.missed_deadline IS NOT DISTINCT FROM NEW.missed_deadline AND OLD.driver_amount IS NOT DISTINCT FROM NEW.driver_amount AND OLD.last_sequence IS NOT DISTINCT FROM NEW.last_sequence AND NEW.cancel_reason IN (OLD.cancel_reason, '')))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='2d734420b5451579acd0c7dbb71451571fa2e8c7', operation='UPDATE', pgid='pgtrigger_delivery_closed_stays_so_13ad6', table='delivery_delivery', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_forgotten',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_set_is_locked',
        ),
        migrations.AddField(
            model_name='stop',
            name='external_id_digest',
            field=models.BinaryField(max_length=32, null=True),
        ),
        migrations.AddField(
            model_name='stop',
            name='failure_code',
            field=models.CharField(blank=True, choices=[('ABSENT', 'Nobody there'), ('REFUSED', 'Refused at the door'), ('ADDRESS_NOT_FOUND', 'Address not found'), ('ADDRESS_INCOMPLETE', 'Address incomplete'), ('CLOSED', 'Place closed'), ('DAMAGED', 'Goods damaged'), ('WRONG_ITEM', 'Wrong item'), ('UNSAFE', 'Not a safe place'), ('PAYMENT', 'Problem with the payment'), ('VEHICLE', 'Vehicle broke down'), ('OTHER', 'Another reason')], max_length=20, null=True, verbose_name='failure code'),
        ),
        migrations.AddField(
            model_name='stop',
            name='tried_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='first attempt at'),
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
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='stop',
            constraint=models.CheckConstraint(condition=models.Q(('tried_at', None), ('status__in', ['COLLECTED', 'DELIVERED', 'FAILED']), _connector='OR'), name='stop_tried_after_pickup'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_forgotten', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN ((OLD.contact_name IS DISTINCT FROM NEW.contact_name AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.contact_name = '' OR OLD.status IN ('PENDING', 'ACCEPT', 'COLLECTED'))) OR (OLD.contact_phone IS DISTINCT FROM NEW.contact_phone AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.contact_phone = '' OR OLD.status IN ('PENDING', 'ACCEPT', 'COLLECTED'))) OR (OLD.address IS DISTINCT FROM NEW.address AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.address <@ OLD.address)) OR (OLD.latitude IS DISTINCT FROM NEW.latitude AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.latitude = round(OLD.latitude::numeric, 1)::double precision)) OR (OLD.longitude IS DISTINCT FROM NEW.longitude AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND NEW.longitude = round(OLD.longitude::numeric, 1)::double precision)) OR (OLD.forgotten_at IS DISTINCT FROM NEW.forgotten_at AND NOT (coalesce(current_setting('rota.forgetting', TRUE), '') = 'on' AND OLD.forgotten_at IS NULL)))", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b5475b16120a12be4edc5d26a5fa41fa3e11df56', operation='UPDATE', pgid='pgtrigger_stop_forgotten_78336', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_tried_once', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."tried_at" IS NOT NULL AND OLD."tried_at" IS DISTINCT FROM (NEW."tried_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='6c36fac5e83d650cfb1f0b6c16a32bf9a19e7b9e', operation='UPDATE', pgid='pgtrigger_stop_tried_once_6b991', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."index" IS DISTINCT FROM (NEW."index") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."external_id_digest" IS DISTINCT FROM (NEW."external_id_digest") OR OLD."ready_at" IS DISTINCT FROM (NEW."ready_at") OR OLD."deadline_at" IS DISTINCT FROM (NEW."deadline_at"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='c15993590b53bfd3c51c06d1f33ed64a2ff185a6', operation='UPDATE', pgid='pgtrigger_stop_immutable_49149', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_set_is_locked', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE route text;', func="\n                    SELECT route_status INTO route FROM delivery_delivery\n                        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.delivery_id ELSE OLD.delivery_id END\n                        FOR SHARE;\n                    IF route IS NOT NULL AND route NOT IN ('AVAILABLE', 'SCHEDULED') THEN\n                        RAISE EXCEPTION 'rota: the stops of an accepted route cannot change';\n                    END IF;\n                    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;\n                    RETURN OLD;\n                ", hash='ef5bce5432bbbd43ae20e4ed6c475e732443d6f0', operation='INSERT OR DELETE', pgid='pgtrigger_stop_set_is_locked_3fbe5', table='delivery_stop', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dropoffoptions',
            name='dropoff_options_immutable',
        ),
        migrations.AddField(
            model_name='dropoffoptions',
            name='on_failure',
            field=models.CharField(choices=[('RETURN', 'Back to A'), ('RETRY', 'One more attempt'), ('LEAVE', 'May be left at the door')], db_default='RETURN', default='RETURN', max_length=6, verbose_name='when it fails'),
        ),
        django.contrib.postgres.operations.AddConstraintNotValid(
            model_name='dropoffoptions',
            constraint=models.CheckConstraint(condition=models.Q(('on_failure__in', ['RETURN', 'RETRY', 'LEAVE'])), name='dropoff_options_on_failure'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dropoffoptions',
            trigger=pgtrigger.compiler.Trigger(name='dropoff_options_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."stop_id" IS DISTINCT FROM (NEW."stop_id") OR OLD."needs_photo" IS DISTINCT FROM (NEW."needs_photo"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='d347eab57962443ed1b54cd06f42300a7a69e2fe', operation='UPDATE', pgid='pgtrigger_dropoff_options_immutable_7943f', table='delivery_dropoffoptions', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dropoffoptions',
            trigger=pgtrigger.compiler.Trigger(name='dropoff_options_until_its_end', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE is_open boolean;', func="\n                    SELECT status IN ('PENDING', 'ACCEPT', 'COLLECTED') INTO is_open\n                        FROM delivery_stop WHERE id = NEW.stop_id;\n                    IF NOT is_open THEN\n                        RAISE EXCEPTION 'rota: what was asked for at a closed stop cannot change';\n                    END IF;\n                    RETURN NEW;\n                ", hash='6e45937541172ec18ed8d2dc72891ad5b29dc9e6', operation='UPDATE OF "instructions", "contact_email", "on_failure"', pgid='pgtrigger_dropoff_options_until_its_end_6b3d7', table='delivery_dropoffoptions', when='BEFORE')),  # pragma: allowlist secret
        ),
        migrations.AddField(
            model_name='stopproof',
            name='left_at_door',
            field=models.BooleanField(db_default=False, default=False, verbose_name='left at the door'),
        ),
        migrations.AddField(
            model_name='arrivalestimate',
            name='signal_at',
            field=models.DateTimeField(null=True, verbose_name='last signal'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='driver',
            trigger=pgtrigger.compiler.Trigger(name='driver_duty_recorded', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n                    IF (NEW.active AND NEW.on_duty)\n                        IS DISTINCT FROM (TG_OP = 'UPDATE' AND OLD.active AND OLD.on_duty) THEN\n                        INSERT INTO delivery_dutychange (driver_id, on_duty, at)\n                            VALUES (NEW.id, NEW.active AND NEW.on_duty, now());\n                    END IF;\n                    RETURN NULL;\n                ", hash='4e04dd0b2969d1c9fa81e07fc5aedbde3beae31e', operation='INSERT OR UPDATE', pgid='pgtrigger_driver_duty_recorded_175fa', table='delivery_driver', when='AFTER')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dutychange',
            trigger=pgtrigger.compiler.Trigger(name='duty_change_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b841bbb3dde40815d045bdc5f1720b9d7775d665', operation='UPDATE', pgid='pgtrigger_duty_change_append_only_2505e', table='delivery_dutychange', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stopchange',
            trigger=pgtrigger.compiler.Trigger(name='stop_change_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='68872514b0e7fe788a8d93c3a3922283c177cefc', operation='UPDATE', pgid='pgtrigger_stop_change_immutable_9a68a', table='delivery_stopchange', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stopchange',
            trigger=pgtrigger.compiler.Trigger(name='stop_change_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='4c5a4ce56ac403c5561c206af4ac336c643212e5', operation='DELETE', pgid='pgtrigger_stop_change_append_only_a4a82', table='delivery_stopchange', when='BEFORE')),  # pragma: allowlist secret
        ),
        migrations.RunSQL(
            sql='INSERT INTO delivery_dutychange (driver_id, on_duty, at) SELECT id, true, now() FROM delivery_driver WHERE active AND on_duty',
            reverse_sql='',
        ),
    ]

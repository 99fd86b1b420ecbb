"""What a failure at a stop leads to: policies, first attempts, what accounts change of a stop, and the webhook's header.

In a transaction, so that its locks are waited for a second at most. The next migration checks the rows that exist.
"""
# ruff: noqa: E501  # generated triggers
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0019_tokens_to_hand_over'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='StopChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('contacts', models.BooleanField(default=False, verbose_name='contact')),
                ('instructions', models.BooleanField(default=False, verbose_name='instructions')),
                ('answer', models.CharField(blank=True, choices=[('RETURN', 'Bring it back'), ('RETRY', 'Try again'), ('LEAVE', 'Leave it at the door')], max_length=6, verbose_name='answer')),
                ('by', models.CharField(max_length=200, verbose_name='by')),
                ('at', models.DateTimeField(verbose_name='at')),
            ],
            options={
                'verbose_name': 'change of a stop',
                'verbose_name_plural': 'changes of stops',
                'ordering': ['id'],
                'default_permissions': (),
            },
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='dropoffoptions',
            name='dropoff_options_immutable',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='stop',
            name='stop_forgotten',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='webhookevent',
            name='event_body_immutable',
        ),
        migrations.AddField(
            model_name='dropoffoptions',
            name='on_failure',
            field=models.CharField(choices=[('RETURN', 'Back to A'), ('RETRY', 'One more attempt'), ('LEAVE', 'May be left at the door')], db_default='RETURN', default='RETURN', max_length=6, verbose_name='when it fails'),
        ),
        migrations.AddField(
            model_name='integrator',
            name='on_failure',
            field=models.CharField(choices=[('RETURN', 'Back to A'), ('RETRY', 'One more attempt'), ('LEAVE', 'May be left at the door')], db_default='RETURN', default='RETURN', help_text='Of drop-offs that are requested without onFailure.', max_length=6, verbose_name='when a drop-off fails'),
        ),
        migrations.AddField(
            model_name='stop',
            name='tried_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='first attempt at'),
        ),
        migrations.AddField(
            model_name='stopproof',
            name='left_at_door',
            field=models.BooleanField(db_default=False, default=False, verbose_name='left at the door'),
        ),
        migrations.AddField(
            model_name='webhookevent',
            name='failure',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=25),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('token_issued', 'Token issued'), ('token_rotated', 'Token rotated'), ('token_revoked', 'Token revoked'), ('token_renamed', 'Token renamed'), ('url_set', 'Webhook URL set'), ('filter_set', 'Filter of webhooks set'), ('endpoint_added', 'Webhook endpoint added'), ('endpoint_removed', 'Webhook endpoint removed'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('account_suspended', 'Account suspended'), ('alerts_set', 'URL of alerts set'), ('alert_times_set', 'Times of alerts set'), ('alert_tested', 'Test alert sent'), ('person_invited', 'Person invited'), ('invitation_resent', 'Invitation sent again'), ('invitation_revoked', 'Invitation revoked'), ('person_joined', 'Person joined'), ('role_changed', 'Role changed'), ('person_removed', 'Person removed'), ('suspension_lifted', 'Suspension lifted'), ('any_pickup_allowed', 'Pick up anywhere: allowed'), ('any_pickup_ended', 'Pick up anywhere: no longer allowed'), ('repeats_refused', 'Repeated external ids: refused'), ('repeats_accepted', 'Repeated external ids: accepted'), ('approval_begun', 'Pickup points: approved by staff'), ('approval_ended', 'Pickup points: no approval needed'), ('requests_allowed', 'Requesting deliveries: allowed'), ('requests_ended', 'Requesting deliveries: no longer allowed'), ('point_added', 'Pickup point added'), ('point_changed', 'Pickup point changed'), ('point_activated', 'Pickup point activated'), ('point_deactivated', 'Pickup point deactivated'), ('point_approved', 'Pickup point approved'), ('point_removed', 'Pickup point removed'), ('policy_set', 'Policy of failures set'), ('stop_changed', 'Drop-off changed'), ('failure_answered', 'Failure answered')], max_length=20, verbose_name='action'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='mode',
            field=models.CharField(choices=[('DEFAULT', 'From A to the points'), ('RETURN', 'From A to the points, and back to A'), ('REVERSE', 'From the points to A')], max_length=7, verbose_name='mode'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dropoffoptions',
            trigger=pgtrigger.compiler.Trigger(name='dropoff_options_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."stop_id" IS DISTINCT FROM (NEW."stop_id") OR OLD."needs_photo" IS DISTINCT FROM (NEW."needs_photo"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='d347eab57962443ed1b54cd06f42300a7a69e2fe', operation='UPDATE', pgid='pgtrigger_dropoff_options_immutable_7943f', table='delivery_dropoffoptions', when='BEFORE')),  # pragma: allowlist secret
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dropoffoptions',
            trigger=pgtrigger.compiler.Trigger(name='dropoff_options_until_its_end', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE is_open boolean;', func="\n                    SELECT status IN ('PENDING', 'ACCEPT', 'COLLECTED') INTO is_open\n                        FROM delivery_stop WHERE id = NEW.stop_id;\n                    IF NOT is_open THEN\n                        RAISE EXCEPTION 'rota: what was asked for at a closed stop cannot change';\n                    END IF;\n                    RETURN NEW;\n                ", hash='6e45937541172ec18ed8d2dc72891ad5b29dc9e6', operation='UPDATE OF "instructions", "contact_email", "on_failure"', pgid='pgtrigger_dropoff_options_until_its_end_6b3d7', table='delivery_dropoffoptions', when='BEFORE')),  # pragma: allowlist secret
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
            model_name='webhookevent',
            trigger=pgtrigger.compiler.Trigger(name='event_body_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."endpoint_id" IS DISTINCT FROM (NEW."endpoint_id") OR OLD."sequence" IS DISTINCT FROM (NEW."sequence") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."copy_of" IS DISTINCT FROM (NEW."copy_of") OR OLD."failure" IS DISTINCT FROM (NEW."failure"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='c9cf7a1275d0937ea03743f4ebcc569f2a81f2ff', operation='UPDATE', pgid='pgtrigger_event_body_immutable_b4424', table='delivery_webhookevent', when='BEFORE')),  # pragma: allowlist secret
        ),
        AddConstraintNotValid(
            model_name='dropoffoptions',
            constraint=models.CheckConstraint(condition=models.Q(('on_failure__in', ['RETURN', 'RETRY', 'LEAVE'])), name='dropoff_options_on_failure'),
        ),
        AddConstraintNotValid(
            model_name='integrator',
            constraint=models.CheckConstraint(condition=models.Q(('on_failure__in', ['RETURN', 'RETRY', 'LEAVE'])), name='integrator_on_failure'),
        ),
        AddConstraintNotValid(
            model_name='stop',
            constraint=models.CheckConstraint(condition=models.Q(('tried_at', None), ('status__in', ['COLLECTED', 'DELIVERED', 'FAILED']), _connector='OR'), name='stop_tried_after_pickup'),
        ),
        migrations.AddField(
            model_name='stopchange',
            name='stop',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='changes', to='delivery.stop'),
        ),
        migrations.AddConstraint(
            model_name='stopchange',
            constraint=models.CheckConstraint(condition=models.Q(('contacts', True), ('instructions', True), models.Q(('answer', ''), _negated=True), _connector='OR'), name='stop_change_of_something'),
        ),
        migrations.AddConstraint(
            model_name='stopchange',
            constraint=models.CheckConstraint(condition=models.Q(('answer__in', ['', 'RETURN', 'RETRY', 'LEAVE'])), name='stop_change_answer'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stopchange',
            trigger=pgtrigger.compiler.Trigger(name='stop_change_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='68872514b0e7fe788a8d93c3a3922283c177cefc', operation='UPDATE', pgid='pgtrigger_stop_change_immutable_9a68a', table='delivery_stopchange', when='BEFORE')),  # pragma: allowlist secret
        ),
    ]

"""Deliveries that members request in the panel, without a token, and the pickup points that they register.

In a transaction, so that its locks are waited for a second at most.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0010_test_event_index'),
    ]

    operations = [
        migrations.AddField(
            model_name='integrator',
            name='approve_pickup_points',
            field=models.BooleanField(db_default=False, default=False, help_text='Pickup points that members add, move or activate wait until staff approve them in the panel.', verbose_name='approve pickup points'),
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
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('token_issued', 'Token issued'), ('token_rotated', 'Token rotated'), ('token_revoked', 'Token revoked'), ('token_renamed', 'Token renamed'), ('url_set', 'Webhook URL set'), ('filter_set', 'Filter of webhooks set'), ('endpoint_added', 'Webhook endpoint added'), ('endpoint_removed', 'Webhook endpoint removed'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('account_suspended', 'Account suspended'), ('alerts_set', 'URL of alerts set'), ('alert_tested', 'Test alert sent'), ('person_invited', 'Person invited'), ('invitation_resent', 'Invitation sent again'), ('invitation_revoked', 'Invitation revoked'), ('person_joined', 'Person joined'), ('role_changed', 'Role changed'), ('person_removed', 'Person removed'), ('suspension_lifted', 'Suspension lifted'), ('any_pickup_allowed', 'Pick up anywhere: allowed'), ('any_pickup_ended', 'Pick up anywhere: no longer allowed'), ('repeats_refused', 'Repeated external ids: refused'), ('repeats_accepted', 'Repeated external ids: accepted'), ('approval_begun', 'Pickup points: approved by staff'), ('approval_ended', 'Pickup points: no approval needed'), ('requests_allowed', 'Requesting deliveries: allowed'), ('requests_ended', 'Requesting deliveries: no longer allowed'), ('point_added', 'Pickup point added'), ('point_changed', 'Pickup point changed'), ('point_activated', 'Pickup point activated'), ('point_deactivated', 'Pickup point deactivated'), ('point_approved', 'Pickup point approved'), ('point_removed', 'Pickup point removed')], max_length=20, verbose_name='action'),
        ),
        migrations.AlterField(
            model_name='delivery',
            name='token',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='delivery.token', verbose_name='requested with'),
        ),
        migrations.AddConstraint(
            model_name='pickuppoint',
            constraint=models.CheckConstraint(condition=models.Q(('awaits_approval', False), ('active', False), _connector='OR'), name='pickup_point_waits_inactive'),
        ),
    ]

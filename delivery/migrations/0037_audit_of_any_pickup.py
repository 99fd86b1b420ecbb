from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0036_driver_fits_open_route'),
    ]

    operations = [
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('token_issued', 'Token issued'), ('token_rotated', 'Token rotated'), ('token_revoked', 'Token revoked'), ('token_renamed', 'Token renamed'), ('url_set', 'Webhook URL set'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('account_suspended', 'Account suspended'), ('alerts_set', 'URL of alerts set'), ('alert_tested', 'Test alert sent'), ('person_invited', 'Person invited'), ('invitation_resent', 'Invitation sent again'), ('invitation_revoked', 'Invitation revoked'), ('person_joined', 'Person joined'), ('role_changed', 'Role changed'), ('person_removed', 'Person removed'), ('suspension_lifted', 'Suspension lifted'), ('any_pickup_allowed', 'Pick up anywhere: allowed'), ('any_pickup_ended', 'Pick up anywhere: no longer allowed')], max_length=20, verbose_name='action'),
        ),
    ]

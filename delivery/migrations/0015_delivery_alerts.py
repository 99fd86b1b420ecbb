"""Alerts about deliveries: after how long, what was reported, and who is told: those who are told of failing webhooks.

In a transaction, so that its locks are waited for a second at most.
"""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0014_sorted_lists'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReportedTrouble',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('trouble', models.CharField(choices=[('untaken', 'Without a driver'), ('late', 'Late'), ('failed', 'Not delivered')], max_length=7)),
                ('at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddField(
            model_name='alertchoice',
            name='trouble',
            field=models.BooleanField(db_default=False, default=False, verbose_name='Deliveries without a driver, late or failed'),
        ),
        migrations.RunSQL("UPDATE delivery_alertchoice SET trouble = failing", migrations.RunSQL.noop),
        migrations.AddField(
            model_name='endpointalerts',
            name='late_minutes',
            field=models.PositiveSmallIntegerField(db_default=15, default=15),
        ),
        migrations.AddField(
            model_name='endpointalerts',
            name='trouble_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='endpointalerts',
            name='untaken_minutes',
            field=models.PositiveSmallIntegerField(db_default=10, default=10),
        ),
        migrations.AlterField(
            model_name='alertpost',
            name='kind',
            field=models.CharField(choices=[('failing', 'The endpoint fails'), ('off', 'The endpoint is switched off'), ('recovered', 'The endpoint works again'), ('trouble', 'Deliveries without a driver, late or failed'), ('digest', 'Daily digest'), ('test', 'Test')], max_length=9, verbose_name='kind'),
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('token_issued', 'Token issued'), ('token_rotated', 'Token rotated'), ('token_revoked', 'Token revoked'), ('token_renamed', 'Token renamed'), ('url_set', 'Webhook URL set'), ('filter_set', 'Filter of webhooks set'), ('endpoint_added', 'Webhook endpoint added'), ('endpoint_removed', 'Webhook endpoint removed'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('account_suspended', 'Account suspended'), ('alerts_set', 'URL of alerts set'), ('alert_times_set', 'Times of alerts set'), ('alert_tested', 'Test alert sent'), ('person_invited', 'Person invited'), ('invitation_resent', 'Invitation sent again'), ('invitation_revoked', 'Invitation revoked'), ('person_joined', 'Person joined'), ('role_changed', 'Role changed'), ('person_removed', 'Person removed'), ('suspension_lifted', 'Suspension lifted'), ('any_pickup_allowed', 'Pick up anywhere: allowed'), ('any_pickup_ended', 'Pick up anywhere: no longer allowed'), ('repeats_refused', 'Repeated external ids: refused'), ('repeats_accepted', 'Repeated external ids: accepted'), ('approval_begun', 'Pickup points: approved by staff'), ('approval_ended', 'Pickup points: no approval needed'), ('requests_allowed', 'Requesting deliveries: allowed'), ('requests_ended', 'Requesting deliveries: no longer allowed'), ('point_added', 'Pickup point added'), ('point_changed', 'Pickup point changed'), ('point_activated', 'Pickup point activated'), ('point_deactivated', 'Pickup point deactivated'), ('point_approved', 'Pickup point approved'), ('point_removed', 'Pickup point removed')], max_length=20, verbose_name='action'),
        ),
        migrations.AddConstraint(
            model_name='endpointalerts',
            constraint=models.CheckConstraint(condition=models.Q(('late_minutes__range', (1, 1440)), ('untaken_minutes__range', (1, 1440))), name='alerts_minutes'),
        ),
        migrations.AddField(
            model_name='reportedtrouble',
            name='delivery',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='delivery.delivery'),
        ),
        migrations.AddIndex(
            model_name='reportedtrouble',
            index=models.Index(fields=['at'], name='reported_trouble_age'),
        ),
        migrations.AddConstraint(
            model_name='reportedtrouble',
            constraint=models.UniqueConstraint(fields=('delivery', 'trouble'), name='one_report_per_trouble'),
        ),
        migrations.AddConstraint(
            model_name='reportedtrouble',
            constraint=models.CheckConstraint(condition=models.Q(('trouble__in', ['untaken', 'late', 'failed'])), name='reported_trouble'),
        ),
    ]

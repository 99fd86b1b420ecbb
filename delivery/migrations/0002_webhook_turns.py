"""The queue of webhooks in a small table of its own, and what is known of each endpoint."""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name='WebhookTurn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_ordered', models.BooleanField(default=True)),
                ('due_at', models.DateTimeField(help_text='While a worker holds it, when its lease ends.', verbose_name='next attempt at')),
                ('tries', models.PositiveSmallIntegerField(default=0, help_text='Of the schedule; a replay begins anew.')),
                ('refusals', models.PositiveSmallIntegerField(default=0, help_text='Tries that the endpoint answered, not with 2xx.')),
                ('first_refused_at', models.DateTimeField(null=True)),
                ('lease', models.UUIDField(help_text='Fence: only the worker that claimed it may settle it.', null=True)),
            ],
            options={
                'verbose_name': 'webhook turn',
                'verbose_name_plural': 'webhook turns',
            },
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='failing_since',
            field=models.DateTimeField(editable=False, null=True, verbose_name='failing since'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='failures',
            field=models.PositiveIntegerField(default=0, editable=False, verbose_name='failures in a row'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='last_success_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='last success'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='off_because',
            field=models.CharField(blank=True, choices=[('', 'Switched on'), ('staff', 'Switched off by hand'), ('gone', 'It answered 410 Gone'), ('failing', 'Five days without a success')], default='', editable=False, max_length=7, verbose_name='why it is off'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='off_since',
            field=models.DateTimeField(editable=False, null=True, verbose_name='off since'),
        ),
        migrations.AddField(
            model_name='webhookendpoint',
            name='paused_until',
            field=models.DateTimeField(editable=False, null=True, verbose_name='paused until'),
        ),
        migrations.AlterField(
            model_name='webhookattempt',
            name='event',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='delivery.webhookevent', verbose_name='event'),
        ),
        migrations.AlterField(
            model_name='webhookevent',
            name='delivery',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='delivery.delivery', verbose_name='delivery'),
        ),
        migrations.AlterField(
            model_name='webhookevent',
            name='endpoint',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='delivery.webhookendpoint', verbose_name='endpoint'),
        ),
        migrations.AddIndex(
            model_name='webhookattempt',
            index=django.contrib.postgres.indexes.BrinIndex(fields=['at'], name='attempt_age', pages_per_range=32),
        ),
        migrations.AddIndex(
            model_name='webhookevent',
            index=models.Index(fields=['endpoint', '-created_at'], name='event_log'),
        ),
        migrations.AddField(
            model_name='webhookturn',
            name='delivery',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='delivery.delivery', verbose_name='delivery'),
        ),
        migrations.AddField(
            model_name='webhookturn',
            name='endpoint',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='delivery.webhookendpoint', verbose_name='endpoint'),
        ),
        migrations.AddField(
            model_name='webhookturn',
            name='event',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='turn', to='delivery.webhookevent', verbose_name='event'),
        ),
        migrations.AddIndex(
            model_name='webhookturn',
            index=models.Index(fields=['endpoint', 'due_at'], name='turn_due'),
        ),
        migrations.AddIndex(
            model_name='webhookturn',
            index=models.Index(condition=models.Q(('lease__isnull', False)), fields=['endpoint'], name='turn_held'),
        ),
        migrations.AddConstraint(
            model_name='webhookturn',
            constraint=models.UniqueConstraint(condition=models.Q(('is_ordered', True)), fields=('delivery',), name='one_ordered_turn_per_delivery'),
        ),
        # Every event passes through this table: room for updates in place, and dead rows swept early.
        migrations.RunSQL(
            """
            ALTER TABLE delivery_webhookturn SET (
                fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
                autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000,
                autovacuum_vacuum_cost_delay = 0
            )
            """,
            "ALTER TABLE delivery_webhookturn RESET (fillfactor)",
        ),
    ]

"""E-mails to receivers of orders, for sellers who switch them on."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0025_indexes_of_sandbox'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReceiverMailStop',
            fields=[
                ('order', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='receiver_mail_stop', serialize=False, to='integration.order')),
                ('stopped_at', models.DateTimeField(verbose_name='stopped at')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddField(
            model_name='seller',
            name='mails_receivers',
            field=models.BooleanField(db_default=False, default=False, help_text='Receivers are told by e-mail how their live orders stand.', verbose_name='e-mails to receivers'),
        ),
        migrations.CreateModel(
            name='ReceiverMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(max_length=16)),
                ('message', models.BigIntegerField()),
                ('created_at', models.DateTimeField()),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='receiver_mails', to='integration.order')),
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='integration.seller')),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['seller', '-created_at'], name='receiver_mail_newest')],
                'constraints': [models.UniqueConstraint(fields=('order', 'status'), name='one_receiver_mail_of_each_status'), models.CheckConstraint(condition=models.Q(('status__in', ['collected', 'out_for_delivery', 'delivered', 'delivery_failed', 'returned'])), name='receiver_mail_status')],
            },
        ),
    ]

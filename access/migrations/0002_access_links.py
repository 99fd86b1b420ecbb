"""Links to access data, which were in the cache."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('access', '0001_initial'),
        ('delivery', '0008_one_endpoint_no_more'),
        ('integration', '0009_read_stored_invoices'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('issued_by', models.CharField(max_length=200)),
                ('issued_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('integrator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='delivery.integrator')),
                ('seller', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.seller')),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('integrator', None), ('seller', None), _connector='XOR'), name='access_link_of_one_account')],
            },
        ),
    ]

"""Carriers with their keys, who has an order to carry, and the events that carriers and people report.

The next migration makes the indexes of orders.
"""

import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0018_counts_of_environments'),
    ]

    operations = [
        migrations.CreateModel(
            name='Carrier',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rate_limit_per_second', models.PositiveIntegerField(blank=True, help_text="Of each token or key. Empty: this installation's RATE_LIMIT_PER_SECOND. 0: no limit.", null=True, validators=[django.core.validators.MaxValueValidator(1000000000)], verbose_name='calls per second')),
                ('rate_limit_per_hour', models.PositiveIntegerField(blank=True, help_text="Of each token or key. Empty: this installation's RATE_LIMIT_PER_HOUR. 0: no limit.", null=True, validators=[django.core.validators.MaxValueValidator(1000000000)], verbose_name='calls per hour')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('active', models.BooleanField(default=True, help_text='If not, its keys are refused and no order is assigned to it. It keeps the orders that it has.', verbose_name='active')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
            ],
            options={
                'verbose_name': 'carrier',
                'verbose_name_plural': 'carriers',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='CarrierKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('created_at', models.DateTimeField(editable=False, verbose_name='created at')),
                ('created_by', models.CharField(editable=False, max_length=200, verbose_name='created by')),
                ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='revoked at')),
                ('revoked_by', models.CharField(blank=True, editable=False, max_length=200, verbose_name='revoked by')),
                ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='last used at')),
                ('hint', models.CharField(editable=False, help_text='Its beginning and end.', max_length=24, verbose_name='key')),
            ],
            options={
                'verbose_name': 'carrier key',
                'verbose_name_plural': 'carrier keys',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='CarrierRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(blank=True, choices=[('', 'any'), ('AC', 'AC'), ('AL', 'AL'), ('AM', 'AM'), ('AP', 'AP'), ('BA', 'BA'), ('CE', 'CE'), ('DF', 'DF'), ('ES', 'ES'), ('GO', 'GO'), ('MA', 'MA'), ('MG', 'MG'), ('MS', 'MS'), ('MT', 'MT'), ('PA', 'PA'), ('PB', 'PB'), ('PE', 'PE'), ('PI', 'PI'), ('PR', 'PR'), ('RJ', 'RJ'), ('RN', 'RN'), ('RO', 'RO'), ('RR', 'RR'), ('RS', 'RS'), ('SC', 'SC'), ('SE', 'SE'), ('SP', 'SP'), ('TO', 'TO')], max_length=2, verbose_name='destination state')),
                ('region', models.CharField(blank=True, choices=[('', 'any'), ('capital', 'Capital'), ('interior', 'Interior')], max_length=8, verbose_name='capital or interior')),
                ('service', models.CharField(blank=True, choices=[('', 'any'), ('base', 'Base (economy)'), ('next', 'Next (express)'), ('turbo', 'Turbo')], max_length=5, verbose_name='service')),
            ],
            options={
                'verbose_name': 'rule of assignment',
                'verbose_name_plural': 'rules of assignment',
                'ordering': ['-state', '-region', '-service'],
            },
        ),
        migrations.CreateModel(
            name='MovementRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=40)),
                ('event_id', models.CharField(max_length=100)),
                ('status', models.CharField(max_length=16)),
                ('was_already', models.BooleanField()),
                ('recorded_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='RefusedCarrierCall',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(verbose_name='when')),
                ('method', models.CharField(max_length=10)),
                ('path', models.CharField(max_length=255)),
                ('status', models.PositiveSmallIntegerField()),
                ('code', models.CharField(blank=True, max_length=60)),
                ('request_id', models.CharField(max_length=128)),
                ('credential', models.CharField(max_length=24)),
                ('query', models.TextField(blank=True)),
                ('content_type', models.CharField(blank=True, max_length=101)),
                ('size', models.PositiveIntegerField()),
                ('body', models.TextField(blank=True)),
                ('answer', models.TextField(blank=True)),
            ],
            options={
                'verbose_name': 'refused call of a carrier',
                'verbose_name_plural': 'refused calls of carriers',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='RefusedCarrierCallCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hour', models.DateTimeField()),
                ('refused', models.PositiveIntegerField()),
                ('over_limit', models.PositiveIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assigned_at', models.DateTimeField(verbose_name='assigned at')),
                ('assigned_by', models.CharField(max_length=200, verbose_name='assigned by')),
                ('order', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='integration.order', verbose_name='order')),
                ('carrier', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='integration.carrier', verbose_name='carrier')),
            ],
            options={
                'verbose_name': 'assignment',
                'verbose_name_plural': 'assignments',
                'ordering': ['id'],
            },
        ),
        migrations.AlterModelOptions(
            name='order',
            options={'ordering': ['-id'], 'permissions': [('assign_order', 'Can assign orders to carriers')], 'verbose_name': 'order', 'verbose_name_plural': 'orders'},
        ),
        migrations.AddField(
            model_name='order',
            name='carrier',
            field=models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='orders', to='integration.carrier', verbose_name='carrier'),
        ),
        migrations.AddField(
            model_name='carrierkey',
            name='carrier',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='integration.carrier', verbose_name='carrier'),
        ),
        migrations.AddField(
            model_name='carrierrule',
            name='carrier',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rules', to='integration.carrier', verbose_name='carrier'),
        ),
        migrations.AddField(
            model_name='movementrecord',
            name='order',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.order'),
        ),
        migrations.AddField(
            model_name='refusedcarriercall',
            name='carrier',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.carrier'),
        ),
        migrations.AddField(
            model_name='refusedcarriercallcount',
            name='carrier',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='integration.carrier'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignment',
            trigger=pgtrigger.compiler.Trigger(name='assignment_append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='cdef332562cbccb5b7d590be1b5cd47d81907fc8', operation='UPDATE OR DELETE', pgid='pgtrigger_assignment_append_only_737b7', table='integration_assignment', when='BEFORE')),  # pragma: allowlist secret
        ),
        migrations.AddConstraint(
            model_name='carrier',
            constraint=models.UniqueConstraint(fields=('name',), name='carrier_has_a_name_of_its_own', violation_error_message='Another carrier has this name.'),
        ),
        migrations.AddConstraint(
            model_name='carrierrule',
            constraint=models.UniqueConstraint(fields=('state', 'region', 'service'), name='one_carrier_per_rule', violation_error_message='Another rule has the same conditions.'),
        ),
        migrations.AddConstraint(
            model_name='carrierrule',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['', 'AC', 'AL', 'AM', 'AP', 'BA', 'CE', 'DF', 'ES', 'GO', 'MA', 'MG', 'MS', 'MT', 'PA', 'PB', 'PE', 'PI', 'PR', 'RJ', 'RN', 'RO', 'RR', 'RS', 'SC', 'SE', 'SP', 'TO'])), name='carrier_rule_state'),
        ),
        migrations.AddConstraint(
            model_name='carrierrule',
            constraint=models.CheckConstraint(condition=models.Q(('region__in', ['', 'capital', 'interior'])), name='carrier_rule_region'),
        ),
        migrations.AddConstraint(
            model_name='carrierrule',
            constraint=models.CheckConstraint(condition=models.Q(('service__in', ['', 'base', 'next', 'turbo'])), name='carrier_rule_service'),
        ),
        migrations.AddIndex(
            model_name='movementrecord',
            index=models.Index(fields=['recorded_at'], name='movement_record_oldest'),
        ),
        migrations.AddConstraint(
            model_name='movementrecord',
            constraint=models.UniqueConstraint(fields=('source', 'event_id'), name='one_movement_per_event'),
        ),
        migrations.AddConstraint(
            model_name='movementrecord',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['collected', 'in_transit', 'out_for_delivery', 'delivered', 'delivery_failed', 'returned'])), name='movement_record_status'),
        ),
        migrations.AddIndex(
            model_name='refusedcarriercall',
            index=models.Index(fields=['carrier', '-created_at', '-id'], name='refused_carrier_call_newest'),
        ),
        migrations.AddIndex(
            model_name='refusedcarriercall',
            index=models.Index(fields=['created_at'], name='refused_carrier_call_oldest'),
        ),
        migrations.AddIndex(
            model_name='refusedcarriercallcount',
            index=models.Index(fields=['hour'], name='refused_carrier_count_oldest'),
        ),
        migrations.AddConstraint(
            model_name='refusedcarriercallcount',
            constraint=models.UniqueConstraint(fields=('carrier', 'hour'), name='refused_carrier_count_of_hour'),
        ),
    ]

"""Hours of service. None: it is open at every hour, as before."""

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0023_windows_checked_and_indexed'),
    ]

    operations = [
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
            },
        ),
        migrations.AddConstraint(
            model_name='servicehours',
            constraint=models.UniqueConstraint(fields=('integrator',), name='service_hours_one_of_a_scope', nulls_distinct=False, violation_error_message='There are hours of this account or the installation already.'),
        ),
        migrations.AddConstraint(
            model_name='servicehours',
            constraint=models.CheckConstraint(condition=models.Q(('time_zone__in', ['', 'America/Noronha', 'America/Sao_Paulo', 'America/Bahia', 'America/Maceio', 'America/Recife', 'America/Fortaleza', 'America/Belem', 'America/Araguaina', 'America/Santarem', 'America/Campo_Grande', 'America/Cuiaba', 'America/Porto_Velho', 'America/Manaus', 'America/Boa_Vista', 'America/Eirunepe', 'America/Rio_Branco'])), name='service_hours_time_zone'),
        ),
        migrations.AddConstraint(
            model_name='servicehours',
            constraint=models.CheckConstraint(condition=models.Q(('friday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('monday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('saturday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('sunday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('thursday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('tuesday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$'), ('wednesday__regex', '^(([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?$')), name='service_hours_spans'),
        ),
        migrations.AddConstraint(
            model_name='servicehours',
            constraint=models.CheckConstraint(condition=models.Q(('friday', ''), ('monday', ''), ('saturday', ''), ('sunday', ''), ('thursday', ''), ('tuesday', ''), ('wednesday', ''), _negated=True), name='service_hours_some_day', violation_error_message='Fill in the hours of at least one day.'),
        ),
        migrations.AddConstraint(
            model_name='servicehours',
            constraint=models.CheckConstraint(condition=models.Q(('days_off__regex', '^([0-9]{4}-[01][0-9]-[0-3][0-9]( ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)? [^\\n]+(\\n[0-9]{4}-[01][0-9]-[0-3][0-9]( ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)? [^\\n]+)*)?$')), name='service_hours_days_off'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehours',
            trigger=pgtrigger.compiler.Trigger(name='added_insert', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_servicehourschange" ("closed_on_holidays", "days_off", "friday", "id", "integrator_id", "monday", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "saturday", "sunday", "thursday", "time_zone", "tuesday", "wednesday") VALUES (NEW."closed_on_holidays", NEW."days_off", NEW."friday", NEW."id", NEW."integrator_id", NEW."monday", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'added\', NEW."id", NEW."saturday", NEW."sunday", NEW."thursday", NEW."time_zone", NEW."tuesday", NEW."wednesday"); RETURN NULL;', hash='8bb2cef3210e195b3eacce746faa5cdccfdb3e39', operation='INSERT', pgid='pgtrigger_added_insert_3e0bc', table='delivery_servicehours', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehours',
            trigger=pgtrigger.compiler.Trigger(name='changed_update', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func='INSERT INTO "delivery_servicehourschange" ("closed_on_holidays", "days_off", "friday", "id", "integrator_id", "monday", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "saturday", "sunday", "thursday", "time_zone", "tuesday", "wednesday") VALUES (NEW."closed_on_holidays", NEW."days_off", NEW."friday", NEW."id", NEW."integrator_id", NEW."monday", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'changed\', NEW."id", NEW."saturday", NEW."sunday", NEW."thursday", NEW."time_zone", NEW."tuesday", NEW."wednesday"); RETURN NULL;', hash='51e4f75d39db801f8b085c237eeaa63f5b3af205', operation='UPDATE', pgid='pgtrigger_changed_update_f6403', table='delivery_servicehours', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehours',
            trigger=pgtrigger.compiler.Trigger(name='deleted_delete', sql=pgtrigger.compiler.UpsertTriggerSql(func='INSERT INTO "delivery_servicehourschange" ("closed_on_holidays", "days_off", "friday", "id", "integrator_id", "monday", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "saturday", "sunday", "thursday", "time_zone", "tuesday", "wednesday") VALUES (OLD."closed_on_holidays", OLD."days_off", OLD."friday", OLD."id", OLD."integrator_id", OLD."monday", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, NOW(), \'deleted\', OLD."id", OLD."saturday", OLD."sunday", OLD."thursday", OLD."time_zone", OLD."tuesday", OLD."wednesday"); RETURN NULL;', hash='92b17de2339ad22b11703b56866077dab2c0db74', operation='DELETE', pgid='pgtrigger_deleted_delete_5d1dc', table='delivery_servicehours', when='AFTER')),
        ),
        migrations.AddIndex(
            model_name='servicehourschange',
            index=models.Index(fields=['pgh_created_at'], name='servicehourschange_at'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='servicehourschange',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='1c341bbb1c7db7d187922097c06198edcc1f5ffe', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_6dec2', table='delivery_servicehourschange', when='BEFORE')),
        ),
    ]

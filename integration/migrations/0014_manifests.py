"""Manifests, and the orders that stand in them."""


import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0013_forgotten_reasons'),
    ]

    operations = [
        migrations.CreateModel(
            name='Manifest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('environment', models.CharField(choices=[('live', 'Live'), ('sandbox', 'Sandbox')], db_default='live', default='live', editable=False, max_length=7, verbose_name='environment')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('created_by', models.CharField(max_length=200, verbose_name='created by')),
                ('closed_at', models.DateTimeField(editable=False, null=True, verbose_name='closed at')),
                ('closed_by', models.CharField(blank=True, editable=False, max_length=200, verbose_name='closed by')),
                ('seller', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='manifests', to='integration.seller', verbose_name='seller')),
            ],
            options={
                'verbose_name': 'manifest',
                'verbose_name_plural': 'manifests',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ManifestEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('manifest', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='integration.manifest', verbose_name='manifest')),
                ('order', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='manifest_entries', to='integration.order', verbose_name='order')),
            ],
            options={
                'verbose_name': 'order of a manifest',
                'verbose_name_plural': 'orders of a manifest',
                'ordering': ['id'],
            },
        ),
        migrations.AddIndex(
            model_name='manifest',
            index=models.Index(fields=['seller', 'environment', '-created_at', '-id'], name='manifest_of_seller'),
        ),
        migrations.AddConstraint(
            model_name='manifest',
            constraint=models.CheckConstraint(condition=models.Q(('environment__in', ['live', 'sandbox'])), name='manifest_environment'),
        ),
        migrations.AddConstraint(
            model_name='manifest',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_at', None), ('closed_by', '')), models.Q(models.Q(('closed_at__isnull', False)), models.Q(('closed_by', ''), _negated=True)), _connector='OR'), name='manifest_closing_has_who'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifest',
            trigger=pgtrigger.compiler.Trigger(name='manifest_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."seller_id" IS DISTINCT FROM (NEW."seller_id") OR OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by" IS DISTINCT FROM (NEW."created_by"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='f2fab4688ceb83b299dc4326b6836fdacef8a5d7', operation='UPDATE', pgid='pgtrigger_manifest_immutable_d44df', table='integration_manifest', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifest',
            trigger=pgtrigger.compiler.Trigger(name='manifest_closed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."closed_at" IS NOT NULL)', func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='e0206747a16a57c25830922cb8a521bad47cef68', operation='UPDATE OR DELETE', pgid='pgtrigger_manifest_closed_0e216', table='integration_manifest', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='manifestentry',
            constraint=models.UniqueConstraint(fields=('order',), name='one_manifest_per_order'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifestentry',
            trigger=pgtrigger.compiler.Trigger(name='manifest_entry_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD.* IS DISTINCT FROM NEW.*)', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b4fbcd29e069c1f65884923b89dee3e114e86394', operation='UPDATE', pgid='pgtrigger_manifest_entry_immutable_afa11', table='integration_manifestentry', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='manifestentry',
            trigger=pgtrigger.compiler.Trigger(name='manifest_set_is_open', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE closed timestamptz;', func="\n    SELECT closed_at INTO closed FROM integration_manifest\n        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.manifest_id ELSE OLD.manifest_id END;\n    IF closed IS NOT NULL THEN\n        RAISE EXCEPTION 'rota: the orders of a closed manifest cannot change';\n    END IF;\n    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;\n    RETURN OLD;\n", hash='26391ad4eab804f06e1c563d137193a81c4048ed', operation='INSERT OR DELETE', pgid='pgtrigger_manifest_set_is_open_7e678', table='integration_manifestentry', when='BEFORE')),
        ),
    ]

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('delivery', '0011_webhook_queue_item')]

    operations = [
        pgtrigger.migrations.RemoveTrigger('stop', 'stop_set_is_locked'),
        pgtrigger.migrations.RemoveTrigger('stop', 'stop_immutable'),
        migrations.RemoveConstraint('stop', 'one_stop_per_position'),
        migrations.RemoveConstraint('stop', 'stop_position_b_c_or_d'),
        migrations.RenameField('stop', 'position', 'index'),
        migrations.RenameField('auditentry', 'deed', 'action'),
        migrations.RenameIndex('delivery', new_name='delivery_in_progress', old_name='delivery_live'),
        migrations.AlterModelOptions(
            name='stop',
            options={'ordering': ['delivery', 'index'], 'verbose_name': 'stop', 'verbose_name_plural': 'stops'},
        ),
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_driver_fits_route',
        ),
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_status_fits_route',
        ),
        migrations.RemoveConstraint(
            model_name='delivery',
            name='delivery_closed_has_its_time',
        ),
        migrations.RemoveIndex(
            model_name='delivery',
            name='delivery_offered',
        ),
        migrations.AlterField(
            model_name='auditentry',
            name='action',
            field=models.CharField(choices=[('token_issued', 'Token issued'), ('token_rotated', 'Token rotated'), ('token_revoked', 'Token revoked'), ('url_set', 'Webhook URL set'), ('endpoint_on', 'Webhooks switched on'), ('endpoint_off', 'Webhooks switched off'), ('secret_shown', 'Signing secret shown'), ('secret_rotated', 'Signing secret rotated'), ('test_sent', 'Test event sent'), ('events_replayed', 'Events sent again'), ('account_suspended', 'Account suspended'), ('suspension_lifted', 'Suspension lifted')], max_length=20, verbose_name='action'),
        ),
        migrations.AlterField(
            model_name='stop',
            name='index',
            field=models.PositiveSmallIntegerField(help_text='0 for B, 1 for C, 2 for D.', verbose_name='index'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('route_status__in', ['AVAILABLE'])), fields=['offer_expires_at'], name='delivery_offered'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_immutable', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."latitude" IS DISTINCT FROM (NEW."latitude") OR OLD."longitude" IS DISTINCT FROM (NEW."longitude") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."index" IS DISTINCT FROM (NEW."index") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."contact_name" IS DISTINCT FROM (NEW."contact_name") OR OLD."contact_phone" IS DISTINCT FROM (NEW."contact_phone") OR OLD."address" IS DISTINCT FROM (NEW."address"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='d7a00beda7486f2ae9e6e899523de0af744320ff', operation='UPDATE', pgid='pgtrigger_stop_immutable_49149', table='delivery_stop', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stop',
            trigger=pgtrigger.compiler.Trigger(name='stop_set_is_locked', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE route text;', func="\n                    SELECT route_status INTO route FROM delivery_delivery\n                        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.delivery_id ELSE OLD.delivery_id END\n                        FOR SHARE;\n                    IF route IS NOT NULL AND route <> 'AVAILABLE' THEN\n                        RAISE EXCEPTION 'rota: the stops of an accepted route cannot change';\n                    END IF;\n                    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;\n                    RETURN OLD;\n                ", hash='3f55fa3fe92c5837ceca018c50b64495ab45e46c', operation='INSERT OR DELETE', pgid='pgtrigger_stop_set_is_locked_3fbe5', table='delivery_stop', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['AVAILABLE', 'EXPIRED']), ('driver', None)), models.Q(('route_status__in', ['ACCEPTED', 'COLLECTED', 'RETURNING', 'FINISHED']), ('driver__isnull', False)), ('route_status__in', ['CANCELLED']), _connector='OR'), name='delivery_driver_fits_route'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['AVAILABLE']), ('status__in', ['PENDING'])), models.Q(('route_status__in', ['ACCEPTED']), ('status__in', ['ACCEPT'])), models.Q(('route_status__in', ['COLLECTED']), ('status__in', ['COLLECTED'])), models.Q(('route_status__in', ['RETURNING']), ('status__in', ['COLLECTED', 'FAILED'])), models.Q(('route_status__in', ['FINISHED']), ('status__in', ['DELIVERED', 'FAILED'])), models.Q(('route_status__in', ['CANCELLED', 'EXPIRED']), ('status__in', ['FAILED'])), _connector='OR'), name='delivery_status_fits_route'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('route_status__in', ['FINISHED', 'CANCELLED', 'EXPIRED']), ('closed_at__isnull', False)), models.Q(models.Q(('route_status__in', ['FINISHED', 'CANCELLED', 'EXPIRED']), _negated=True), ('closed_at', None)), _connector='OR'), name='delivery_closed_has_its_time'),
        ),
        migrations.AddConstraint(
            model_name='stop',
            constraint=models.UniqueConstraint(fields=('delivery', 'index'), name='one_stop_per_index'),
        ),
        migrations.AddConstraint(
            model_name='stop',
            constraint=models.CheckConstraint(condition=models.Q(('index__gte', 0), ('index__lt', 3)), name='stop_index_b_c_or_d'),
        ),
    ]

"""By what a repeated externalId is found, and whether an account refuses it."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("delivery", "0003_dispatch_rules"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="stop",
            name="stop_immutable",
        ),
        migrations.AddField(
            model_name="integrator",
            name="refuse_repeated_external_ids",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="A request is refused if the account has used one of its externalIds within 24 hours for an order that has not failed. Otherwise it is accepted with a warning.",
                verbose_name="refuse repeated external ids",
            ),
        ),
        migrations.AddField(
            model_name="stop",
            name="external_id_digest",
            field=models.BinaryField(max_length=32, null=True),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("token_issued", "Token issued"),
                    ("token_rotated", "Token rotated"),
                    ("token_revoked", "Token revoked"),
                    ("token_renamed", "Token renamed"),
                    ("url_set", "Webhook URL set"),
                    ("endpoint_on", "Webhooks switched on"),
                    ("endpoint_off", "Webhooks switched off"),
                    ("secret_shown", "Signing secret shown"),
                    ("secret_rotated", "Signing secret rotated"),
                    ("test_sent", "Test event sent"),
                    ("events_replayed", "Events sent again"),
                    ("account_suspended", "Account suspended"),
                    ("alerts_set", "URL of alerts set"),
                    ("alert_tested", "Test alert sent"),
                    ("person_invited", "Person invited"),
                    ("invitation_resent", "Invitation sent again"),
                    ("invitation_revoked", "Invitation revoked"),
                    ("person_joined", "Person joined"),
                    ("role_changed", "Role changed"),
                    ("person_removed", "Person removed"),
                    ("suspension_lifted", "Suspension lifted"),
                    ("any_pickup_allowed", "Pick up anywhere: allowed"),
                    ("any_pickup_ended", "Pick up anywhere: no longer allowed"),
                    ("repeats_refused", "Repeated external ids: refused"),
                    ("repeats_accepted", "Repeated external ids: accepted"),
                ],
                max_length=20,
                verbose_name="action",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="stop",
            trigger=pgtrigger.compiler.Trigger(
                name="stop_immutable",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."index" IS DISTINCT FROM (NEW."index") OR OLD."external_id" IS DISTINCT FROM (NEW."external_id") OR OLD."external_id_digest" IS DISTINCT FROM (NEW."external_id_digest"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="c9d40c1ee8239fc34f3821383578137603b2e974",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_stop_immutable_49149",
                    table="delivery_stop",
                    when="BEFORE",
                ),
            ),
        ),
    ]

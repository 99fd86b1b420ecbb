"""Columns of several endpoints in one environment. Their indexes follow in the next migration."""

import django.contrib.postgres.fields
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0006_located_address")]

    operations = [
        migrations.AlterModelOptions(
            name="webhookendpoint",
            options={
                "ordering": ["integrator", "environment", "number"],
                "verbose_name": "webhook endpoint",
                "verbose_name_plural": "webhook endpoints",
            },
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="number",
            field=models.PositiveSmallIntegerField(
                db_default=1, default=1, editable=False, null=True, verbose_name="number"
            ),
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="secret_shown",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name="webhookendpoint",
            name="statuses",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("PENDING", "Waiting for a driver"),
                        ("ACCEPT", "Driver assigned"),
                        ("COLLECTED", "On the way"),
                        ("DELIVERED", "Delivered"),
                        ("FAILED", "Not delivered"),
                    ],
                    max_length=9,
                ),
                blank=True,
                db_default=[],
                default=list,
                help_text="Events with these statuses are sent. None: all events.",
                size=None,
                verbose_name="filter",
            ),
        ),
        migrations.AddField(
            model_name="webhookevent",
            name="copy_of",
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AlterField(
            model_name="webhookevent",
            name="state",
            field=models.CharField(
                choices=[
                    ("pending", "Waiting"),
                    ("sent", "Received"),
                    ("dead", "Failed, no more retries"),
                    ("unaddressed", "No URL was set"),
                    ("filtered", "Left out by the filter"),
                ],
                default="pending",
                max_length=11,
                verbose_name="state",
            ),
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
                    ("filter_set", "Filter of webhooks set"),
                    ("endpoint_added", "Webhook endpoint added"),
                    ("endpoint_removed", "Webhook endpoint removed"),
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
        pgtrigger.migrations.RemoveTrigger(model_name="webhookevent", name="event_body_immutable"),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookevent",
            trigger=pgtrigger.compiler.Trigger(
                name="event_body_immutable",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."delivery_id" IS DISTINCT FROM (NEW."delivery_id") OR OLD."endpoint_id" IS DISTINCT FROM (NEW."endpoint_id") OR OLD."sequence" IS DISTINCT FROM (NEW."sequence") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."copy_of" IS DISTINCT FROM (NEW."copy_of"))',
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="af406d23168b82c501f3f3ef75f693baef67f4d1",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_event_body_immutable_b4424",
                    table="delivery_webhookevent",
                    when="BEFORE",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookendpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1), ("number__lte", 5)), name="endpoint_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookendpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("statuses__contained_by", ["PENDING", "ACCEPT", "COLLECTED", "DELIVERED", "FAILED"])
                ),
                name="endpoint_statuses",
            ),
        ),
        migrations.AddConstraint(
            model_name="webhookendpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__isnull", False), ("url", ""), _connector="OR"),
                name="removed_endpoint_has_no_url",
            ),
        ),
        migrations.RemoveConstraint(model_name="webhookevent", name="event_state"),
        AddConstraintNotValid(
            model_name="webhookevent",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["pending", "sent", "dead", "unaddressed", "filtered"])),
                name="event_state",
            ),
        ),
        AddConstraintNotValid(
            model_name="webhookevent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("copy_of", None),
                    models.Q(("delivery__isnull", False), ("feed_position", None)),
                    _connector="OR",
                ),
                name="event_copy_of_a_change",
            ),
        ),
    ]

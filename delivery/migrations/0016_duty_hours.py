"""When drivers go on and off duty.

The trigger comes first, so that no change is missed between it and the rows of those who are on duty, whose hours count
from now on: since when they have been is not known. The version that still runs changes drivers without knowing of it.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("delivery", "0015_delivery_alerts"),
    ]

    operations = [
        migrations.CreateModel(
            name="DutyChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("on_duty", models.BooleanField()),
                ("at", models.DateTimeField()),
                (
                    "driver",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="duty_changes",
                        to="delivery.driver",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["driver", "at"], name="duty_change_of_driver")],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="driver",
            trigger=pgtrigger.compiler.Trigger(
                name="driver_duty_recorded",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func="\n                    IF (NEW.active AND NEW.on_duty)\n                        IS DISTINCT FROM (TG_OP = 'UPDATE' AND OLD.active AND OLD.on_duty) THEN\n                        INSERT INTO delivery_dutychange (driver_id, on_duty, at)\n                            VALUES (NEW.id, NEW.active AND NEW.on_duty, now());\n                    END IF;\n                    RETURN NULL;\n                ",
                    hash="4e04dd0b2969d1c9fa81e07fc5aedbde3beae31e",  # pragma: allowlist secret
                    operation="INSERT OR UPDATE",
                    pgid="pgtrigger_driver_duty_recorded_175fa",
                    table="delivery_driver",
                    when="AFTER",
                ),
            ),
        ),
        migrations.RunSQL(
            "INSERT INTO delivery_dutychange (driver_id, on_duty, at)"
            " SELECT id, true, now() FROM delivery_driver WHERE active AND on_duty",
            migrations.RunSQL.noop,
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="dutychange",
            trigger=pgtrigger.compiler.Trigger(
                name="duty_change_append_only",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;",
                    hash="b841bbb3dde40815d045bdc5f1720b9d7775d665",  # pragma: allowlist secret
                    operation="UPDATE",
                    pgid="pgtrigger_duty_change_append_only_2505e",
                    table="delivery_dutychange",
                    when="BEFORE",
                ),
            ),
        ),
    ]

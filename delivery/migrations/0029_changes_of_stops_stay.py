"""No change of a stop can be deleted."""
# ruff: noqa: E501  # generated triggers
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ("delivery", "0028_one_report_per_point"),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name="stopchange",
            trigger=pgtrigger.compiler.Trigger(name="stop_change_append_only", sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash="4c5a4ce56ac403c5561c206af4ac336c643212e5", operation="DELETE", pgid="pgtrigger_stop_change_append_only_a4a82", table="delivery_stopchange", when="BEFORE")),
        ),
    ]

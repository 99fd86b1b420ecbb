"""Indexes of lists that people sort by price and filter by person and action, without locking tables in use."""

from django.db import migrations, models


def _create(model: str, table: str, index: models.Index, columns: str) -> migrations.RunSQL:
    """Drops what an interrupted run has left, which is an invalid index."""
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}"
    return migrations.RunSQL(
        [drop, f"CREATE INDEX CONCURRENTLY {index.name} ON {table} ({columns})"],
        drop,
        state_operations=[migrations.AddIndex(model_name=model, index=index)],
    )


def _of_audit(name: str, *fields: str) -> migrations.RunSQL:
    fields = ("integrator", "environment", *fields, "-at", "-id")
    columns = [field.replace("integrator", "integrator_id") for field in fields]
    sql = ", ".join(f'"{each[1:]}" DESC' if each.startswith("-") else f'"{each}"' for each in columns)
    return _create("auditentry", "delivery_auditentry", models.Index(fields=fields, name=name), sql)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0013_streets_from_openstreetmap")]

    operations = [
        _create(
            "delivery",
            "delivery_delivery",
            models.Index(
                fields=["integrator", "environment", "shipping_value", "id"], name="delivery_of_account_price"
            ),
            '"integrator_id", "environment", "shipping_value", "id"',
        ),
        _of_audit("audit_newest"),
        _of_audit("audit_by_action", "action"),
        _of_audit("audit_by_person", "by"),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS audit_of_integrator",
            migrations.RunSQL.noop,
            state_operations=[migrations.RemoveIndex(model_name="auditentry", name="audit_of_integrator")],
        ),
    ]

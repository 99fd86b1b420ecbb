"""The environment of refused calls.

Outside a transaction, because indexes are made while their tables are in use. Each step can be repeated, so that an
interrupted migration is simply run again. Until the new version runs, the previous one cannot count refused calls, which
it logs.
"""

from django.db import migrations, models

_SELLER = "seller_id, environment"


def _environment() -> "models.CharField[str, str]":
    choices = [("live", "Live"), ("sandbox", "Sandbox")]
    return models.CharField(
        choices=choices, db_default="live", default="live", editable=False, max_length=7, verbose_name="environment"
    )


def _with_environment(model: str) -> migrations.RunSQL:
    table = f"integration_{model}"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS environment varchar(7) NOT NULL DEFAULT 'live'",
        f"ALTER TABLE {table} DROP COLUMN environment",
        state_operations=[migrations.AddField(model_name=model, name="environment", field=_environment())],
    )


def _made(name: str, on: str, operation: migrations.operations.base.Operation, kind: str = "INDEX") -> migrations.RunSQL:
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    return migrations.RunSQL(
        [drop, f"CREATE {kind} CONCURRENTLY {name} ON {on}"], drop, state_operations=[operation]
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0015_simulation")]

    operations = [
        _with_environment("refusedsellercall"),
        _with_environment("refusedsellercallcount"),
        _made(
            "refused_seller_call_newest",
            f"integration_refusedsellercall ({_SELLER}, created_at DESC, id DESC)",
            migrations.AddIndex(
                "refusedsellercall",
                models.Index(fields=["seller", "environment", "-created_at", "-id"], name="refused_seller_call_newest"),
            ),
        ),
        _made(
            "refused_seller_count_of_environment",
            f"integration_refusedsellercallcount ({_SELLER}, hour)",
            migrations.AddConstraint(
                "refusedsellercallcount",
                models.UniqueConstraint(
                    "seller", "environment", "hour", name="refused_seller_count_of_environment"
                ),
            ),
            "UNIQUE INDEX",
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS refused_call_of_seller",
            migrations.RunSQL.noop,
            state_operations=[migrations.RemoveIndex("refusedsellercall", "refused_call_of_seller")],
        ),
        migrations.RunSQL(
            "ALTER TABLE integration_refusedsellercallcount DROP CONSTRAINT IF EXISTS refused_seller_count_of_hour",
            migrations.RunSQL.noop,
            state_operations=[migrations.RemoveConstraint("refusedsellercallcount", "refused_seller_count_of_hour")],
        ),
    ]

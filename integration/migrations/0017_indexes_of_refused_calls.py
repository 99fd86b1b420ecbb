"""Has the environment in the indexes of refused calls.

Outside a transaction, because indexes are made while their tables are in use. Each step can be repeated, so that an
interrupted migration is simply run again.
"""

from django.db import migrations, models

_SELLER = "seller_id, environment"


def _made(name: str, on: str, operation: migrations.operations.base.Operation, kind: str = "INDEX") -> migrations.RunSQL:
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    return migrations.RunSQL(
        [drop, f"CREATE {kind} CONCURRENTLY {name} ON {on}"], drop, state_operations=[operation]
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0016_refused_calls_of_environments")]

    operations = [
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
    ]

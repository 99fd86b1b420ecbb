"""Makes the unique indexes of codes in use, while the table of orders is in use.

Outside a transaction. Each step can be repeated, so that an interrupted migration is simply run again: an index that it
has left is invalid, and dropped first.
"""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

_OWNER = ["seller", "environment"]


def _drop(name: str) -> str:
    return f"DROP INDEX CONCURRENTLY IF EXISTS {name}"


def _unique(name: str, column: str) -> migrations.RunSQL:
    constraint = models.UniqueConstraint(*_OWNER, column, name=name, condition=models.Q((f"{column}_reused", False)))
    return migrations.RunSQL(
        [
            _drop(name),
            f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON integration_order (seller_id, environment, {column})"
            f" WHERE NOT {column}_reused",
        ],
        _drop(name),
        state_operations=[migrations.AddConstraint("order", constraint)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0012_codes_used_again")]

    operations = [
        ValidateConstraint("order", "order_with_reused_codes_is_cancelled"),
        _unique("one_order_per_code_in_use", "code"),
        _unique("one_order_per_tracking_code_in_use", "tracking_code"),
    ]

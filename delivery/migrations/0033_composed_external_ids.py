"""Makes the index of externalIds with their composed form (NFC), in which they are compared.

Outside a transaction: the index is made while the table is in use. All of it can be repeated.
"""

from django.db import migrations, models

_INDEX, _NEW = "stop_external_id", "stop_external_id_new"
_NEW_STATE = models.Index(
    models.Func("external_id", output_field=models.TextField(), template="NORMALIZE(%(expressions)s, NFC)"),
    condition=~models.Q(external_id=""),
    name=_INDEX,
)


def _replaced(expression: str) -> tuple[str, ...]:
    """Statements that make the index of this expression. Look-ups by the former one use it until it is complete."""
    return (
        f"DROP INDEX CONCURRENTLY IF EXISTS {_NEW}",
        f"CREATE INDEX CONCURRENTLY {_NEW} ON delivery_stop ({expression}) WHERE NOT (external_id = '')",
        f"DROP INDEX CONCURRENTLY IF EXISTS {_INDEX}",
        f"ALTER INDEX {_NEW} RENAME TO {_INDEX}",
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0032_amounts_change_by_moves")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(_replaced("(NORMALIZE(external_id, NFC))"), _replaced("external_id")),
            ],
            state_operations=[
                migrations.RemoveIndex("stop", _INDEX),
                migrations.AddIndex("stop", _NEW_STATE),
            ],
        ),
    ]

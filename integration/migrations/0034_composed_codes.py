"""Makes the indexes of codes with their composed form (NFC), in which they are compared.

Outside a transaction: the indexes are made while their tables are in use. All of it can be repeated.
"""

from typing import Any

from django.db import migrations, models
from django.db.models.functions import Left

_OWNER = "seller_id, environment"
_COMPACT = "UPPER(TRANSLATE(NORMALIZE({}, NFC), ' .-', ''))"
_FORMER = "UPPER(TRANSLATE({}, ' .-', ''))"
_BEFORE = {
    "order_beginning_of_code": f"integration_order ({_OWNER}, (LEFT(code, 15)))",
    "order_scanned_code": f"integration_order (({_FORMER.format('tracking_code')}), tracking_code)",
    "search_code_alike": f"integration_searchcode ({_OWNER}, ({_FORMER.format('value')}), order_id DESC)",
}
_AFTER = {
    "order_beginning_of_code": f"integration_order ({_OWNER}, (LEFT(NORMALIZE(code, NFC), 15)))",
    "order_scanned_code": f"integration_order (({_COMPACT.format('tracking_code')}), tracking_code)",
    "search_code_alike": f"integration_searchcode ({_OWNER}, ({_COMPACT.format('value')}), order_id DESC)",
}


def _compact(name: str) -> models.Func:
    return models.Func(name, output_field=models.TextField(), template=_COMPACT.format("%(expressions)s"))


_COMPOSED = models.Func("code", output_field=models.TextField(), template="NORMALIZE(%(expressions)s, NFC)")
_STATE: dict[str, tuple[str, list[Any]]] = {
    "order_beginning_of_code": ("order", ["seller", "environment", Left(_COMPOSED, 15)]),
    "order_scanned_code": ("order", [_compact("tracking_code"), "tracking_code"]),
    "search_code_alike": ("searchcode", ["seller", "environment", _compact("value"), models.F("order").desc()]),
}


def _replaced(name: str, definition: str) -> tuple[str, ...]:
    """Statements that make the index so. Look-ups by the former one use it until it is complete."""
    table, _space, columns = definition.partition(" ")
    return (
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}_new",
        f"CREATE INDEX CONCURRENTLY {name}_new ON {table} {columns}",
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
        f"ALTER INDEX {name}_new RENAME TO {name}",
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0033_scanned_invoice_keys")]

    operations = [
        migrations.RunSQL(
            _replaced(name, _AFTER[name]),
            _replaced(name, _BEFORE[name]),
            state_operations=[
                migrations.RemoveIndex(model, name),
                migrations.AddIndex(model, models.Index(*columns, name=name)),
            ],
        )
        for name, (model, columns) in _STATE.items()
    ]

"""Finds orders by their carrier, and by a scanned tracking code whatever its seller.

Outside a transaction, because indexes are made while the table is in use. Each step can be repeated, so that an
interrupted migration is simply run again.
"""

from django.db import migrations, models

_CODE = "UPPER(TRANSLATE(tracking_code, ' .-', ''))"
_INDEXES = [
    ("order_of_carrier", "(carrier_id, id DESC) WHERE carrier_id IS NOT NULL",
     models.Index(fields=["carrier", "-id"], name="order_of_carrier", condition=models.Q(carrier__isnull=False))),
    ("order_scanned_code", f"(({_CODE}), tracking_code)",
     models.Index(
         models.Func(
             "tracking_code", output_field=models.TextField(), template="UPPER(TRANSLATE(%(expressions)s, ' .-', ''))"
         ),
         "tracking_code",
         name="order_scanned_code",
     )),
]  # fmt: skip  # a table


def _index(name: str, on: str, index: models.Index) -> migrations.RunSQL:
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    return migrations.RunSQL(
        [drop, f"CREATE INDEX CONCURRENTLY {name} ON integration_order {on}"],
        drop,
        state_operations=[migrations.AddIndex(model_name="order", index=index)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0023_carriers")]

    operations = [_index(*each) for each in _INDEXES]

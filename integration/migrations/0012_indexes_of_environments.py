"""Checks the rows that existed before the constraints, and has the environment in the indexes that begin with the seller.

Outside a transaction, because indexes are made while their tables are in use. Each step can be repeated, so that an
interrupted migration is simply run again. The former indexes go last: until the new version runs, the previous one
finds by the new ones, which is slower for lists.
"""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models
from django.db.models.functions import Left

_COMPACT = "UPPER(TRANSLATE(value, ' .-', ''))"
_SELLER = "seller_id, environment"
# Name, table, columns and, for the state, model and index.
_INDEXES = [
    ("order_newest", f"integration_order ({_SELLER}, created_at DESC, id DESC)", "order",
     models.Index(fields=["seller", "environment", "-created_at", "-id"], name="order_newest")),
    ("order_with_status", f"integration_order ({_SELLER}, status, created_at DESC, id DESC)", "order",
     models.Index(fields=["seller", "environment", "status", "-created_at", "-id"], name="order_with_status")),
    ("order_cost", f"integration_order ({_SELLER}, cost, id)", "order",
     models.Index(fields=["seller", "environment", "cost", "id"], name="order_cost")),
    ("order_receiver", f"integration_order ({_SELLER}, receiver_document, id DESC)", "order",
     models.Index(fields=["seller", "environment", "receiver_document", "-id"], name="order_receiver")),
    ("order_invoice_key", f"integration_order ({_SELLER}, invoice_key)", "order",
     models.Index(fields=["seller", "environment", "invoice_key"], name="order_invoice_key")),
    ("order_beginning_of_code", f'integration_order ({_SELLER}, (LEFT("code", 15)))', "order",
     models.Index("seller", "environment", Left("code", 15), name="order_beginning_of_code")),
    ("search_code_equal", f"integration_searchcode ({_SELLER}, value, order_id DESC)", "searchcode",
     models.Index(fields=["seller", "environment", "value", "-order"], name="search_code_equal")),
    ("search_code_alike", f"integration_searchcode ({_SELLER}, ({_COMPACT}), order_id DESC)", "searchcode",
     models.Index(
         "seller",
         "environment",
         models.Func(
             "value", output_field=models.TextField(), template="UPPER(TRANSLATE(%(expressions)s, ' .-', ''))"
         ),
         models.F("order").desc(),
         name="search_code_alike",
     )),
    ("invoice_newest", f"integration_invoice ({_SELLER}, received_at DESC)", "invoice",
     models.Index(fields=["seller", "environment", "-received_at"], name="invoice_newest")),
    ("invoice_linked", f"integration_invoice ({_SELLER}, is_linked, received_at DESC, id DESC)", "invoice",
     models.Index(fields=["seller", "environment", "is_linked", "-received_at", "-id"], name="invoice_linked")),
]  # fmt: skip  # a table
# Name, table, column and model.
_UNIQUE = [
    ("one_order_of_environment_per_code", "integration_order", "code", "order"),
    ("one_order_of_environment_per_tracking_code", "integration_order", "tracking_code", "order"),
    ("one_invoice_of_environment_per_access_key", "integration_invoice", "access_key", "invoice"),
]
_FORMER_INDEXES = [
    ("order_of_seller", "order"),
    ("order_of_seller_status", "order"),
    ("order_of_seller_cost", "order"),
    ("order_of_receiver", "order"),
    ("order_of_invoice_key", "order"),
    ("order_cut_code", "order"),
    ("search_code_value", "searchcode"),
    ("search_code_compact", "searchcode"),
    ("invoice_received", "invoice"),
    ("invoice_of_seller_linked", "invoice"),
]


def _index(name: str, on: str, model: str, index: models.Index) -> migrations.RunSQL:
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    return migrations.RunSQL(
        [drop, f"CREATE INDEX CONCURRENTLY {name} ON {on}"],
        drop,
        state_operations=[migrations.AddIndex(model_name=model, index=index)],
    )


def _unique(name: str, table: str, column: str, model: str) -> migrations.RunSQL:
    drop = f"DROP INDEX CONCURRENTLY IF EXISTS {name}"
    constraint = models.UniqueConstraint("seller", "environment", column, name=name)
    return migrations.RunSQL(
        [drop, f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON {table} ({_SELLER}, {column})"],
        drop,
        state_operations=[migrations.AddConstraint(model_name=model, constraint=constraint)],
    )


def _without_index(name: str, model: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
        migrations.RunSQL.noop,
        state_operations=[migrations.RemoveIndex(model_name=model, name=name)],
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0011_environments")]

    operations = [
        ValidateConstraint("order", "order_environment"),
        ValidateConstraint("invoice", "invoice_environment"),
        ValidateConstraint("apikey", "api_key_environment"),
        ValidateConstraint("statuslog", "status_log_reason_of_a_failure"),
        ValidateConstraint("statuslog", "status_log_reason_code"),
        *(_index(*each) for each in _INDEXES),
        *(_unique(*each) for each in _UNIQUE),
        *(_without_index(*each) for each in _FORMER_INDEXES),
    ]

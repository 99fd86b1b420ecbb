"""Marks the invoices that have links, checks the rows that exist by the new constraints, and makes the indexes.

Outside a transaction, because indexes are made while their tables are in use. Each step can be repeated, so that an
interrupted migration is simply run again: an index that it has left is invalid, and dropped first. The former indexes
go last: until the new version runs, the previous one finds by the new ones, which is slower for lists.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models
from django.db.models.fields.json import KT
from django.db.models.functions import Left

# A trigger of the migration before marks the invoices of new links.
_MARK = """
UPDATE integration_invoice SET is_linked = TRUE
WHERE NOT is_linked AND id IN (SELECT invoice_id FROM integration_invoicelink)
"""
_CONSTRAINTS = {
    "apikey": ["api_key_environment"],
    "order": ["order_freight_is_whole", "order_environment", "order_volumes_in_range"],
    "statuslog": ["status_log_reason_of_a_failure", "status_log_reason_code"],
    "invoice": ["invoice_environment"],
}
_OWNER = ["seller", "environment"]
# A telephone number that is written in an unusual way, for people's requests about their data.
_UNUSUAL = (
    r"^(?![+0(). -]*(5[(). -]*5[(). -]*)?[1-9][(). -]*[1-9][(). -]*"
    r"([2-9]|9[(). -]*[0-9])[(). -]*([0-9][(). -]*){7}$).{10,}"
)
_IN_SANDBOX = models.Q(environment="sandbox")


def _composed(name: str) -> models.Func:
    """In Unicode's composed form (NFC), in which codes are compared."""
    return models.Func(name, output_field=models.TextField(), template="NORMALIZE(%(expressions)s, NFC)")


def _compact(name: str) -> models.Func:
    """Composed, and without case, spaces, dots and dashes."""
    return models.Func(
        name,
        output_field=models.TextField(),
        template="UPPER(TRANSLATE(NORMALIZE(%(expressions)s, NFC), ' .-', ''))",
    )


_INDEXES = [
    ("order", models.Index(fields=[*_OWNER, "-created_at", "-id"], name="order_newest")),
    ("order", models.Index(fields=[*_OWNER, "status", "-created_at", "-id"], name="order_with_status")),
    ("order", models.Index(fields=[*_OWNER, "cost", "id"], name="order_cost")),
    ("order", models.Index(fields=[*_OWNER, "receiver_document", "-id"], name="order_receiver")),
    ("order", models.Index(fields=[*_OWNER, "invoice_key"], name="order_invoice_key")),
    ("order", models.Index(*_OWNER, Left(_composed("code"), 15), name="order_beginning_of_code")),
    ("order", models.Index(_compact("tracking_code"), "tracking_code", name="order_scanned_code")),
    ("order", models.Index(fields=["-id"], name="order_of_sandbox", condition=_IN_SANDBOX)),
    ("order", models.Index(
        fields=["carrier", "-id"], name="order_of_carrier", condition=models.Q(carrier__isnull=False)
    )),
    ("order", models.Index(
        fields=[*_OWNER, "unrecorded_at"], name="order_unrecorded", condition=models.Q(unrecorded_at__isnull=False)
    )),
    ("order", models.Index(
        KT("receiver__phone"), name="order_unusual_phone", condition=models.Q(receiver__phone__regex=_UNUSUAL)
    )),
    ("order", models.Index(
        KT("receiver__cellphone"), name="order_unusual_cellphone",
        condition=models.Q(receiver__cellphone__regex=_UNUSUAL),
    )),
    ("searchcode", models.Index(fields=[*_OWNER, "value", "-order"], name="search_code_equal")),
    ("searchcode", models.Index(
        *_OWNER, _compact("value"), models.F("order").desc(), name="search_code_alike"
    )),
    ("searchcode", models.Index(
        fields=["value"], name="search_code_invoice_key", condition=models.Q(kind="invoice_key")
    )),
    ("invoice", models.Index(fields=[*_OWNER, "-received_at"], name="invoice_newest")),
    ("invoice", models.Index(fields=[*_OWNER, "is_linked", "-received_at", "-id"], name="invoice_linked")),
    ("invoice", models.Index(fields=["-id"], name="invoice_of_sandbox", condition=_IN_SANDBOX)),
    ("invoicereference", models.Index("seller", _compact("value"), name="invoice_reference_alike")),
    ("refusedsellercall", models.Index(fields=[*_OWNER, "-created_at", "-id"], name="refused_seller_call_newest")),
]  # fmt: skip  # a table
# Name, column and model.
_UNIQUE = [
    ("one_order_of_environment_per_code", "code", "order"),
    ("one_order_of_environment_per_tracking_code", "tracking_code", "order"),
    ("one_invoice_of_environment_per_access_key", "access_key", "invoice"),
    ("refused_seller_count_of_environment", "hour", "refusedsellercallcount"),
]
_FORMER = [
    ("order", "order_of_seller"),
    ("order", "order_of_seller_status"),
    ("order", "order_of_receiver"),
    ("order", "order_of_invoice_key"),
    ("order", "order_cut_code"),
    ("searchcode", "search_code_value"),
    ("invoice", "invoice_received"),
    ("refusedsellercall", "refused_call_of_seller"),
]


def _drop(name: str) -> str:
    return f"DROP INDEX CONCURRENTLY IF EXISTS {name}"


def _unique(name: str, column: str, model: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        [
            _drop(name),
            f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON integration_{model} (seller_id, environment, {column})",
        ],
        _drop(name),
        state_operations=[migrations.AddConstraint(model, models.UniqueConstraint(*_OWNER, column, name=name))],
    )


def _without(model: str, name: str) -> migrations.RunSQL:
    state = [migrations.RemoveIndex(model, name)]
    return migrations.RunSQL(_drop(name), migrations.RunSQL.noop, state_operations=state)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0006_carriers_manifests_and_webhooks")]

    operations = [
        *(ValidateConstraint(model, name) for model, names in _CONSTRAINTS.items() for name in names),
        migrations.RunSQL(_MARK, migrations.RunSQL.noop),
        *(
            operation
            for model, index in _INDEXES
            for operation in (
                migrations.RunSQL(_drop(index.name), migrations.RunSQL.noop),
                AddIndexConcurrently(model, index),
            )
        ),
        *(_unique(*each) for each in _UNIQUE),
        *(_without(*each) for each in _FORMER),
    ]

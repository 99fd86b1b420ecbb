"""Fills columns from the histories of deliveries, checks the rows that exist by the new constraints, and makes the indexes.

Outside a transaction: deliveries are filled in batches, each of which locks its rows for moments, and indexes are made
while their tables are in use. All of it can be repeated: an index that an interrupted run has left is invalid, and
dropped first. What the version before accepts from now on has no first acceptance, and is left out of the time until
one; a drop-off that it fails counts as a failure by the status of its delivery only.
"""

from typing import Any
from uuid import UUID

from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models, transaction

_BATCH = 2_000
# A closed delivery changes only while people are forgotten. Rows are locked in one order, so that two cannot wait for
# each other.
_PERMIT = "SELECT set_config('rota.forgetting', 'on', TRUE)"
_FILL = """
WITH batch AS (
    SELECT id FROM delivery_delivery WHERE id > %s ORDER BY id LIMIT %s FOR NO KEY UPDATE
), facts AS (
    SELECT delivery_id AS id, min(at) FILTER (WHERE trigger = 'accept') AS accepted_at,
           bool_or(trigger = 'fail') AS has_failed_stop
    FROM delivery_transition WHERE delivery_id IN (SELECT id FROM batch) GROUP BY 1
), filled AS (
    UPDATE delivery_delivery delivery
    SET accepted_at = coalesce(delivery.accepted_at, facts.accepted_at),
        has_failed_stop = delivery.has_failed_stop OR facts.has_failed_stop
    FROM facts
    WHERE delivery.id = facts.id AND (
        delivery.accepted_at IS NULL AND facts.accepted_at IS NOT NULL
        OR facts.has_failed_stop AND NOT delivery.has_failed_stop
    )
)
SELECT id FROM batch ORDER BY id DESC LIMIT 1
"""
_CONSTRAINTS = {
    "webhookevent": ["event_state", "event_copy_of_a_change"],
    "integrator": ["integrator_on_failure"],
    "dropoffoptions": ["dropoff_options_on_failure"],
    "delivery": [
        "delivery_driver_fits_route",
        "delivery_status_fits_route",
        "delivery_scheduled_has_its_moments",
        "delivery_fees_not_negative",
    ],
    "stop": ["stop_tried_after_pickup"],
}
_ACCOUNT = ["integrator", "environment"]
# What reports sum up of ended deliveries.
_SUMMED = (
    "status", "route_status", "shipping_value", "cancelled_at", "cancel_fee", "driver", "distance_km", "created_at",
    "accepted_at", "driver_amount", "offer_at", "scheduled_for", "pickup_deadline_at", "deadline_at", "mode", "retry_fee",
    "return_fee", "cancel_percent_accepted", "cancel_percent_collected", "retry_percent", "return_percent",
    "ready_at", "missed_deadline", "fee_before_pickup", "has_failed_stop",
)  # fmt: skip  # a list of names
# A telephone number that is written in an unusual way, for people's requests about their data.
_UNUSUAL = models.Q(
    contact_phone__regex=r"^(?![+0(). -]*(5[(). -]*5[(). -]*)?[1-9][(). -]*[1-9][(). -]*"
    r"([2-9]|9[(). -]*[0-9])[(). -]*([0-9][(). -]*){7}$).{10,}"
)
_INDEXES = [
    ("auditentry", models.Index(fields=[*_ACCOUNT, "-at", "-id"], name="audit_newest")),
    ("auditentry", models.Index(fields=[*_ACCOUNT, "action", "-at", "-id"], name="audit_by_action")),
    ("auditentry", models.Index(fields=[*_ACCOUNT, "by", "-at", "-id"], name="audit_by_person")),
    ("delivery", models.Index(fields=[*_ACCOUNT, "shipping_value", "id"], name="delivery_of_account_price")),
    ("delivery", models.Index(
        fields=["scheduled_for", "id"], name="delivery_scheduled", condition=models.Q(route_status__in=["SCHEDULED"])
    )),
    ("delivery", models.Index(
        fields=[*_ACCOUNT, "-created_at", "-id"], name="delivery_failed_of_account",
        condition=models.Q(status="FAILED") | models.Q(has_failed_stop=True),
    )),
    ("delivery", models.Index(
        fields=[*_ACCOUNT, "closed_at", "id"], include=_SUMMED, name="delivery_ended_of_account",
        condition=models.Q(closed_at__isnull=False),
    )),
    ("delivery", models.Index(models.F("contact_phone"), name="delivery_unusual_phone", condition=_UNUSUAL)),
    ("stop", models.Index(models.F("contact_phone"), name="stop_unusual_phone", condition=_UNUSUAL)),
    ("stop", models.Index(
        fields=["external_id_digest", "-id"], name="stop_repeated_external_id",
        condition=models.Q(external_id_digest__isnull=False),
    )),
    ("webhookevent", models.Index(
        fields=["endpoint", "created_at"], name="event_without_feed_position",
        condition=models.Q(copy_of__isnull=True, delivery__isnull=False, feed_position__isnull=True),
    )),
    ("webhookevent", models.Index(
        fields=["endpoint", "-created_at"], name="event_of_test", condition=models.Q(delivery__isnull=True)
    )),
]  # fmt: skip  # a table
# Model, constraint and what its index is on.
_UNIQUE = [
    ("webhookendpoint", models.UniqueConstraint(
        fields=(*_ACCOUNT, "number"), name="one_endpoint_per_number", condition=models.Q(number__isnull=False)
    ), "(integrator_id, environment, number) WHERE number IS NOT NULL"),
    ("webhookevent", models.UniqueConstraint(
        fields=("delivery", "endpoint", "sequence"), name="one_event_per_endpoint_and_sequence",
        condition=models.Q(delivery__isnull=False),
    ), "(delivery_id, endpoint_id, sequence) WHERE delivery_id IS NOT NULL"),
    ("webhookqueueitem", models.UniqueConstraint(
        fields=("delivery", "endpoint"), name="one_ordered_queue_item_per_subject", condition=models.Q(is_ordered=True)
    ), "(delivery_id, endpoint_id) WHERE is_ordered"),
]  # fmt: skip  # a table
# The index of externalIds is in the composed form (NFC), in which they are compared.
_EXTERNAL_ID = "stop_external_id"
_EXTERNAL_IDS = models.Index(
    models.Func("external_id", output_field=models.TextField(), template="NORMALIZE(%(expressions)s, NFC)"),
    name=_EXTERNAL_ID,
    condition=~models.Q(external_id=""),
)
_FORMER: list[migrations.RemoveConstraint | migrations.RemoveIndex] = [
    migrations.RemoveConstraint("webhookqueueitem", "one_ordered_queue_item_per_delivery"),
    migrations.RemoveIndex("webhookevent", "event_without_position"),
    migrations.RemoveIndex("auditentry", "audit_of_integrator"),
    migrations.RemoveIndex("delivery", "delivery_ended"),
]


def fill(apps: Any, schema_editor: Any) -> None:  # noqa: ARG001  # as Django calls it
    connection = schema_editor.connection
    last: UUID | None = UUID(int=0)
    while last:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(_PERMIT)
            cursor.execute(_FILL, [last, _BATCH])
            (last,) = cursor.fetchone() or (None,)


def _drop(name: str) -> str:
    return f"DROP INDEX CONCURRENTLY IF EXISTS {name}"


def _unique(model: str, constraint: models.UniqueConstraint, on: str) -> migrations.RunSQL:
    name = constraint.name
    return migrations.RunSQL(
        [_drop(name), f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON delivery_{model} {on}"],
        _drop(name),
        state_operations=[migrations.AddConstraint(model, constraint)],
    )


def _external_ids(expression: str) -> tuple[str, ...]:
    """Statements that make the index of this expression. Look-ups by the former one use it until it is complete."""
    new = f"{_EXTERNAL_ID}_new"
    return (
        _drop(new),
        f"CREATE INDEX CONCURRENTLY {new} ON delivery_stop ({expression}) WHERE NOT (external_id = '')",
        _drop(_EXTERNAL_ID),
        f"ALTER INDEX {new} RENAME TO {_EXTERNAL_ID}",
    )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0006_windows_failures_and_drivers")]

    operations = [
        *(ValidateConstraint(model, name) for model, names in _CONSTRAINTS.items() for name in names),
        migrations.RunPython(fill, migrations.RunPython.noop),
        *(
            operation
            for model, index in _INDEXES
            for operation in (
                migrations.RunSQL(_drop(index.name), migrations.RunSQL.noop),
                AddIndexConcurrently(model, index),
            )
        ),
        *(_unique(*each) for each in _UNIQUE),
        migrations.RunSQL(
            _external_ids("(NORMALIZE(external_id, NFC))"),
            _external_ids("external_id"),
            state_operations=[
                migrations.RemoveIndex("stop", _EXTERNAL_ID),
                migrations.AddIndex("stop", _EXTERNAL_IDS),
            ],
        ),
        *(migrations.RunSQL(_drop(each.name), migrations.RunSQL.noop, state_operations=[each]) for each in _FORMER),
    ]

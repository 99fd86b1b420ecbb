"""People see each field of deliveries and orders somewhere, or the reason why not stands here."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from types import CodeType
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import CASCADE, BinaryField, Field, Model
from django.test import RequestFactory

from common.columns import Column
from common.fields import CiphertextField
from common.webhooks.columns import of_event
from config.env import BASE_DIR
from delivery import models as of_deliveries
from delivery.columns import DELIVERY, PLACE, STOP
from integration import models as of_orders
from integration.columns import INVOICE, ORDER
from integration.invoices.models import Invoice

_EVENT = of_event(Column("", "endpoint"))
_COLUMNS: dict[type[Model], Iterable[Column]] = {
    of_deliveries.Delivery: (*DELIVERY, *PLACE),
    of_deliveries.Stop: STOP,
    of_deliveries.WebhookEvent: _EVENT,
    Invoice: INVOICE,
    of_orders.Order: ORDER,
    of_orders.WebhookEvent: _EVENT,
}
# What templates call a row beside the name of its model and its last word; after the name of a template only there.
_CALLED = {
    "Delivery": {"original", "place", "route"},
    "DriverDevice": {"phone"},
    "DropoffOptions": {"details"},
    "EndpointChange": {"activity.row"},
    "GoodsInHand": {"board_goods.row"},
    "Integrator": {"account"},
    "IntegratorMembership": {"team.row"},
    "PickupPoint": {"pickup_points.row"},
    "ReceiverNote": {"details"},
    "SellerMembership": {"team.row"},
    "StatusLog": {"entry"},
    "Stop": {"place"},
    "StopProof": {"details"},
}
_OF_WORKERS = "workers read it"
_ONCE = "so that something is done once"
# Rows that nobody sees as such.
_UNSEEN_ROWS = {
    "delivery.AddressCity": "manage.py addresses list",
    "delivery.AddressStreet": "public addresses, in which drop-offs are located",
    "delivery.AlertChoice": "the form of alerts",
    "delivery.Connection": "the pages of connected shops",
    "delivery.Draft": "the pages of orders of shops",
    "integration.Connection": "the pages of connected shops",
    "integration.Draft": "the pages of orders of shops",
    "integration.Reception": "the page of a connected shop",
    "delivery.DriverLogInLink": "the driver's page has an entry for each log-in",
    "delivery.DriverMove": "the history has what it made of the delivery",
    "delivery.EndpointAlerts": "the form of alerts",
    "delivery.IdempotencyRecord": _ONCE,
    "delivery.LatestPosition": "the newest position again, to find drivers by it",
    "delivery.LocatedAddress": "answers of the geocoder, which are asked for once",
    "delivery.PushSubscription": "an address at the maker of a browser",
    "delivery.ReceiverLink": "shown as the address of a page",
    "delivery.RefusedDeliveryCallCount": "shown as sums",
    "delivery.Reception": "the page of a connected shop",
    "delivery.ReportedTrouble": _ONCE,
    "delivery.Simulation": "shown as what happens next",
    "delivery.Streets": "the page of streets says it",
    "delivery.WebhookQueueItem": _OF_WORKERS,
    "integration.EndpointAlerts": _ONCE,
    "integration.IdempotencyRecord": _ONCE,
    "integration.MovementRecord": _ONCE,
    "integration.ReceiverMail": _ONCE,
    "integration.ReceiverMailStop": "the receiver's wish, which the mail's end says",
    "integration.RefusedCarrierCallCount": "shown as sums",
    "integration.RefusedSellerCallCount": "shown as sums",
    "integration.Simulation": "shown as what happens next",
    "integration.WebhookQueueItem": _OF_WORKERS,
}
_OF_COPIES = "systems that keep a copy read it by the API; the histories have the changes"
_OF_REQUEST = "the page of an event shows the request that was sent"
_UNSEEN = {
    "delivery.AlertPost.due_at": _OF_WORKERS,
    "delivery.AlertPost.text": "it stands in the chat",
    "delivery.AlertPost.tries": _OF_WORKERS,
    "delivery.ArrivalEstimate.computed_at": "the board shows how old an estimate is",
    "delivery.ArrivalEstimate.engine": "how it was computed, for who looks into the table",
    "delivery.ArrivalEstimate.sequence": _OF_WORKERS,
    "delivery.ArrivalEstimate.signal_at": "the board shows how old an estimate is",
    "delivery.DeclinedOffer.declined_at": "the board shows how many declined",
    "delivery.Delivery.fee_before_pickup": "decides the fee, which is shown",
    "delivery.Delivery.missed_deadline": "reports count it",
    "delivery.Delivery.packages": "the admin's page lists them as contents",
    "delivery.Delivery.retry_percent": "the page of a stop shows the amount",
    "delivery.Delivery.return_percent": "the page of a stop shows the amount",
    "delivery.Delivery.updated_at": _OF_COPIES,
    "delivery.DriverDevice.expires_at": "phones whose session has ended are not shown",
    "delivery.DriverDevice.hint": "the page writes the row as a text",
    "delivery.DriverDevice.language": "of the phone's messages",
    "delivery.DriverDevice.name": "the page writes the row as a text",
    "delivery.DriverDevice.revoked_at": "the driver's page has an entry for each log-out",
    "delivery.DriverDevice.revoked_by": "the driver's page has an entry for each log-out",
    "delivery.DriverPosition.told_at": "the filter of positions compares it with the next one's",
    "delivery.DropoffOptions.contact_email": "the form of a stop",
    "delivery.DutyChange.on_duty": "shown as spans of a day",
    "delivery.GoodsInHand.back_at": "the row is not shown any more then",
    "delivery.GoodsInHand.back_by": "the row is not shown any more then",
    "delivery.GoodsInHand.reported_at": "when the phone told it; the page shows when it was",
    "delivery.ProofPhoto.driver": "the delivery's driver",
    "delivery.ProofPhoto.received_at": "the page shows when it was taken",
    "delivery.ProofPhoto.size": "the photo is shown",
    "delivery.ProofPhoto.upload": _ONCE,
    "delivery.ReceiverNote.written_at": "the history has the note with its moment",
    "delivery.Stop.forgotten_at": "the delivery's",
    "delivery.Token.to_hand_over": "decides what is replaced when a token is issued again",
    "delivery.Transition.former_driver": "so that the route is found when the driver is forgotten",
    "delivery.Transition.made_at": "the history shows when it was recorded",
    "delivery.Transition.route_status": "the history names the change",
    "delivery.Transition.status": "the history names the change",
    "delivery.WebhookAttempt.signature": _OF_REQUEST,
    "delivery.WebhookAttempt.token_hint": _OF_REQUEST,
    "delivery.WebhookAttempt.webhook_timestamp": _OF_REQUEST,
    "delivery.WebhookEndpoint.retry_after_until": "the answer to a recovery says it",
    "delivery.WebhookEndpoint.secret_shown": "decides whether it is shown once more",  # pragma: allowlist secret
    "delivery.WebhookEvent.dead_since": "finds the events that failed",
    "delivery.WebhookEvent.failure": "a header of the request that is shown",
    "delivery.WebhookEvent.feed_position": "the API's cursor",
    "delivery.WebhookEvent.trace_context": "of the tracing",
    "integration.Assignment.order": "shown on the order's page in the admin",
    "integration.Correction.order": "shown on the order's page",
    "integration.Invoice.is_linked": "shown as the linked orders",
    "integration.Invoice.recipient_document": "decides which order a shortened reference means",
    "integration.InvoiceChange.invoice": "shown on the invoice's page",
    "integration.Order.code_reused": "the page leads to the order that has it now",
    "integration.Order.tracking_code_reused": "the page of the order that has it now shows it",
    "integration.Order.unrecorded_at": _OF_WORKERS,
    "integration.Order.updated_at": _OF_COPIES,
    "integration.StatusLog.company": "the order's",
    "integration.StatusLog.order": "shown on the order's page",
    "integration.StatusLog.updated_at": "the API's",
    "integration.WebhookAttempt.signature": _OF_REQUEST,
    "integration.WebhookAttempt.token_hint": _OF_REQUEST,
    "integration.WebhookAttempt.webhook_timestamp": _OF_REQUEST,
    "integration.WebhookEndpoint.retry_after_until": "the answer to a recovery says it",
    "integration.WebhookEndpoint.secret_shown": "decides whether it is shown once more",  # pragma: allowlist secret
    "integration.WebhookEvent.dead_since": "finds the events that failed",
    "integration.WebhookEvent.feed_position": "the API's cursor",
    "integration.WebhookEvent.trace_context": "of the tracing",
}


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names}.union(*map(_names_in, inner))


def _read_by(function: Any) -> set[str]:
    """The names that a function, a property or a method reads of what it is called with, and some more."""
    function = getattr(function, "fget", None) or getattr(function, "func", None) or function
    code = getattr(function, "__code__", None)
    return _names_in(code) if code else set()


@cache
def _in_templates() -> dict[str, set[str]]:
    """What templates read, by the name of the variable, also after that of the template."""
    found: dict[str, set[str]] = {}
    for folder in ("admin", "panel"):
        for path in (BASE_DIR / "templates" / folder).rglob("*.html"):
            for tag in re.findall(r"\{[{%].*?[%}]\}", path.read_text(), re.DOTALL):
                for variable, name in re.findall(r"(?=\b(\w+)\.(\w+))", tag):
                    found.setdefault(variable, set()).add(name)
                    found.setdefault(f"{path.stem}.{variable}", set()).add(name)
    return found


def _flat(fields: Iterable[Any]) -> Iterator[Any]:
    for each in fields:
        if isinstance(each, list | tuple):
            yield from _flat(each)
        else:
            yield each


def _on_screen(screen: Any, model: type[Model]) -> set[str]:
    request = RequestFactory().get("/")
    request.user = User(is_active=True, is_staff=True, is_superuser=True)
    fieldsets = [*screen.get_fieldsets(request, None), *screen.get_fieldsets(request, model())]
    fields = [*getattr(screen, "list_display", []), *_flat(options["fields"] for _title, options in fieldsets)]
    found = set()
    for field in fields:
        shown = field if callable(field) else getattr(type(screen), field, None)
        found |= {field.__name__ if callable(field) else field} | _read_by(shown)
    return found


@cache
def _in_admin() -> dict[type[Model], set[str]]:
    found: dict[type[Model], set[str]] = {}
    for model, screen in admin.site._registry.items():
        inlines: list[Any] = [inline(model, admin.site) for inline in screen.inlines]
        for each, shown_model in [(screen, model), *((inline, inline.model) for inline in inlines)]:
            found.setdefault(shown_model, set()).update(_on_screen(each, shown_model))
    return found


def _shown(model: type[Model]) -> set[str]:
    """The attributes of a row that people see, with what these read in turn."""
    words = re.findall("[A-Z][a-z]*", model.__name__)
    called = {"_".join(words).lower(), words[-1].lower(), *_CALLED.get(model.__name__, set())}
    new = _in_admin().get(model, set()).union(*(_in_templates().get(name, set()) for name in called))
    for column in _COLUMNS.get(model, ()):
        new |= {column.get.partition(".")[0]} if isinstance(column.get, str) else _read_by(column.get)
    found: set[str] = set()
    while new:
        found |= new
        read = {re.sub(r"^get_(\w+)_display$", r"\1", name) for name in new}
        attributes = (vars(base).get(name) for name in new for base in model.__mro__)
        new = read.union(*map(_read_by, attributes)) - found
    return found


def _is_plain(field: Field[Any, Any]) -> bool:
    """Not its key, a secret, the row that it is shown with, or the environment, which each page is of."""
    is_part = getattr(field.remote_field, "on_delete", None) is CASCADE
    kept = isinstance(field, BinaryField | CiphertextField) or field.name == "environment"
    return not (field.primary_key or is_part or kept)


def _unseen() -> set[str]:
    models = [model for area in ("delivery", "integration") for model in apps.get_app_config(area).get_models()]
    return {
        f"{model._meta.label}.{field.name}"
        for model in models
        if model._meta.label not in _UNSEEN_ROWS and not hasattr(model, "pgh_obj")  # shown as the row's changes
        for field in model._meta.concrete_fields
        if _is_plain(field) and not {field.name, field.attname} & _shown(model)
    }


def test_people_see_each_field_or_a_reason_is_given():
    forgotten = sorted(_unseen() - {*_UNSEEN})

    assert not forgotten, (
        f"No page, admin or file shows {', '.join(forgotten)}. Add a column to delivery/columns.py or "
        "integration/columns.py, or the reason why nobody sees it to tests/test_fields_shown.py."
    )


def test_reasons_are_of_fields_that_nobody_sees():
    rows = {model._meta.label for model in apps.get_models()}

    assert {*_UNSEEN} <= _unseen()
    assert {*_UNSEEN_ROWS} <= rows

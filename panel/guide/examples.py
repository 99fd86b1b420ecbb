"""The answer with each error code, made by the functions that make the answers of the APIs."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework import exceptions
from rest_framework.response import Response

from common.api.views import UNKNOWN_KEY, InvalidBody, InvalidQuery, PayloadWarning
from common.errors import DomainError
from common.webhooks import address_guard
from delivery import errors as delivery_errors
from delivery.api import problems
from delivery.api.filters import EnglishForm
from integration import errors as integration_errors
from integration.api import problems as order_problems
from panel.guide.catalogue import CODES, A, B

_PATH_A = "/api/request-delivery"
_METHODS = ["POST", "OPTIONS"]
_PROBLEMS = (
    problems.not_found, problems.bad_request, problems.server_error, problems.late_body, problems.tls_required,
    problems.busy, problems.unavailable,
)  # fmt: skip  # a list
_ORDER_PROBLEMS = (
    order_problems.not_found, order_problems.bad_request, order_problems.server_error, order_problems.late_body,
    order_problems.tls_required, order_problems.busy, order_problems.heavy_call_running, order_problems.unavailable,
)  # fmt: skip  # a table
_OPENS_AT = datetime(2026, 11, 30, 8, tzinfo=timezone(timedelta(hours=-3)))
_EXTERNAL_ID, _DELIVERY_ID = "order-1001", UUID("019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50")
_ORDER = "A-1001"
# Apart, because errors of area A have the same names, and pages translate the texts of those.
_MOVE = {"current": "pending", "target": "returned", "possible": "collected, in_transit"}
_NOT_AN_OBJECT = "O corpo deve ser um objeto JSON em UTF-8."
# Errors whose constructor needs more than a message, or one with values.
_WITH_VALUES: list[DomainError] = [
    delivery_errors.AddressNotLocated({0: [("Rua Augusta, Consolação, São Paulo", (-23.5531, -46.6559))]}),
    address_guard.WebhookHostUnresolved(
        "%(host)s does not resolve to an address. Check its spelling and its DNS records.", host="shop.example"
    ),
    delivery_errors.RateLimited(retry_after=1),
    delivery_errors.ExternalIdInUse(_EXTERNAL_ID, _DELIVERY_ID),
    delivery_errors.Closed("Nothing is picked up there at this hour. It opens %(opens)s.", opens=_OPENS_AT),
    integration_errors.RateLimited(retry_after=1),
    integration_errors.DuplicateOrder("orderId"),
    integration_errors.InvalidStatusReport("text_missing", "reason"),
    integration_errors.MoveRefused(**_MOVE),
    integration_errors.UnknownTrackingCode(code="AA123456785BR"),
    integration_errors.AmbiguousTrackingCode(code="P-1", sellers=(("SEL-2345678ABC", "A"), ("SEL-2345678ABD", "B"))),
    integration_errors.EventIdReused(event_id="ev-1"),
    integration_errors.OrdersRefused(count=3),
    integration_errors.OrderCancelled(order=_ORDER),
    integration_errors.OrderForgotten(order=_ORDER),
    integration_errors.TooManyLabels(most=200),
    integration_errors.InOpenManifest(order=_ORDER, manifest="019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50"),
    integration_errors.OrderNotPending(order=_ORDER, status="in_transit"),
    integration_errors.ManifestFull(most=100),
    integration_errors.TooManyInvoices(most=5000, retry_after=120),
    integration_errors.InvoiceStorageFull(most_mb=2048),
    integration_errors.TooHeavy("Peso acima do limite de 30 kg: foram informados 2500 kg"),
    integration_errors.MalformedBody(_NOT_AN_OBJECT),
    integration_errors.BodyTooLarge(),
]
_SWAPPED = (
    "(-46.655881, -23.561414) is outside the area that this service serves. Latitude and longitude seem to be swapped: "
    "the other way round it is inside."
)
# Of `config.server.limits`, in English and Portuguese.
_TOO_LONG = {
    "url_too_long": ("The URL is longer than 4 KiB.", "O endereço é maior que 4 KiB"),
    "header_too_long": ("The header Cookie is longer than 8 KiB.", "O cabeçalho Cookie é maior que 8 KiB"),
}


@dataclass(frozen=True)
class Answer:
    """An error's status and body."""

    status: int
    body: dict[str, Any]


@cache
def answers_of(api: str) -> dict[str, Answer]:
    """The answers of this API (`catalogue.A` or `B`) by their code."""
    return {answer.body["code"]: answer for answer in (_of_a() if api == A else _of_b())}


def _of_a() -> Iterator[Answer]:
    request = HttpRequest()
    request.path = _PATH_A
    yield from (_of_page(make(request)) for make in _PROBLEMS)
    yield from (
        _of_page(problems.too_long(request, detail, status=CODES[code].status, code=code))
        for code, (detail, _portuguese) in _TOO_LONG.items()
    )
    context = {"request": request, "view": SimpleNamespace(allowed_methods=_METHODS)}
    of_fields = [
        InvalidBody({"vehicleType": [_detail("This field is required.", "required")]}, []),
        InvalidBody({}, [PayloadWarning(("packages",), UNKNOWN_KEY, "orderPackages")]),
        InvalidBody({"pickup": {"address": [_detail(_SWAPPED, "swapped_coordinates")]}}, []),
        InvalidQuery({"limit": [_detail(EnglishForm.messages["invalid_limit"], "invalid_limit")]}, []),
        exceptions.MethodNotAllowed("PUT"),
        exceptions.UnsupportedMediaType("text/plain"),
    ]
    raised = [*of_fields, *_domain_errors([delivery_errors, address_guard], A)]
    yield from (_of_response(problems.exception_handler(error, context)) for error in raised)


def _of_b() -> Iterator[Answer]:
    request = HttpRequest()
    yield from (_of_page(make(request)) for make in _ORDER_PROBLEMS)
    yield from (
        _of_page(order_problems.failure(message, status=CODES[code].status, code=code))
        for code, (_english, message) in _TOO_LONG.items()
    )
    context = {"view": SimpleNamespace(invalid_status=422, allowed_methods=_METHODS), "request": request}
    of_fields = [
        InvalidBody({"orderId": [_detail("Campo obrigatório.", "required")]}, []),
        InvalidBody({}, [PayloadWarning(("orderid",), UNKNOWN_KEY, "orderId")]),
        exceptions.MethodNotAllowed("PUT"),
        exceptions.UnsupportedMediaType("text/plain"),
    ]
    raised = [*of_fields, *_domain_errors([integration_errors, address_guard], B)]
    yield from (_of_response(order_problems.exception_handler(error, context)) for error in raised)


def _detail(message: str, code: str) -> exceptions.ErrorDetail:
    return exceptions.ErrorDetail(message, code)


def _domain_errors(modules: Iterable[ModuleType], api: str) -> Iterator[DomainError]:
    """An error of each class in the modules whose code the API has."""
    made = {type(error): error for error in _WITH_VALUES}
    for module in modules:
        for kind in vars(module).values():
            if not (isinstance(kind, type) and issubclass(kind, DomainError) and kind.__module__ == module.__name__):
                continue
            entry = CODES.get(getattr(kind, "code", ""))
            if entry and api in entry.apis and kind.status == entry.status:  # a code can have another one elsewhere
                yield made.get(kind) or kind(kind.example)


def _of_page(response: HttpResponse) -> Answer:
    return Answer(response.status_code, json.loads(response.content))


def _of_response(response: Response | None) -> Answer:
    if response is None:
        raise TypeError("An exception handler made no answer.")
    return Answer(response.status_code, response.data)

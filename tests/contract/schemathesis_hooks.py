"""Where the service and its description differ on purpose. `run.sh` loads it into schemathesis.

A request that the description allows and the service refuses fails `positive_data_acceptance`, unless REFUSALS has
what no schema can state. One that the description forbids and the service accepts fails `negative_data_rejection`,
unless it fits the description with TOLERATED.
"""

import copy
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from schemathesis import Case, HookContext, Response, hook
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.generation.meta import CoverageScenario
from schemathesis.openapi.checks import RejectedPositiveData

_MOVES = (
    *("offer", "accept", "collect", "collect/{point}", "deliver/{point}", "fail/{point}"),
    *("return", "position", "expire"),
)
QUOTE, REQUEST = "POST /api/quotation-delivery", "POST /api/request-delivery"
CANCEL, SET_POSITION = "POST /api/cancel-delivery/{deliveryId}", "POST /api/sandbox/deliveries/{deliveryId}/position"
SANDBOX = tuple(f"POST /api/sandbox/deliveries/{{deliveryId}}/{move}" for move in _MOVES)
CHANGE = "PATCH /api/deliveries/{deliveryId}/dropoffs/{point}"
INSTRUCT = "POST /api/deliveries/{deliveryId}/dropoffs/{point}/instruct"
READ = tuple(f"GET /api/{name}/{{deliveryId}}" for name in ("info-delivery", "location-delivery", "deliveries"))
FIND, FEED, PHOTO = "GET /api/deliveries", "GET /api/events", "GET /api/photos/{signed}"
FREIGHT = tuple(f"POST /api/integration/shipping/{name}" for name in ("quote", "services"))
CREATE, FIND_ORDERS = "POST /api/integration/orders", "GET /api/integration/orders"
ORDER_FEED = "GET /api/integration/events"
READ_ORDER, CANCEL_ORDER = "GET /api/integration/orders/{orderId}", "POST /api/integration/orders/cancel"
CORRECT = "PATCH /api/integration/orders/{orderId}"
_LABEL, _LABELS = "GET /api/integration/orders/{orderId}/label", "POST /api/integration/labels"
LABELS = tuple(f"{path}{end}" for path in (_LABEL, _LABELS) for end in ("", ".pdf", ".zpl"))
OPEN, FIND_MANIFESTS = "POST /api/integration/manifests", "GET /api/integration/manifests"
PRINT_MANIFEST = "GET /api/integration/manifests/{manifestId}.pdf"
READ_MANIFEST, DELETE = (f"{method} /api/integration/manifests/{{manifestId}}" for method in ("GET", "DELETE"))
CLOSE, ADD, REMOVE = (
    f"POST /api/integration/manifests/{{manifestId}}/{name}" for name in ("close", "orders", "remove")
)
MOVE_ORDER = "POST /api/integration/sandbox/orders/{orderId}/{status}"
LINK, UNLINK = (f"POST /api/integration/invoices/{{accessKey}}/{name}" for name in ("link", "unlink"))
SET_WEBHOOKS = ("PUT /api/sandbox/webhook", "PUT /api/integration/sandbox/webhook")
EVENTS, MOST_EVENTS = "POST /api/integration/carrier/events", 100
INVOICE, FIND_INVOICES = "POST /api/integration/invoices/marketplace", "GET /api/integration/invoices"

_OF_WINDOWS = "too_far_ahead|window_too_short|windows_contradict|invalid_moment"
_OF_STATES = (
    "already_finished|move_refused|route_taken|offer_expired|stop_not_open|no_driver_assigned|leaving_not_allowed"
)
# By reason: the status, what the refusal says as a pattern, and the operations. It says its code; for invalid fields,
# for each of them, code and pointer (immediate delivery) or code, field and message (order integration).
REFUSALS: dict[str, tuple[int, str, tuple[str, ...]]] = {
    "The tariff has a largest distance, weight, side and volume": (400, "price_unavailable", (QUOTE, REQUEST)),
    "The service area is a setting": (400, "outside_service_area", (QUOTE, REQUEST, SET_POSITION)),
    "A place that is swapped with another is in the service area": (
        422,
        "swapped_coordinates #.*",
        (QUOTE, REQUEST, SET_POSITION),
    ),
    "One of two places has both coordinates": (422, "required #/dropoffs/./address/l(at|ong)itude", (QUOTE, REQUEST)),
    "Addresses of e-mail have no short pattern": (422, "invalid_email #/dropoffs/./contacts/email", (QUOTE, REQUEST)),
    "The account has pickup points": (404, "pickup_not_linked", (REQUEST,)),
    "Quotes have their ids": (422, "quote_mismatch", (REQUEST,)),
    "The sandbox moves so many deliveries at once": (429, "too_many_simulations", (REQUEST,)),
    "The key was used with another body": (422, "idempotency_key_reused", (REQUEST, CREATE)),
    "Webhooks are sent to hosts of the internet": (
        422,
        "(invalid_webhook_url|webhook_host_unresolved)( #/url)?",  # without a pointer in order integration
        SET_WEBHOOKS,
    ),
    "The account has deliveries": (404, "delivery_not_found", (CANCEL, CHANGE, INSTRUCT, *SANDBOX, *READ)),
    "A delivery has so many drop-offs": (404, "stop_not_found", (CHANGE, INSTRUCT)),
    "A drop-off has a state": (
        409,
        "nothing_to_decide|stop_has_ended|route_is_immutable|too_many_changes",
        (CHANGE, INSTRUCT),
    ),
    "One of two keys is there": (
        422,
        "required #(/url)?|invalid_payload url: Envie.*",
        (CHANGE, INSTRUCT, *SET_WEBHOOKS),
    ),
    "Addresses of e-mail that are changed have no short pattern": (422, "invalid_email #/contacts/email", (CHANGE,)),
    "A pickup of mode REVERSE has no policy": (422, "not_in_reverse #/dropoffs/./(onFailure|proof)", (QUOTE, REQUEST)),
    "Windows have rules, and there is no 30 February": (
        422,
        f"({_OF_WINDOWS}) #/(pickup|dropoffs/./)([Rr]eady|[Dd]eadline)At",
        (QUOTE, REQUEST),
    ),
    "Another reason has a text": (422, "reason_missing #/reason", SANDBOX),
    "The delivery has a state": (422, _OF_STATES, (CANCEL, *SANDBOX)),
    "A route has so many drop-offs": (422, "stop_not_found", SANDBOX),
    "A cursor is one of an answer": (422, "invalid_cursor", (FIND, FEED)),
    "A photo has a signed address": (404, "photo_not_found", (PHOTO,)),
    "The tables of freight have postcodes and weights": (400, "no_coverage|too_heavy", FREIGHT),
    "The seller has companies": (404, "company_not_found|invalid_document", (CREATE,)),
    "Other sellers have companies": (401, "foreign_company", (CREATE,)),
    "The seller has such an order": (400, "duplicate_order", (CREATE,)),
    "The seller has orders": (404, "order_not_found", (READ_ORDER, CANCEL_ORDER, CORRECT)),
    "The seller has orders of labels and manifests": (
        404,
        "order_not_found",
        (*LABELS, OPEN, ADD, REMOVE, MOVE_ORDER, LINK, UNLINK),
    ),
    "The seller has invoices": (404, "invoice_not_found", (LINK, UNLINK)),
    "The seller has manifests": (
        404,
        "manifest_not_found",
        (READ_MANIFEST, PRINT_MANIFEST, CLOSE, DELETE, ADD, REMOVE),
    ),
    "Orders of labels and manifests have a state": (
        409,
        "order_cancelled|order_forgotten|too_many_labels|in_open_manifest|order_not_pending",
        (*LABELS, OPEN, ADD),
    ),
    "A corrected order waits for collection": (409, "order_not_pending|order_forgotten", (CORRECT,)),
    "One of the keys of a correction is there": (422, "invalid_payload body: Envie.*", (CORRECT,)),
    "A manifest has a state": (409, "manifest_closed|manifest_empty|manifest_full", (CLOSE, DELETE, ADD, REMOVE)),
    "A test order has a status": (422, "move_refused|invalid_status_report", (MOVE_ORDER,)),
    "A cancellation has refusals of its own": (400, "already_cancelled|already_delivered", (MOVE_ORDER,)),
    "Labels as ZPL have one size": (422, "invalid_payload size: Etiquetas.*", LABELS),
    "A cursor of manifests is one of an answer": (422, "invalid_payload cursor: Use o nextCursor.*", (FIND_MANIFESTS,)),
    "The order has a status": (400, "already_cancelled|already_delivered", (CANCEL_ORDER,)),
    "An invoice is an NF-e": (422, "invalid_invoice", (INVOICE,)),
    "A cursor of orders and invoices is one of an answer": (
        422,
        "invalid_payload cursor: Use o nextCursor.*",
        (FIND_ORDERS, FIND_INVOICES),
    ),
    "A cursor of a feed is one of an answer": (
        422,
        "invalid_payload after: Use o nextCursor.*",
        (ORDER_FEED,),
    ),
    "A value between commas is not blank, in no alphabet": (
        422,
        "invalid_payload (orderId|key): Omita.*",
        (FIND_ORDERS, ORDER_FEED, FIND_INVOICES),
    ),
    "A list ends after it begins": (422, "reversed createdTo", (FIND,)),
    "A list of orders ends after it begins": (422, "invalid_payload createdTo: Fica antes.*", (FIND_ORDERS,)),
    "Documents and access keys have forms": (
        422,
        "invalid_payload (company: Deve ser um CNPJ|key: Deve ter os 44).*",
        (FIND_ORDERS, FIND_INVOICES),
    ),
    "There is no 30 February": (422, "invalid_moment (created(From|To)|from)", (FIND, FEED)),
    "There is no 30 February for orders": (
        422,
        "invalid_payload (created(From|To)|from): Deve ser.*",
        (FIND_ORDERS, ORDER_FEED),
    ),
    "There is no 30 February for invoices": (422, "invalid_payload invoice.issueDate: Deve ter.*", (CREATE, CORRECT)),
}

_NUMBER = {"type": "string", "pattern": r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*$"}
_AMOUNT = {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,20})?$"}
_PLACES = ("PickupAddressRequest", "AddressRequest")
_NUMBERS = (*_PLACES, "CoordinatesRequest", "PackageRequest", "PositionRequest")
_TEXTS = (*_PLACES, "ContactsRequest", "OptionalContactsRequest", "DropoffRequest", "PackageRequest")
_WITH_IDS = tuple(
    f"Seller{name}Request"
    for name in (
        "Addition",
        "Cancel",
        "Event",
        "Invoice",
        "Labels",
        "Link",
        "Manifest",
        "Order",
        "PdfLabels",
        "Removal",
        "Unlink",
        "ZplLabels",
    )
)
# By reason: what properties of a type may be besides, in these components. Not in the description, because clients that
# are generated of it would have a union for each number.
TOLERATED: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "Numbers as text, as forms send them": ("number", _NUMBER, _NUMBERS),
    "Whole numbers as text, as forms send them": ("integer", _NUMBER, ("PackageRequest", "SellerItemRequest")),
    "Amounts as text": (
        "number",
        _AMOUNT,
        ("SellerCorrectionRequest", "SellerInvoiceRequest", "SellerItemRequest", "SellerOrderRequest"),
    ),
    "Texts of digits as integers: house numbers, telephones": ("string", {"type": "integer"}, _TEXTS),
    "Ids of digits as integers": ("string", {"type": "integer"}, _WITH_IDS),
}


@hook
def filter_failure(_context: HookContext, failure: Failure, case: Case, response: Response) -> bool:
    """Whether a failure is one."""
    if isinstance(failure, RejectedPositiveData):
        operation, status = case.operation.label, response.status_code
        others = [said for said in _said(response) if not _is_listed(operation, status, said)]
        failure.message += f"\nNot in REFUSALS: {others}"
        return bool(others)
    if isinstance(failure, AcceptedNegativeData):
        return not (_is_tolerated(case) or _is_answered_by_event(case))
    return True


def _is_answered_by_event(case: Case) -> bool:
    """Whether the body has so many events, each of which is answered by itself, an invalid one too."""
    body = case.body if case.operation.label == EVENTS else None
    events = body.get("events") if isinstance(body, dict) else None
    return isinstance(events, list) and 1 <= len(events) <= MOST_EVENTS


def _said(response: Response) -> Iterator[str]:
    """What a refusal says, as REFUSALS has it."""
    body = response.json()
    errors = body.get("errors")
    if isinstance(errors, list):
        yield from (f"{each['code']} {each.get('pointer') or each['parameter']}" for each in errors)
    elif isinstance(errors, dict) and body["code"] == "invalid_payload":
        yield from (f"invalid_payload {field}: {text}" for field, texts in errors.items() for text in texts)
    else:
        yield body["code"]


def _is_listed(operation: str, status: int, said: str) -> bool:
    return any(
        operation in operations and status == expected and re.fullmatch(pattern, said)
        for expected, pattern, operations in REFUSALS.values()
    )


def _is_tolerated(case: Case) -> bool:
    """Whether a case that does not fit the description does so with what is tolerated, or an unknown header."""
    wrong = {location.value for location, component in case.meta.components.items() if component.mode.is_negative}
    scenario = getattr(case.meta.phase.data, "scenario", None)
    if wrong == {"header"} and scenario is CoverageScenario.OBJECT_UNEXPECTED_PROPERTIES:
        return True
    body = case.operation.definition.raw.get("requestBody", {}).get("content", {}).get("application/json")
    if wrong != {"body"} or body is None:
        return False
    components = _with_tolerated(case.operation.schema.raw_schema["components"])
    schema = {**body["schema"], "components": components}
    return bool(jsonschema_rs.Draft202012Validator(schema).is_valid(case.body))


def _with_tolerated(components: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(components)
    for kind, further, names in TOLERATED.values():
        for properties in (found["schemas"][name]["properties"] for name in names):
            for key, schema in properties.items():
                of_list = schema.get("type") == "array"
                types = (schema["items"] if of_list else schema).get("type")
                if kind == types or (isinstance(types, list) and kind in types):
                    either = {"anyOf": [schema["items"] if of_list else schema, further]}
                    properties[key] = {**schema, "items": either} if of_list else either
    return found

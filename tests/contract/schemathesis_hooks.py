"""Where the service and its description differ on purpose. `run.sh` loads it into schemathesis.

A request that the description allows and the service refuses fails `positive_data_acceptance`, unless REFUSALS has
what no schema can state. One that the description forbids and the service accepts fails `negative_data_rejection`,
unless it fits the description with TOLERATED. So that a body is read, its request names rows that there are: see
`schemathesis_rows.py`.
"""

import copy
import re
import secrets
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import schemathesis_rows
from schemathesis import Case, HookContext, Response, hook
from schemathesis.core import NotSet
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.generation.meta import CoverageScenario, TestPhase
from schemathesis.openapi.checks import RejectedPositiveData

QUOTE, REQUEST = "POST /api/quotation-delivery", "POST /api/request-delivery"
SANDBOX = "POST /api/sandbox/deliveries/{deliveryId}"
BARE_MOVES = tuple(
    f"{SANDBOX}/{move}" for move in ("offer", "accept", "collect", "collect/{point}", "return", "expire")
)
FREIGHT = tuple(f"POST /api/integration/shipping/{name}" for name in ("quote", "services"))
DELIVERIES, DRAFTS, FEED = "GET /api/deliveries", "GET /api/drafts", "GET /api/events"
ORDERS, INVOICES, MANIFESTS, SELLER_DRAFTS, ORDER_FEED = (
    f"GET /api/integration/{name}" for name in ("orders", "invoices", "manifests", "drafts", "events")
)
EVENTS, EVENT, MOST_EVENTS = "POST /api/integration/carrier/events", "SellerEventRequest", 100

# By reason: what the refusal says as a pattern, and the operations. It says its status and code; for invalid fields,
# for each of them, also its pointer (immediate delivery), or its field and message (order integration).
REFUSALS: dict[str, tuple[str, tuple[str, ...]]] = {
    "The tariff is a setting": ("400 price_unavailable", (QUOTE, REQUEST)),
    "A quote has an id": ("422 quote_mismatch", (REQUEST,)),
    "A move without a body is made once": ("422 (move_refused|route_taken|stop_not_open)", BARE_MOVES),
    "A photo has a signed address": ("404 photo_not_found", ("GET /api/photos/{signed}",)),
    "A connected shop has an address": (
        "404 connection_not_found",
        ("POST /api/connections/{connection}", "POST /api/integration/connections/{connection}"),
    ),
    "A cursor is one of an answer": (
        "422 (invalid_cursor|invalid_payload (cursor|after): Use o nextCursor.*)",
        (DELIVERIES, DRAFTS, ORDERS, INVOICES, MANIFESTS, SELLER_DRAFTS, FEED, ORDER_FEED),
    ),
    "Webhooks are sent to hosts of the internet": (
        "422 (invalid_webhook_url|webhook_host_unresolved)( #/url)?",  # without a pointer in order integration
        ("PUT /api/sandbox/webhook", "PUT /api/integration/sandbox/webhook"),
    ),
    "The tables of freight have postcodes and weights": ("400 (no_coverage|too_heavy)", FREIGHT),
    "A shippingId is one of an order": ("404 order_not_found", ("GET /api/integration/orders/{orderId}",)),
    "What is reported depends on the path's status and on now": (
        "422 invalid_status_report",
        ("POST /api/integration/sandbox/orders/{orderId}/{status}",),
    ),
    "A parameter depends on another: labels as ZPL have one size": (
        "422 invalid_payload size: Etiquetas.*",
        ("GET /api/integration/orders/{orderId}/label",),
    ),
    "A URL is at most so long": ("414 url_too_long", (ORDERS, INVOICES, ORDER_FEED)),
    "An invoice is an NF-e": ("422 invalid_invoice", ("POST /api/integration/invoices/marketplace",)),
    "A list ends after it begins": (
        "422 (reversed createdTo|invalid_payload createdTo: Fica antes.*)",
        (DELIVERIES, ORDERS),
    ),
    "Documents of companies have check digits": ("422 invalid_payload company: Deve ser um CNPJ.*", (ORDERS,)),
}

_NUMBER = {"type": "string", "pattern": r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*$"}
_AMOUNT = {"type": "string", "pattern": r"^[0-9]{1,12}(\.[0-9]{1,20})?$"}
_WORDS = (
    *("name", "phoneNumber", "city", "state", "street", "number", "zipcode", "district", "country", "complement"),
    *("externalId", "description", "instructions"),
)
# By reason: what values of a type may be besides, and the properties with their components as a pattern. Not in the
# description, because clients that are generated of it would have a union for each number.
TOLERATED: dict[str, tuple[str, dict[str, Any], str]] = {
    "Numbers as text, as forms send them": (
        "number|integer",
        _NUMBER,
        r"(?!Seller)\w+\.(latitude|longitude|height|width|length|weight|quantity)|SellerItemRequest\.quantity",
    ),
    "Amounts as text": ("number", _AMOUNT, r"Seller\w+\.(orderCost|price|value)"),
    "Texts of digits as integers: house numbers, telephones": (
        "string",
        {"type": "integer"},
        rf"(?!Seller)\w+\.({'|'.join(_WORDS)})",
    ),
    "Ids of digits as integers": (
        "string",
        {"type": "integer"},
        r"Seller\w+\.(orderIds?|trackingCode|eventId|series|number)",
    ),
}

_rows = schemathesis_rows.from_environment()


@hook
def before_call(_context: HookContext, case: Case, _kwargs: dict[str, Any]) -> None:
    """Name rows that there are, but in a sequence of calls, which names those of its answers."""
    if case.meta is None or case.meta.phase.name is TestPhase.STATEFUL:
        return
    wrong = _wrong(case)
    if "path" not in wrong and case.path_parameters:
        case.path_parameters = _rows.parameters(case.operation.label, case.path_parameters)
    case.body = schemathesis_rows.served(case.body)
    if "body" not in wrong:
        case.body = _rows.body(case.operation.label, case.body)
    key = (case.headers or {}).get("Idempotency-Key")
    if key and "header" not in wrong:
        case.headers["Idempotency-Key"] = f"{key[:200]}{secrets.token_hex(8)}"


@hook
def after_call(_context: HookContext, case: Case, response: Response) -> None:
    """Make other rows for the next request, where this one has changed its own."""
    if response.status_code < 300 and case.method == case.operation.method.upper():  # it may be OPTIONS
        _rows.used(case.operation.label, case.path_parameters or {}, response)


@hook
def filter_failure(_context: HookContext, failure: Failure, case: Case, response: Response) -> bool:
    """Whether a failure is one."""
    if isinstance(failure, RejectedPositiveData):
        others = [said for said in _said(response) if not _is_listed(case.operation.label, said)]
        failure.message += f"\nNot in REFUSALS: {others}"
        # In a sequence of calls a row has the state in which those before have left it.
        return bool(others) and case.meta.phase.name is not TestPhase.STATEFUL
    if isinstance(failure, AcceptedNegativeData):
        return not (_is_tolerated(case) or _is_answered_by_event(case, response))
    return True


def _wrong(case: Case) -> set[str]:
    """What of a request does not fit the description: its path, query, header, cookie or body."""
    return {location.value for location, component in case.meta.components.items() if component.mode.is_negative}


def _said(response: Response) -> Iterator[str]:
    """What a refusal says, as REFUSALS has it."""
    body, status = response.json(), response.status_code
    errors = body.get("errors")
    if isinstance(errors, list):
        yield from (f"{status} {each['code']} {each.get('pointer') or each['parameter']}" for each in errors)
    elif isinstance(errors, dict) and body["code"] == "invalid_payload":
        yield from (f"{status} invalid_payload {field}: {text}" for field, texts in errors.items() for text in texts)
    else:
        yield f"{status} {body['code']}"


def _is_listed(operation: str, said: str) -> bool:
    return any(operation in operations and re.fullmatch(pattern, said) for pattern, operations in REFUSALS.values())


def _is_answered_by_event(case: Case, response: Response) -> bool:
    """Whether each event that does not fit the description is refused by itself, as the description says."""
    body = case.body if case.operation.label == EVENTS else None
    events = body.get("events") if isinstance(body, dict) else None
    if not isinstance(events, list) or not 1 <= len(events) <= MOST_EVENTS:
        return False
    fits = _fits(case, {"$ref": f"#/components/schemas/{EVENT}"})
    answers = response.json()["data"]
    return all(fits(event) or not answer["success"] for event, answer in zip(events, answers, strict=True))


def _is_tolerated(case: Case) -> bool:
    """Whether a case that does not fit the description does so with what is tolerated, or an unknown header.

    It may also lack a body that the description does not require.
    """
    wrong = _wrong(case)
    scenario = getattr(case.meta.phase.data, "scenario", None)
    if wrong == {"header"} and scenario is CoverageScenario.OBJECT_UNEXPECTED_PROPERTIES:
        return True
    described = case.operation.definition.raw.get("requestBody", {})
    body = described.get("content", {}).get("application/json")
    if wrong != {"body"} or body is None:
        return False
    if isinstance(case.body, NotSet):
        return not described.get("required")
    return bool(_fits(case, body["schema"])(_stripped(case.body)))


def _stripped(value: Any) -> Any:
    """With texts as the service reads them: without the white space around them, which counts for no length."""
    if isinstance(value, list):
        return [_stripped(each) for each in value]
    if isinstance(value, dict):
        return {key: _stripped(each) for key, each in value.items()}
    return value.strip() if isinstance(value, str) else value


def _fits(case: Case, schema: dict[str, Any]) -> Any:
    """A function that says whether a value has the schema, with what is tolerated."""
    components = _with_tolerated(case.operation.schema.raw_schema["components"])
    return jsonschema_rs.Draft202012Validator({**schema, "components": components}).is_valid


def _with_tolerated(components: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(components)
    for kinds, further, pattern in TOLERATED.values():
        for name, component in found["schemas"].items():
            for properties in (component.get("properties", {}), component.get("then", {}).get("properties", {})):
                for key, schema in properties.items():
                    of_list = schema.get("type") == "array"
                    types = (schema["items"] if of_list else schema).get("type", [])
                    named = [types] if isinstance(types, str) else types
                    if re.fullmatch(pattern, f"{name}.{key}") and any(re.fullmatch(kinds, kind) for kind in named):
                        either = {"anyOf": [schema["items"] if of_list else schema, further]}
                        properties[key] = {**schema, "items": either} if of_list else either
    return found

"""Every field of a body and every parameter of both APIs at its extremes, one at a time while all others are plain.

The fields and what they may be are read from the description that is served, so that a new one is asked by itself.
"""

import json
import math
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from importlib import import_module
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import transaction
from openapi_schema_validator import OAS31Validator
from rest_framework.test import APIClient

from common.api.openapi import DAY
from panel.guide.description import FILE
from tests.cases import in_turn
from tests.cost.test_bodies import BODIES, body_of, body_with
from tests.endpoints import ENDPOINTS, Endpoint

DESCRIPTION: dict[str, Any] = json.loads(FILE.read_text())
regex = import_module("re._parser")
Place = tuple[str | int, ...]


def resolved(schema: Any) -> Any:
    while "$ref" in schema:
        schema = DESCRIPTION["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def alternatives(schema: Any) -> list[Any]:
    """The schemas of what may be sent; null has none."""
    schema = resolved(schema)
    several = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
    return [each for one in several for each in alternatives(one)] if several else [schema]


def leaves(schema: Any, above: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The place and the schema of each value of a body; of a list that of the list and of its first item."""
    for each in alternatives(schema):
        if "properties" in each:
            for name, inner in each["properties"].items():
                yield from leaves(inner, (*above, name))
        elif "items" in each:
            yield above, each
            yield from leaves(each["items"], (*above, 0))
        elif above:
            yield above, schema
            return


def spelled(pattern: str, *, longest: bool) -> str:
    """A text that matches: the longest one of its highest characters, or the shortest one of its lowest."""

    def of(parsed: Any) -> str:
        return "".join(map(one, parsed))

    def one(node: Any) -> str:
        kind, value = str(node[0]), node[1]
        if kind == "LITERAL":
            return chr(value)
        if kind == "IN":
            if str(value[0][0]) == "NEGATE":
                return "x"
            codes = [code for name, found in value for code in (found if str(name) == "RANGE" else (found,))]
            return chr(max(codes) if longest else min(codes))
        if kind == "NOT_LITERAL":
            return "x"
        if kind == "MAX_REPEAT":
            return of(value[2]) * (min(int(value[1]), MOST_REPEATED) if longest else value[0])
        if kind == "SUBPATTERN":
            return of(value[3])
        if kind == "BRANCH":
            return of(value[1][-1 if longest else 0])
        assert kind == "AT", kind
        return ""

    return of(regex.parse(pattern))


MOST_REPEATED = 20
NOT_BLANK = r"^[\s\x1c-\x1f\x85]*[^\s\x1c-\x1f\x85]"
FIRST, LAST = "0001-01-01T00:00:00", "9999-12-31T23:59:59"
MOMENTS = [
    f"{FIRST}Z", f"{FIRST}+14:00", f"{FIRST}-14:00", f"{LAST}Z", f"{LAST}-14:00", f"{LAST}+14:00", LAST, FIRST,
    "9999-12-31", "0001-01-01", "9999-12-31 23:59:59", "2026-02-29T00:00:00Z", "2026-06-30T23:59:60Z",
]  # fmt: skip  # a list


def extremes(schema: Any, plain: Any) -> Iterator[Any]:
    kinds = {schema.get("type")} if isinstance(schema.get("type"), str) else set(schema.get("type", []))
    if "items" in schema:
        most, least = schema["maxItems"], schema.get("minItems", 1)
        yield from (plain[:1] * count for count in (least - 1, least, most, most + 1))
    elif "enum" in schema:
        yield from (schema["enum"][-1], f"{schema['enum'][0]}x", schema["enum"][0].swapcase(), "")
    elif kinds & {"integer", "number"}:
        low, high = schema.get("minimum", schema.get("exclusiveMinimum", 0)), schema.get("maximum", 2**63 - 1)
        yield from (0, -1, 0.005, 2**63, low, high)
        beyond = (
            (low - 1, high + 1)
            if "integer" in kinds
            else (math.nextafter(low, -math.inf), math.nextafter(high, math.inf))
        )
        yield from (*beyond, math.nextafter(low, math.inf))
    elif "string" in kinds:
        yield from ("", "a\0b")
        if (pattern := schema.get("pattern", NOT_BLANK)) != NOT_BLANK:
            yield from (spelled(pattern, longest=False), spelled(pattern, longest=True))
        if schema.get("format") == "date-time" or DAY in pattern:
            yield from MOMENTS
        if most := schema.get("maxLength"):
            yield from ("é" * (most + 1), "é" * most, "\N{SCOOTER}" * most)


OPERATIONS = {
    (method, re.sub(r"{\w+}", "{}", path)): operation
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
}


def asked(endpoint: Endpoint) -> dict[str, Any]:
    """The operation of the description."""
    return OPERATIONS[endpoint.method, "/" + re.sub(r"<[^>]+>", "{}", endpoint.route)]


def body_schema(endpoint: Endpoint) -> Any:
    return asked(endpoint)["requestBody"]["content"]["application/json"]["schema"]


def value_at(body: Any, place: Place) -> Any:
    """None where a key on the way is absent or null."""
    for name in place:
        body = body[name] if isinstance(name, int) else (body or {}).get(name)
    return body


def plain_at(path: str, place: Place) -> Any:
    """What a plain body has there, or would have."""
    return value_at(body_of(path), place)


# Of endpoints that take the same body, the last: that which writes.
OF_BODIES = {json.dumps(body_schema(endpoint)): endpoint for endpoint in BODIES.values()}
WITH_QUERY = [each for each in ENDPOINTS if any(one["in"] == "query" for one in asked(each).get("parameters", []))]
# Refusals of what the description allows, because of rows and settings that it cannot state.
OF_ROWS = {
    "company_not_found", "invalid_document", "no_coverage", "nothing_to_decide", "order_not_found",
    "outside_service_area", "pickup_not_linked", "price_unavailable", "too_heavy", "unknown_tracking_code",
}  # fmt: skip  # a list
# Fields of which no schema states all the rules: a refusal names them.
WITH_RULES = {
    "after", "code", "company", "createdFrom", "createdTo", "cursor", "deadlineAt", "email", "from", "issueDate",
    "occurredAt", "pickupDeadlineAt", "pickupReadyAt", "readyAt", "updatedFrom", "url",
}  # fmt: skip  # a list
AMOUNTS = {"orderCost", "items.0.price", "invoice.value"}
# Of fields of a name, values with an answer of their own.
SPECIAL: dict[tuple[str, Any], str] = {
    **{(name, "999999999999." + "9" * MOST_REPEATED): "rounded, it is too large" for name in AMOUNTS},
    ("code", ""): "none",
    ("code", "OTHER"): "needs a reason in words",
    **{("events.0.code", value): "orders are looked for before" for value in ("", "ABSENTx", "absent")},
    ("deliveryMode", "REVERSE"): "of a drop-off that asks for nothing",
    ("format", "zpl"): "the size of the example is one of PDF",
    ("value", ""): "the specification answers 403",
    ("value", "a\0b"): "the specification answers that nothing is found",
}
# By the endpoint: what shows afterwards what was sent, and where, by the beginning of its place in the body. What is
# not shown: None.
SHOWN: dict[str, tuple[str, dict[Place, Place | None]]] = {
    "/api/request-delivery": (
        "/api/deliveries/{deliveryId}",
        {
            ("dropoffs", 0, "address", "latitude"): None,  # those of `coordinates` count
            ("dropoffs", 0, "address", "longitude"): None,
            ("dropoffs", 0, "contacts", "email"): None,
            ("dropoffs", 0, "proof"): None,
            ("dropoffs", 0, "readyAt"): None,
            ("dropoffs", 0, "deadlineAt"): None,
            ("pickupReadyAt",): None,
            ("pickupDeadlineAt",): None,
            ("dropoffs",): ("orders",),
            ("vehicleType",): ("route", "vehicleType"),
        },
    ),
    "/api/integration/orders": ("/api/integration/orders/{orderId}", {(): ("data",)}),
    "/api/integration/orders/{}": ("/api/integration/orders/{id}", {(): ("data",)}),
    "/api/deliveries/{}/dropoffs/B": (
        "/api/deliveries/{id}", {("contacts", "email"): None, (): ("orders", 0)},
    ),
    "/api/cancel-delivery/{}": ("/api/deliveries/{id}", {(): ("cancellation",)}),
    "/api/sandbox/deliveries/{}/deliver/B": (
        "/api/deliveries/{id}", {("receivedBy",): ("orders", 0, "proof", "receivedBy"), (): None},
    ),
    "/api/sandbox/deliveries/{}/fail/B": (
        "/api/deliveries/{id}",
        {("code",): ("orders", 0, "failureCode"), (): None},  # the reason of the example's code is that of the code
    ),
    "/api/integration/sandbox/orders/{}/delivery_failed": (
        "/api/integration/orders/{id}", {("occurredAt",): None, (): ("data", "status_log", -1)},
    ),
}  # fmt: skip  # a table


def values(name: str, schema: Any, plain: Any, known: set[str]) -> list[tuple[Any, bool]]:
    """The values of a field, and whether the description allows each.

    Of a field like one that is `known`, only the last one that is allowed: it shows whether the field is kept apart.
    """
    validator = OAS31Validator({**DESCRIPTION, **resolved(schema)})
    found = {repr(each): each for kind in alternatives(schema) for each in (None, *extremes(kind, plain))}
    usual = [each for each in found.values() if isinstance(each, list) or (name, each) not in SPECIAL]
    judged = [(each, validator.is_valid(each) and "\0" not in str(each)) for each in usual]
    if (text := json.dumps(schema)) in known:
        return [each for each in judged if each[1]][-1:]
    known.add(text)
    return judged


def several(name: str, schema: Any, plain: Any, known: set[str]) -> list[tuple[Any, bool]]:
    """The same of a parameter that has its values between commas."""
    item, most = schema["items"], schema["maxItems"]
    is_id = item.get("format") == "uuid"
    found = [(str(uuid4()), True), ("x", False)] if is_id else values(name, item, plain, known)
    good = next(value for value, is_allowed in found if is_allowed and value)
    return [*found, (f"{good},", False), (",".join([good] * most), True), (",".join([good] * (most + 1)), False)]


def named(body: Any) -> set[str]:
    """The fields that a refusal names, with dots between keys. Where area B answers no `errors`, its message does."""
    errors = body.get("errors")
    if errors is None:
        return set(re.findall(r"(?:inválidos|\.;): ([\w.]+): ", body.get("message", "")))
    if isinstance(errors, dict):
        return set(errors)
    return {(each.get("pointer") or each["parameter"]).removeprefix("#/").replace("/", ".") for each in errors}


def refusal(answer: Any) -> Any:
    """The body of a refusal, also of an event among those that a carrier reports; None if it was taken."""
    if answer.status_code < 300 and "json" not in answer.headers["Content-Type"]:
        return None
    body = answer.json()
    if answer.status_code >= 400:
        return body
    events = body["data"] if isinstance(body.get("data"), list) else []
    return next(({**each, "of_event": True} for each in events if each.get("success") is False), None)


def wrong(answer: Any, name: str, *, is_allowed: bool) -> str:
    """What is wrong about the answer to a value of a field; empty if nothing is."""
    if answer.status_code >= 500:
        return str(answer.status_code)
    refused = refusal(answer)
    if refused is None:
        return "" if is_allowed else "taken"
    found = {f"events.0.{each}" if "of_event" in refused else each for each in named(refused)}
    if is_allowed and (refused["code"] in OF_ROWS or (name.rpartition(".")[2] in WITH_RULES and name in found)):
        return ""
    return "" if found == {name} and not is_allowed else f"{answer.status_code} {refused['code']} {sorted(found)}"


def shown_at(place: Place, moved: dict[Place, Place | None]) -> Place | None:
    for start, there in moved.items():
        if place[: len(start)] == start:
            return None if there is None else (*there, *place[len(start) :])
    return place


def is_same(sent: Any, shown: Any, name: str) -> bool:
    """Amounts have four decimal places, half up; postcodes of area A are digits alone. An empty value has a default."""
    if not sent and sent != 0:
        return True
    if isinstance(sent, list):
        return len(sent) == len(shown)
    if name in AMOUNTS:
        return Decimal(str(shown)) == Decimal(str(sent)).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return bool(shown == (re.sub(r"\D", "", sent) if name.endswith("zipcode") else sent))


def id_in(address: str, path: str) -> str:
    """What stands in the place of {} of the path."""
    return next((part for part, of in zip(address.split("/"), path.split("/"), strict=True) if of == "{}"), "")


@pytest.fixture
def client_for(headers_for):
    def make(endpoint):
        return APIClient(HTTP_AUTHORIZATION=headers_for(endpoint.path)["Authorization"], raise_request_exception=False)

    return make


@in_turn("endpoint", OF_BODIES.values())
def test_a_field_of_a_body_is_taken_as_it_is_or_named(endpoint, client_for, address_of):
    client, address, path, found = client_for(endpoint), address_of(endpoint.path), endpoint.path, {}
    where, moved = SHOWN.get(path, ("", {}))
    known: set[str] = set()

    for place, schema in leaves(body_schema(endpoint)):
        name = ".".join(map(str, place))
        plain = value_at(body_of(path), place) if "items" in schema else None
        for value, is_allowed in values(name, schema, plain, known):
            body = body_with(body_of(path), place, json.dumps(value))
            before = transaction.savepoint()
            answer = client.generic(endpoint.method.upper(), address, body, content_type="application/json")
            fault = wrong(answer, name, is_allowed=is_allowed)
            there = shown_at(place, moved) if where and not fault and not refusal(answer) else None
            if there:
                ids = {**json.loads(body), **answer.json(), "id": id_in(address, path)}
                detail = where.format_map({key: quote(str(each), safe="") for key, each in ids.items()})
                shown = value_at(client.get(detail).json(), there)
                fault = "" if is_same(value, shown, name) else f"shown as {shown!r}"
            transaction.savepoint_rollback(before)
            if fault:
                found[name, repr(value)[:70]] = fault

    assert found == {}


@in_turn("endpoint", WITH_QUERY)
def test_a_parameter_of_a_query_is_taken_or_named(endpoint, client_for, address_of):
    client, address = client_for(endpoint), address_of(endpoint.path)
    parameters = {each["name"]: each["schema"] for each in asked(endpoint)["parameters"] if each["in"] == "query"}

    found = {
        (name, repr(value)[:70]): fault
        for name, schema in parameters.items()
        for value, is_allowed in (several if "items" in schema else values)(name, schema, None, set())
        if value is not None
        and (fault := wrong(client.get(address, {**endpoint.query, name: value}), name, is_allowed=is_allowed))
    }

    assert found == {}

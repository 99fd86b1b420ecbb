"""No answer of area B holds an English sentence, whatever is wrong with the request."""

import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from django.core import validators
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.test import RequestFactory
from django.utils import timezone
from rest_framework import exceptions, fields, serializers
from rest_framework import validators as rest_validators

from config import errors
from config.server import limits
from integration.accounts import sellers
from integration.actions import orders
from integration.invoices.models import Invoice
from integration.lifecycle import Status
from integration.models import Order
from tests.cases import in_turn
from tests.integration.factories import BY, OTHER_COMPANY, create_order, nfe_xml, order_body, upload

ROOT = "/api/integration/"
QUOTE = {
    "origin": "01310100", "destination": "40020000", "width": "1", "height": "1", "length": "1", "weight": 1,
    "declared_amount": 1,
}  # fmt: skip  # a body reads as one
BODIES = {"shipping/quote": QUOTE, "orders": order_body(), "orders/cancel": {"orderId": "A-1"}}
METHODS = {**dict.fromkeys(BODIES, "post"), "invoices/marketplace": "post", "orders/tracking": "get"}
BAD_TEXTS = ["", " ", "\0", "a\0b", "\ud800", "a\udfffb", "x" * 5000, "１２", "NaN", "-1"]
BAD_VALUES: list[Any] = [*BAD_TEXTS, None, True, 0, -1, 1.5, 10**400, -(10**400), [], [1], [[]], {}, {"a": 1}]
BAD_BODIES = [
    b"", b"[]", b"null", b"1", b"{", b"\xff", b"\xfe\xff{}", b'{"orderId": NaN}', b'{"orderId": "\\ud8"}',
    b'{"weight": 1e99999999999999999999}', b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", b"[" * 100_000, b" " * 300_000,
]  # fmt: skip  # a list of cases
# Words of English sentences that Portuguese sentences do not have.
ENGLISH = {
    "the", "this", "that", "is", "are", "was", "not", "of", "and", "or", "may", "must", "should", "be", "been", "with",
    "without", "from", "to", "at", "by", "field", "fields", "valid", "invalid", "allowed", "required", "expected",
    "ensure", "enter", "value", "values", "characters", "string", "number", "null", "blank", "found", "method",
    "request", "too", "long", "large", "unknown", "missing", "error", "server", "bad", "provided", "supplied",
}  # fmt: skip  # a list of words
# Names of a header and of parameters, and a sentence that the specification prints.
SPECIFIED = re.compile(r"X-Request-Id|Idempotency-Key|API_KEY|Request não altorizado|parâmetro value|order_number")


def _sentences_of_the_frameworks():
    """The fixed parts of every message that Django and DRF have for invalid input."""
    classes = [found for module in (fields, serializers) for found in vars(module).values() if isinstance(found, type)]
    texts = [text for found in classes for text in vars(found).get("default_error_messages", {}).values()]
    texts += [found.default_detail for found in vars(exceptions).values() if hasattr(found, "default_detail")]
    for module in (validators, rest_validators):
        texts += [found.message for found in vars(module).values() if isinstance(getattr(found, "message", None), str)]
    parts = {part.strip(" .\"'").lower() for text in texts for part in re.split(r"\{.*?\}|%\(\w+\)\w", str(text))}
    return {part for part in parts if " " in part}


KNOWN = _sentences_of_the_frameworks()


def english(text):
    """What is English in a text."""
    text = SPECIFIED.sub("", text).lower()
    return ENGLISH & set(re.findall(r"\w+", text)) | {part for part in KNOWN if part in text}


def assert_refused_in_portuguese(response):
    body = json.loads(response.content)
    texts = [body["message"], *(text for found in body.get("errors", {}).values() for text in found)]
    assert body["success"] is False
    assert all(texts)
    assert [(text, found) for text in texts if (found := english(text))] == []


def with_every_value(body, value):
    """A body of the same shape with `value` in every field."""
    if isinstance(body, dict):
        return {name: with_every_value(inner, value) for name, inner in body.items()}
    return [with_every_value(inner, value) for inner in body] if isinstance(body, list) else value


def replaced(body, path, value):
    if not path:
        return value
    name, *rest = path
    inner = replaced(body[name], rest, value)
    return {**body, name: inner} if isinstance(body, dict) else [inner]


def post(api, path, body):
    return api.generic("POST", ROOT + path, json.dumps(body), content_type="application/json")


@pytest.mark.parametrize("text", ["Null characters are not allowed.", "Not a valid string.", "Method is wrong."])
def test_english_is_recognised(text):
    assert english(text)


@pytest.mark.parametrize("path", BODIES)
def test_of_a_bad_value_in_every_field(api, path):
    for value in BAD_VALUES:
        assert_refused_in_portuguese(post(api, path, with_every_value(BODIES[path], value)))

    assert not Order.objects.exists()


@in_turn(
    "path", [(), ("company_document",), ("items",), ("items", 0), ("receiver",), ("receiver", "address"), ("invoice",)]
)
def test_of_a_bad_value_in_place_of_a_part(api, path):
    for value in [*BAD_VALUES, [{}] * 1001]:
        response = post(api, "orders", replaced(order_body(), path, value))

        # Null is allowed where the specification makes a part optional.
        if not (path == ("invoice",) and value in (None, {})):
            assert_refused_in_portuguese(response)


@pytest.mark.parametrize("path", BODIES)
def test_of_a_malformed_body(api, path):
    for raw in BAD_BODIES:
        response = api.generic("POST", ROOT + path, raw, content_type="application/json")

        assert_refused_in_portuguese(response)
        invalid = 422 if path == "orders" else 400
        assert response.status_code == (413 if len(raw) > 256 * 1024 else invalid)


@pytest.mark.parametrize("path", [*BODIES, "invoices/marketplace"])
def test_of_a_wrong_content_type(api, path):
    forms = ["multipart/form-data", "multipart/form-data; boundary=x", "multipart/form-dataX; boundary=x"]
    others = ["", "text/plain", "application/xml", "application/x-www-form-urlencoded", "x", "application/json-x"]

    for content_type in forms + others:
        response = api.generic("POST", ROOT + path, b"--x\r\n\r\n{}\r\n--x--", content_type=content_type)

        assert_refused_in_portuguese(response)
        assert response.status_code == (422 if path in {"orders", "invoices/marketplace"} else 400)
        if path == "invoices/marketplace":
            assert response.json()["message"].startswith("Envie exatamente um arquivo XML no campo nfe")


@in_turn(("path", "allowed"), METHODS.items())
def test_of_a_wrong_method(api, path, allowed):
    also = {"get"} if path == "orders" else set()
    for method in {"get", "post", "put", "patch", "delete", "trace"} - {allowed} - also:
        response = api.generic(method.upper(), ROOT + path, b"{}", content_type="application/json")

        assert response.status_code == 405
        assert_refused_in_portuguese(response)


def test_of_an_unknown_path(api):
    for path in ("", "orders/", "orders/1", "nothing", "orders%00", "%F0", "orders/tracking/x"):
        response = api.get(ROOT + path)

        assert response.status_code == 404
        assert_refused_in_portuguese(response)


@in_turn("query", ["", "type={0}", "type={0}&value=1", "type=document&value={0}&type={0}",
    "type=document&value=1&document={0}", "value={0}", "type=order_number&value=nothing&document={0}"])  # fmt: skip
def test_of_a_bad_query(api, query):
    for text in [*(text.encode("utf-8", "surrogatepass") for text in BAD_TEXTS), b"\xff"]:
        assert_refused_in_portuguese(api.get(f"{ROOT}orders/tracking?{query.format(quote(text))}"))


def test_of_a_bad_invoice(api):
    cases: list[dict[str, Any]] = [
        {}, {"nfe": "text"}, {"xml": File("n.xml", b"<a/>")}, {"nfe": [File("a", b"x"), File("b", b"y")]},
        *({"nfe": File("n.xml", raw)} for raw in (
            b" ", b"<a", b"<!DOCTYPE a><a/>", b"<a/>", b"\xff", b"a\0", b"<a/>" * 300_000,
            nfe_xml(key="").encode(), nfe_xml(items=("",)).encode(), nfe_xml(items=("x" * 256,)).encode(),
            nfe_xml(items=("A",) * 1001).encode(), nfe_xml(layout="5.00").encode(), nfe_xml().encode("utf-32"),
            nfe_xml().replace("150.50", "x").encode(), nfe_xml().replace("2026-11-20T", "x").encode(),
            b'<?xml version="1.0" encoding="x"?>', b'<?xml encoding="x"?>',
        )),
    ]  # fmt: skip  # a list of cases

    answers = [api.post(f"{ROOT}invoices/marketplace", files, format="multipart") for files in cases]
    too_large = [upload(api, b" " * size) for size in (2 * 2**20 + 1, 50 * 2**20)]

    for response in answers + too_large:
        assert_refused_in_portuguese(response)
    assert {response.status_code for response in answers} == {422}
    assert [response.status_code for response in too_large] == [413, 413]
    assert not Invoice.objects.exists()


class TestRefusalOfTheDomain:
    def test_of_an_order(self, api, seller, other_seller):
        order = create_order(seller)

        for changes in ({}, {"company_document": OTHER_COMPANY}, {"company_document": "1"}):
            assert_refused_in_portuguese(post(api, "orders", order_body(**changes)))
        for order_id in ("A-1", "A-1", "nothing"):
            response = post(api, "orders/cancel", {"orderId": order_id})
        assert_refused_in_portuguese(response)
        assert_refused_in_portuguese(post(api, "orders/cancel", {"orderId": "A-1"}))
        delivered = create_order(seller, orderId="A-2")
        orders.move(order=delivered, to=Status.DELIVERED, by=BY, at=timezone.now())
        assert_refused_in_portuguese(post(api, "orders/cancel", {"orderId": "A-2"}))
        assert Order.objects.get(pk=order.pk).status == "cancelled"

    @pytest.mark.usefixtures("tariff")
    def test_of_a_quote(self, api):
        for changes in ({"origin": "00000000"}, {"weight": 31}, {"weight": 10**9}):
            assert_refused_in_portuguese(post(api, "shipping/quote", {**QUOTE, **changes}))

    def test_of_an_invoice_over_a_quota(self, api, settings):
        settings.INVOICES_PER_DAY = 1
        for number in (1, 2):
            response = upload(api, nfe_xml(key=f"{number:044}").encode())

        assert response.status_code == 429
        assert_refused_in_portuguese(response)

    def test_of_a_key(self, api):
        for header in ("", "Basic", "Basic x", "Basic ção", "Bearer x"):
            assert_refused_in_portuguese(api.get(f"{ROOT}orders/tracking", headers={"Authorization": header}))

    def test_of_a_suspended_seller(self, api, seller):
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())

        assert_refused_in_portuguese(api.get(f"{ROOT}orders/tracking"))


@pytest.mark.parametrize(
    "answer",
    [
        errors.bad_request, errors.not_found, errors.server_error, errors.late_body, errors.tls_required,
        errors.busy,
        *(lambda request, limit=limit: errors.too_long(request, limit) for limit in (limits._URL, limits._header("X"))),
    ],
)  # fmt: skip  # a list of cases
def test_of_a_request_that_reaches_no_endpoint(answer):
    request = RequestFactory().get(f"{ROOT}orders")
    arguments = [request, Exception()] if answer in (errors.bad_request, errors.not_found) else [request]

    assert_refused_in_portuguese(answer(*arguments))

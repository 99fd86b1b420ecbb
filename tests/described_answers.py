"""Every answer of an API that a test's client gets, compared with the OpenAPI description."""

import json
import re
from functools import cache
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from openapi_schema_validator import OAS31Validator, oas31_format_checker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from config.areas import Area, area_of
from panel.guide.description import FILE

_URI = "urn:description"
_DESCRIPTION: dict[str, Any] = json.loads(FILE.read_text())
for _schema in _DESCRIPTION["components"]["schemas"].values():
    _schema.setdefault("additionalProperties", False)  # readers have to accept more keys, but the service sends none
_REGISTRY: Registry[Any] = Registry().with_resource(_URI, DRAFT202012.create_resource(_DESCRIPTION))
_SHARED_HEADERS: dict[str, Any] = _DESCRIPTION["components"]["headers"]
# The bodies of refusals at paths, and of methods, that the description has not.
_REFUSALS = {Area.A: "#/components/schemas/InvalidProblem", Area.B: "#/components/schemas/SellerRefusal"}
# Below the APIs' address and no operations: the index, and what describes the APIs.
_NO_OPERATIONS = re.compile(r"/api/?|/api/(openapi\.(json|yaml)|postman\.json)")
# Headers of every answer of this service, and those that say what a body is.
_COMMON_HEADERS = {
    "Allow", "Cache-Control", "Content-Disposition", "Content-Length", "Content-Security-Policy", "Content-Type",
    "Cross-Origin-Opener-Policy", "Referrer-Policy", "Strict-Transport-Security", "Vary", "X-Content-Type-Options",
    "X-Frame-Options",
}  # fmt: skip  # a list


class Operation(NamedTuple):
    """A call that the description has. `pointer`: where, as a JSON Pointer."""

    path: re.Pattern[str]
    method: str
    pointer: str
    answers: dict[str, Any]


def _operations() -> list[Operation]:
    found = [
        (path, method, operation) for path, methods in _DESCRIPTION["paths"].items()
        for method, operation in methods.items()
    ]  # fmt: skip
    return [
        Operation(
            re.compile(re.sub(r"\{\w+\}", ".+", path.replace("{deliveryId}", "[^/]+"))),
            method.upper(),
            "#/paths/" + path.replace("~", "~0").replace("/", "~1") + f"/{method}/responses",
            operation["responses"],
        )
        # /orders/tracking is no {orderId}, nor is A-1/label one
        for path, method, operation in sorted(found, key=lambda each: ("{" in each[0], -len(each[0])))
    ]


_OPERATIONS = _operations()


def check(request: HttpRequest, response: HttpResponse) -> None:
    """Raises AssertionError where an answer has a status, a header or a body that the description has not."""
    area = area_of(request.path)
    if area is None or request.method == "OPTIONS" or _NO_OPERATIONS.fullmatch(request.path):
        return
    method = "GET" if request.method == "HEAD" else request.method
    call = f"{request.method} {request.path}: {response.status_code}"
    called = next((each for each in _OPERATIONS if each.method == method and each.path.fullmatch(request.path)), None)
    if called is None and request.path.startswith("/api/integration/invoices/") and response.status_code < 400:
        return  # a path of INVOICE_PATHS
    if called is None:
        assert response.status_code >= 400, f"{call} is not described"
        _check_body(call, request, response, _REFUSALS[area])
        return
    answer = called.answers.get(str(response.status_code))
    assert answer, f"{call} is not described"
    _check_headers(call, response, answer["headers"])
    media_type = response.get("Content-Type", "").partition(";")[0]
    described = answer.get("content", {})
    assert media_type in described or (not described and not response.content), f"{call}: {media_type} is not described"
    pointer = f"{called.pointer}/{response.status_code}/content/{media_type.replace('/', '~1')}/schema"
    _check_body(call, request, response, pointer)


def _check_headers(call: str, response: HttpResponse, described: dict[str, Any]) -> None:
    for name, text in response.items():
        if name in _COMMON_HEADERS:
            continue
        assert name in described, f"{call}: the header {name} is not described"
        schema = {"schema": {}, **_SHARED_HEADERS.get(name, {}), **described[name]}["schema"]
        value = int(text) if schema["type"] == "integer" else text
        errors = [each.message for each in OAS31Validator(schema).iter_errors(value)]
        assert not errors, f"{call}: {name}: {'; '.join(errors)}"


def _check_body(call: str, request: HttpRequest, response: HttpResponse, pointer: str) -> None:
    if request.method == "HEAD" or not response.get("Content-Type", "").partition(";")[0].endswith("json"):
        return
    errors = [
        f"{each.json_path}: {each.message}" for each in _validator(pointer).iter_errors(json.loads(response.content))
    ]
    assert not errors, f"{call}: {'; '.join(errors)}"


@cache
def _validator(pointer: str) -> Any:
    return OAS31Validator({"$ref": _URI + pointer}, registry=_REGISTRY, format_checker=oas31_format_checker)

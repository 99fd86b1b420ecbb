"""Every answer of an API that a test's client gets, compared with the OpenAPI description."""

import json
import re
from functools import cache
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from openapi_schema_validator import OAS31Validator, oas31_format_checker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from config.management.commands.openapi import FOLDER

_URI = "urn:description"
_DESCRIPTION: dict[str, Any] = json.loads((FOLDER / "openapi.json").read_text())
for _schema in _DESCRIPTION["components"]["schemas"].values():
    _schema.setdefault("additionalProperties", False)  # readers have to accept more keys, but the service sends none
_REGISTRY: Registry[Any] = Registry().with_resource(_URI, DRAFT202012.create_resource(_DESCRIPTION))


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
            re.compile(re.sub(r"\{\w+\}", ".+", path)),
            method.upper(),
            "#/paths/" + path.replace("~", "~0").replace("/", "~1") + f"/{method}/responses",
            operation["responses"],
        )
        for path, method, operation in sorted(
            found, key=lambda each: "{" in each[0]
        )  # /orders/tracking is no {orderId}
    ]


_OPERATIONS = _operations()


def check(request: HttpRequest, response: HttpResponse) -> None:
    """Raises AssertionError where an answer has a status, a media type or a body that the description has not."""
    called = next(
        (each for each in _OPERATIONS if each.method == request.method and each.path.fullmatch(request.path)), None
    )
    if called is None:
        return
    call = f"{request.method} {request.path}: {response.status_code}"
    answer = called.answers.get(str(response.status_code))
    assert answer, f"{call} is not described"
    media_type = response.get("Content-Type", "").partition(";")[0]
    described = answer.get("content", {})
    assert media_type in described or (not described and not response.content), f"{call}: {media_type} is not described"
    if media_type.endswith("json"):
        pointer = f"{called.pointer}/{response.status_code}/content/{media_type.replace('/', '~1')}/schema"
        errors = [
            f"{each.json_path}: {each.message}"
            for each in _validator(pointer).iter_errors(json.loads(response.content))
        ]
        assert not errors, f"{call}: {'; '.join(errors)}"


@cache
def _validator(pointer: str) -> Any:
    return OAS31Validator({"$ref": _URI + pointer}, registry=_REGISTRY, format_checker=oas31_format_checker)

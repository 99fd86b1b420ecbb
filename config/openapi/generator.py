"""The OpenAPI 3.1 description of both APIs, made by drf-spectacular from the URLs, the serializers and `operations`."""

from typing import Any, TypedDict

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.settings import patched_settings

from common.views import DeprecatableView
from config.openapi import enumerations, headers
from config.openapi import fields as _fields  # registers its extensions
from config.openapi.json_schema import Schema, schema_of
from config.openapi.operation import Answer, Operation, Parameter
from config.openapi.operations import OPERATIONS, PATH_NAMES, WEBHOOK_HEADERS, WEBHOOK_TEXT
from delivery.api.field_errors import FieldError
from delivery.body_types import Event
from integration.api.answers import Refusal
from panel.guide.catalogue import CODES

assert _fields  # noqa: S101  # nosec B101  # imported for its effect

_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "TITLE": "Rota",
    "VERSION": "1",
    "LICENSE": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    "DESCRIPTION": (
        "Same-day deliveries (immediate delivery, Bearer token) and orders of sellers (order integration, API key). "
        "The guide is at /docs/, each error code at /docs/errors/{code}."
    ),
    "SERVERS": [
        {"url": "/", "description": "This service. A test token uses the sandbox, a live one the live environment."}
    ],
    "TAGS": [
        {"name": "Immediate delivery", "description": "Quote, request, follow and cancel same-day deliveries."},
        {
            "name": "Find and read",
            "description": "Find deliveries, read everything about one, and what webhooks carried.",
        },
        {"name": "Sandbox", "description": "Move the deliveries of test tokens."},
        {"name": "Order integration", "description": "Freight by postcode, orders, tracking and invoices of a seller."},
    ],
    "SORT_OPERATIONS": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [],  # `enumerations` names those that are shared
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,  # it would repeat the values
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}


class Problem(TypedDict):
    """An error of immediate delivery (RFC 9457). `code` is stable; `retryable`: whether the same call may succeed."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool


class InvalidProblem(Problem, total=False):
    """A problem with the places that are wrong."""

    errors: list[FieldError]


class DescribedSchema(AutoSchema):
    """Takes everything but the schema of the request body from `operations`."""

    def get_operation(self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any) -> dict[str, Any]:
        self.path, self.path_regex, self.path_prefix, self.method = path, path_regex, path_prefix, method.upper()
        self.registry = registry
        operation = OPERATIONS[self.method, path]
        described: dict[str, Any] = {
            "operationId": operation.id,
            "summary": operation.summary,
            "description": operation.description,
            "tags": [operation.tag],
            "security": self.get_auth(),
            "parameters": [_parameter(parameter) for parameter in operation.parameters],
            "responses": {
                **{str(status): self._answer(answer) for status, answer in operation.answers.items()},
                **self._refusals(operation),
            },
        }
        if isinstance(self.view, DeprecatableView) and self.view.deprecation is not None:
            described["deprecated"] = True
        if operation.request is not None:
            described["requestBody"] = self._body(operation)
        return described

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        """Area B's have a prefix, because both areas have an AddressSerializer."""
        name = type(serializer).__name__.removesuffix("Serializer").removesuffix("Request")
        return f"Seller{name}" if type(serializer).__module__.startswith("integration") else name

    def _body(self, operation: Operation) -> dict[str, Any]:
        if isinstance(operation.request, dict):
            return {"required": True, "content": operation.request}
        component = self.resolve_serializer(operation.request, "request")
        content: dict[str, Any] = {"schema": component.ref if component else {"type": "object"}}
        if operation.request_example is not None:
            content["example"] = operation.request_example
        return {"required": operation.is_body_required, "content": {"application/json": content}}

    def _answer(self, answer: Answer) -> dict[str, Any]:
        content: dict[str, Any] = {} if answer.body is None else {"schema": self._schema(answer.body)}
        if answer.example is not None:
            content["example"] = answer.example
        described: dict[str, Any] = {
            "description": answer.description,
            "headers": _response_headers((*headers.COMMON, *answer.headers)),
            "content": {answer.media_type: content},
        }
        return described | ({"links": dict(answer.links)} if answer.links else {})

    def _refusals(self, operation: Operation) -> dict[str, Any]:
        """The answers with errors, by status; the description has every code."""
        is_of_sellers = self.path.startswith("/api/integration/")
        media_type = "application/json" if is_of_sellers else "application/problem+json"
        schema = self._schema(Refusal if is_of_sellers else InvalidProblem)
        status_of = {code: operation.statuses.get(code, CODES[code].status) for code in operation.errors}
        return {
            str(status): {
                "description": " ".join(
                    f"`{code}`: {CODES[code].meaning}" for code in operation.errors if status_of[code] == status
                ),
                "headers": _response_headers((*headers.COMMON, *headers.BY_STATUS.get(status, ()))),
                "content": {media_type: {"schema": schema}},
            }
            for status in sorted(set(status_of.values()))
        }

    def _schema(self, hint: Any) -> Schema:
        components: dict[str, Schema] = {}
        schema = schema_of(hint, components)
        for name, component in components.items():
            self.registry.register_on_missing(
                ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, schema=component, object=name)
            )
        return schema


def _parameter(parameter: Parameter) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": parameter.name,
        "in": parameter.place,
        "description": parameter.description,
        "required": parameter.required or parameter.place == "path",
        "schema": dict(parameter.schema),
    }
    return described | ({"example": parameter.example} if parameter.example is not None else {})


def _response_headers(names: tuple[str, ...]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def describe() -> dict[str, Any]:
    """The description. Raises KeyError for an endpoint without an operation, ValueError for one without an endpoint."""
    with patched_settings(_SETTINGS):
        found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    described = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    if missing := OPERATIONS.keys() - described:
        raise ValueError(f"No endpoint: {missing}")
    found["paths"] = _in_order(found["paths"])
    components = found["components"]["schemas"]
    event = schema_of(Event, components)
    found["components"]["headers"] = {
        name: {"description": description, "schema": schema} for name, (description, schema) in headers.RESPONSE.items()
    }
    found["webhooks"] = {"delivery": {"post": _webhook(event)}}
    cleaned: dict[str, Any] = enumerations.with_references(_without_enum_ids(found))
    components = cleaned["components"]
    components["schemas"] = dict(sorted({**components["schemas"], **enumerations.COMPONENTS}.items()))
    return cleaned


def _without_enum_ids(value: Any) -> Any:
    """The value without a mark that drf-spectacular leaves for its own postprocessing."""
    if isinstance(value, dict):
        return {key: _without_enum_ids(inner) for key, inner in value.items() if key != "x-spec-enum-id"}
    return [_without_enum_ids(inner) for inner in value] if isinstance(value, list) else value


def _in_order(paths: dict[str, Any]) -> dict[str, Any]:
    """The paths by the names that the description has, in the order of `operations`; a router's is the alphabet's."""
    ordered: dict[str, Any] = {}
    for method, path in OPERATIONS:
        ordered.setdefault(_renamed(path), {})[method.lower()] = paths[path][method.lower()]
    return ordered


def _renamed(path: str) -> str:
    for name, shown in PATH_NAMES.items():
        path = path.replace(f"{{{name}}}", f"{{{shown}}}")
    return path


def _webhook(event: Schema) -> dict[str, Any]:
    return {
        "operationId": "delivery-webhook",
        "summary": "A delivery has changed",
        "description": WEBHOOK_TEXT,
        "tags": ["Immediate delivery"],
        "security": [{"token": []}],
        "parameters": [_parameter(parameter) for parameter in WEBHOOK_HEADERS],
        "requestBody": {"required": True, "content": {"application/json": {"schema": event}}},
        "responses": {
            "2XX": {"description": "Received. Nothing else ends the retries, except 410."},
            "410": {"description": "Switches the endpoint off; events are kept."},
        },
    }

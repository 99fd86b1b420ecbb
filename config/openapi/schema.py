"""What drf-spectacular makes of an endpoint, extended by what its view set declares and what all endpoints share.

Derived are the errors of authentication, of bodies and of queries with their codes, the headers of requests and
answers, and the query parameters of a list. Importing a view set imports this module, so it imports none of them.
"""

import inspect
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, build_parameter_type
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.serializers import CharField, ListSerializer

from common.api.openapi import DAY, NOT_BLANK, Answer
from common.api.pagination import (
    DEFAULT_ROWS,
    LONGEST_MOMENT,
    MOST_ROWS,
    LimitField,
    ManyField,
    MomentField,
)
from common.api.views import ApiView
from common.errors import DomainError
from config.openapi.json_schema import Schema, schema_of
from panel.guide.catalogue import CODES

# Codes of every call that no view raises.
_TRANSPORT = (
    "bad_request", "tls_required", "no_such_path", "method_not_allowed", "url_too_long", "header_too_long",
    "server_error", "unavailable",
)  # fmt: skip  # a list
_BODY = ("late_body", "body_too_large", "invalid_payload", "busy")
_JSON_BODY = ("unsupported_media_type", "malformed_body", "unknown_key")
# Codes whose status in area B is the `invalid_status` of the endpoint.
_OF_INVALID_BODIES = {"malformed_body", "unsupported_media_type", "invalid_payload"}
# An endpoint that raises this takes an Idempotency-Key.
_IN_PROGRESS = "call_in_progress"

# A date or moment as the guide writes it. Other forms of ISO 8601 are read too.
_MOMENT = (
    "^"
    + DAY
    + r"([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?)?$"
)

# How drf-spectacular describes that a text may be empty.
_BLANK = {"type": "string", "maxLength": 0}

# Headers of requests.
_IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A name for this call, new for each delivery or order. Calls with the same key and body take effect "
    "once and are answered alike for 24 hours.",
    # Without an example: the reference would send it with each call, and be answered with the first one's delivery.
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
}
_PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "description": "`handling=strict` refuses unknown keys and parameters, and probable mistakes, instead of naming "
    "them in `Rota-Warnings`. Other preferences have no effect.",
    "schema": {"type": "string"},
}

# Headers of answers.
_TEXT = {"type": "string"}
_DESCRIBED: dict[str, tuple[str, dict[str, Any]]] = {
    "X-Request-Id": ("The id of this call, as in our logs and on the page of refused calls.", _TEXT),
    "RateLimit-Policy": ("The limits of the token or key (IETF draft RateLimit header fields).", _TEXT),
    "RateLimit": ("How many calls are left within each limit.", _TEXT),
    "Rota-Warnings": ("Unknown keys and parameters, and probable mistakes in the body (a list of RFC 9651).", _TEXT),
    "Preference-Applied": ("`handling=strict`, if it was asked for.", _TEXT),
    "Idempotency-Replayed": (
        "`true` if this is the stored answer of an earlier call.",
        {"type": "string", "enum": ["true"]},
    ),
    "Retry-After": ("Seconds after which the call may be repeated.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": ("The scheme to authenticate with.", _TEXT),
    "Allow": ("The methods of the path.", _TEXT),
    "Link": ("The page of the code.", _TEXT),
}
_HEADERS = {name: {"description": text, "schema": schema} for name, (text, schema) in _DESCRIBED.items()}
_OF_EVERY_CALL = ("X-Request-Id",)
_OF_AUTHENTICATED_CALLS = ("RateLimit-Policy", "RateLimit")
_OF_BODIES_AND_QUERIES = ("Rota-Warnings", "Preference-Applied")
_OF_IDEMPOTENT_CALLS = ("Idempotency-Replayed",)
# Statuses of answers to bodies and queries that a view has read.
_ANSWERED_BY_VIEWS = {200, 201, 400, 401, 404, 409, 422, 429}
_BY_STATUS = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    409: ("Retry-After",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}


class ApiSchema(AutoSchema):
    """Reads the docstring of an endpoint, its annotations, and the attributes of its ApiView."""

    view: Any  # an ApiView

    def get_summary(self) -> str:
        """The first line of the endpoint's docstring."""
        return _paragraphs(self._endpoint)[0].removesuffix(".")

    def get_description(self) -> str:  # type: ignore[override]  # as in AutoSchema
        """The rest of the docstring, or that of the view set if there is none."""
        return " ".join(_paragraphs(self._endpoint)[1:] or _paragraphs(type(self.view)))

    def is_deprecated(self) -> bool:
        return isinstance(self.view, ApiView) and self.view.deprecation is not None

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        """Area B's have a prefix, because both areas have an AddressSerializer."""
        name = type(serializer).__name__.removesuffix("Serializer").removesuffix("Request")
        return f"Seller{name}" if type(serializer).__module__.startswith("integration") else name

    def _get_parameters(self) -> list[Schema]:
        found: list[Schema] = super()._get_parameters()
        for parameter in found:
            if examples := parameter.pop("examples", None):
                # The reference page selects one of several values by `example` alone.
                parameter["example"] = next(iter(examples.values()))["value"]
        if self._is_idempotent:
            found.append(_IDEMPOTENCY_KEY)
        return [*found, _PREFER] if self._has_body or self._has_query else found

    def _resolve_path_parameters(self, variables: list[str]) -> list[Schema]:
        return [
            build_parameter_type(
                name, location="path", **{"schema": {"type": "string"}, **self.view.path_parameters[name]}
            )
            for name in variables
        ]

    def _get_filter_parameters(self) -> list[Schema]:
        filters = self._filterset.base_filters if self._filterset else {}
        return [
            build_parameter_type(
                name,
                _schema_of_field(each.field),
                "query",
                description=each.field.help_text,
                # With commas between the values.
                **({"style": "form", "explode": False} if isinstance(each.field, ManyField) else {}),
            )
            for name, each in filters.items()
        ]

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Schema:
        """Also what a body checks of several keys together."""
        return {**super()._map_basic_serializer(serializer, direction), **getattr(serializer, "conditions", {})}

    def _insert_field_validators(self, field: Any, schema: Schema) -> None:
        """Also what REST framework checks without validators: the length of a list, and that a text is not blank."""
        super()._insert_field_validators(field, schema)
        if isinstance(field, ListSerializer):
            bounds = (("minItems", "min_length"), ("maxItems", "max_length"))
            schema |= {name: bound for name, kept in bounds if (bound := getattr(field, kept)) is not None}
        elif isinstance(field, CharField) and field.trim_whitespace and not field.allow_blank:
            schema.setdefault("pattern", NOT_BLANK)
        elif _BLANK in schema.get("oneOf", ()) and "pattern" in schema["oneOf"][0]:
            # Generators make a class for each `oneOf`.
            schema |= schema.pop("oneOf")[0]
            schema["pattern"] = f"^({schema['pattern'].removeprefix('^').removesuffix('$')})?$"

    def _get_request_for_media_type(self, serializer: Any, direction: Any = "request") -> tuple[Any, bool]:
        """A body without known keys is described too, and a form is required if one of its fields is."""
        schema, is_required = super()._get_request_for_media_type(serializer, direction)
        if schema is None:
            return {"type": "object"}, False
        return schema, is_required or bool(schema.get("required"))

    def _is_list_view(self, serializer: Any = None) -> bool:
        """The body of each answer is what its Answer says, also of a method with the name `list`."""
        return False

    def _get_response_bodies(self, direction: Any = "response") -> Schema:
        return {**super()._get_response_bodies(direction), **self._refusals()}

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: Any = None, direction: Any = "response"
    ) -> Schema:
        if not isinstance(serializer, Answer):
            raise TypeError(f"{self.path}: an Answer describes an answer, not {serializer}")
        answer = OpenApiResponse(self._schema(serializer.response), serializer.description, serializer.examples)
        described: Schema = super()._get_response_for_code(answer, status_code, media_types, direction)
        return described | ({"links": dict(serializer.links)} if serializer.links else {})

    def _get_response_headers_for_code(self, status_code: str, direction: Any = "response") -> Schema:
        own: Schema = super()._get_response_headers_for_code(status_code, direction)
        return {**self._headers(*self._headers_of(int(status_code))), **own}

    @property
    def _endpoint(self) -> Any:
        return getattr(self.view, getattr(self.view, "action", self.method.lower()))

    @property
    def _errors(self) -> tuple[type[DomainError] | str, ...]:
        return (*self.view.errors, *getattr(self._endpoint, "errors", ()))

    @property
    def _is_idempotent(self) -> bool:
        return _IN_PROGRESS in map(_code, self._errors)

    def _headers_of(self, status: int) -> list[str]:
        """The names of the headers that an answer with this status can have."""
        names = list(_OF_EVERY_CALL)
        if self.view.authentication_classes:
            names += _OF_AUTHENTICATED_CALLS
        if status in _ANSWERED_BY_VIEWS and self._is_idempotent:
            names += _OF_IDEMPOTENT_CALLS
        if (self._has_body or self._has_query) and status in _ANSWERED_BY_VIEWS | self._statuses_raised:
            names += _OF_BODIES_AND_QUERIES
        if status >= HTTPStatus.BAD_REQUEST:
            names.append("Link")
        return [*names, *_BY_STATUS.get(status, ())]

    @property
    def _statuses_raised(self) -> set[int]:
        return {each.status for each in self._errors if not isinstance(each, str)}

    @property
    def _has_body(self) -> bool:
        return self.method in {"PATCH", "POST", "PUT"}

    @property
    def _filterset(self) -> Any:
        return self.view.filterset_class if self._endpoint.__name__ == "list" else None

    @property
    def _has_query(self) -> bool:
        declared = self.get_override_parameters()
        return self._filterset is not None or any(
            not isinstance(parameter, OpenApiParameter) or parameter.location == OpenApiParameter.QUERY
            for parameter in declared
        )

    def _codes(self) -> Iterator[str]:
        """The codes of the errors that the endpoint answers with."""
        yield from _TRANSPORT
        for authentication in self.view.get_authenticators():
            yield from map(_code, authentication.errors)
        if self._has_body:
            yield from _BODY
            yield from _JSON_BODY if "application/json" in self.map_parsers() else ()
        if self._has_query:
            yield from (self.view.invalid_query, "unknown_key")
        if hasattr(self._endpoint, "heavy_query"):
            yield "heavy_call_running"
        yield from map(_code, self._errors)

    def _refusals(self) -> Schema:
        """The answers with errors, by status; the description has every code."""
        texts: dict[int, list[str]] = {}
        for code in dict.fromkeys(self._codes()):
            texts.setdefault(self._status(code), []).append(f"`{code}`: {CODES[code].meaning}")
        return {
            str(status): {
                "description": " ".join(texts[status]),
                "headers": self._headers(*self._headers_of(status)),
                "content": {self.view.refusal_media_type: {"schema": self._schema(self.view.refusal)}},
            }
            for status in sorted(texts)
        }

    def _status(self, code: str) -> int:
        if self._has_body and code in _OF_INVALID_BODIES and hasattr(self.view, "invalid_status"):
            return int(self.view.invalid_status)
        raised = (each.status for each in self._errors if not isinstance(each, str) and each.code == code)
        return next(raised, CODES[code].status)

    def _schema(self, hint: Any) -> Schema:
        components: dict[str, Schema] = {}
        schema = schema_of(hint, components)
        for name, component in components.items():
            self._register(name, ResolvedComponent.SCHEMA, component)
        return schema

    def _headers(self, *names: str) -> Schema:
        return {name: self._register(name, ResolvedComponent.HEADER, _HEADERS[name]) for name in names}

    def _register(self, name: str, kind: str, schema: Schema) -> Schema:
        component = ResolvedComponent(name=name, type=kind, schema=schema, object=name)
        self.registry.register_on_missing(component)
        reference: Schema = component.ref
        return reference


def _code(error: type[DomainError] | str) -> str:
    return error if isinstance(error, str) else error.code


def _paragraphs(documented: Any) -> list[str]:
    """The docstring's paragraphs, each in one line."""
    text = inspect.getdoc(documented) or ""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _schema_of_field(field: Any) -> Schema:
    if isinstance(field, LimitField):
        return {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": DEFAULT_ROWS}
    if isinstance(field, ManyField):
        item: Schema = {"type": "string"}
        if field.are_ids:
            item["format"] = "uuid"
        elif field.values:
            item["enum"] = field.values
        else:
            item["pattern"] = field.pattern
        return {"type": "array", "items": item, "minItems": 1, "maxItems": field.most}
    if choices := getattr(field, "choices", None):
        values = [value for value, _label in choices if value]
        # As `true` and `false` are written in a query.
        return {"type": "boolean"} if values == ["true", "false"] else {"type": "string", "enum": values}
    if isinstance(field, MomentField):
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_MOMENT, "pattern": _MOMENT}
    most = getattr(field, "max_length", None)
    return {"type": "string", "minLength": 1, **({"maxLength": most} if most else {})}  # QueryForm refuses empty ones

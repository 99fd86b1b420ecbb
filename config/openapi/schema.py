"""What drf-spectacular makes of an endpoint, extended by what its view set declares and what all endpoints share.

Derived are the errors of authentication, of bodies and of queries with their codes, the headers of requests and
answers, and the query parameters of a list. Importing a view set imports this module, so it imports none of them.
"""

import inspect
from collections.abc import Iterator
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, build_parameter_type
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from common.errors import DomainError
from common.openapi import Answer
from common.views import ApiView
from config.openapi import filters, headers
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
            found.append(headers.IDEMPOTENCY_KEY)
        return [*found, headers.PREFER] if self._has_body or self._has_query else found

    def _resolve_path_parameters(self, variables: list[str]) -> list[Schema]:
        return [
            build_parameter_type(
                name, location="path", **{"schema": {"type": "string"}, **self.view.path_parameters[name]}
            )
            for name in variables
        ]

    def _get_filter_parameters(self) -> list[Schema]:
        return [] if self._filterset is None else filters.parameters(self._filterset)

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
        names = list(headers.OF_EVERY_CALL)
        if self.view.authentication_classes:
            names += headers.OF_AUTHENTICATED_CALLS
        if self._is_idempotent:
            names += headers.OF_IDEMPOTENT_CALLS
        if self._has_body or self._has_query:
            names += headers.OF_BODIES_AND_QUERIES
        own: Schema = super()._get_response_headers_for_code(status_code, direction)
        return {**self._headers(*names), **own}

    @property
    def _endpoint(self) -> Any:
        return getattr(self.view, getattr(self.view, "action", self.method.lower()))

    @property
    def _errors(self) -> tuple[type[DomainError] | str, ...]:
        return (*self.view.errors, *getattr(self._endpoint, "errors", ()))

    @property
    def _is_idempotent(self) -> bool:
        return _IN_PROGRESS in map(_code, self._errors)

    @property
    def _has_body(self) -> bool:
        return bool(self.method == "POST")

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
        yield from map(_code, self._errors)

    def _refusals(self) -> Schema:
        """The answers with errors, by status; the description has every code."""
        texts: dict[int, list[str]] = {}
        for code in dict.fromkeys(self._codes()):
            texts.setdefault(self._status(code), []).append(f"`{code}`: {CODES[code].meaning}")
        of_callers = headers.OF_AUTHENTICATED_CALLS if self.view.authentication_classes else ()
        return {
            str(status): {
                "description": " ".join(texts[status]),
                "headers": self._headers(*headers.OF_EVERY_CALL, *of_callers, *headers.BY_STATUS.get(status, ())),
                "content": {self.view.refusal_media_type: {"schema": self._schema(self.view.refusal)}},
            }
            for status in sorted(texts)
        }

    def _status(self, code: str) -> int:
        if self._has_body and code in _OF_INVALID_BODIES and hasattr(self.view, "invalid_status"):
            return int(self.view.invalid_status)
        return CODES[code].status

    def _schema(self, hint: Any) -> Schema:
        components: dict[str, Schema] = {}
        schema = schema_of(hint, components)
        for name, component in components.items():
            self._register(name, ResolvedComponent.SCHEMA, component)
        return schema

    def _headers(self, *names: str) -> Schema:
        return {name: self._register(name, ResolvedComponent.HEADER, headers.ANSWER[name]) for name in names}

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

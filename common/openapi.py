"""What describes endpoints beside them besides drf-spectacular's `extend_schema`. `config.openapi.schema` reads it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema_serializer

from common.errors import DomainError

# The pattern of a text with something else than white space, which is removed around it: what Python removes, some of
# which is no `\s` elsewhere. It begins with `^` because validators of generated clients match from the beginning.
NOT_BLANK = r"^[\s\x1c-\x1f\x85]*[^\s\x1c-\x1f\x85]"

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class Answer(OpenApiResponse):
    """A successful answer. `body`: a TypedDict or another type hint.

    `links`: the links of OpenAPI by name, to operations that take values of this answer or of its request.
    """

    def __init__(
        self, body: Any, description: str, *, example: Any = None, links: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(body, description, [] if example is None else [_example(example)])
        self.links = links or {}


def raises(*errors: type[DomainError] | str) -> Callable[[Endpoint], Endpoint]:
    """Declare with which errors an endpoint answers, besides those of every call and of every body or query.

    A text is a code that has no class, because an entry of `errors` has it.
    """

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.errors = errors  # type: ignore[attr-defined]  # functions have attributes
        return endpoint

    return declare


def example_body(body: Any) -> Callable[[type], type]:
    """Declare the example of a serializer's body."""
    return extend_schema_serializer(examples=[_example(body)])


def request_header(name: str, description: str, schema: dict[str, Any] | None = None) -> OpenApiParameter:
    return OpenApiParameter(name, schema or str, OpenApiParameter.HEADER, description=description)


def answer_header(name: str, description: str, schema: dict[str, Any] | None = None) -> OpenApiParameter:
    """A header of successful answers."""
    return OpenApiParameter(name, schema or str, OpenApiParameter.HEADER, description=description, response=[200, 201])


def _example(value: Any) -> OpenApiExample:
    return OpenApiExample("Example", value)

"""What describes endpoints beside them besides drf-spectacular's `extend_schema`. `config.openapi.schema` reads it."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema_serializer
from rest_framework.views import APIView

from common.errors import DomainError

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class DescribedView(APIView):
    """What all endpoints of a view have in common.

    `refusal`: the type of the body of errors, and its media type. `invalid_query`: the code for invalid query
    parameters. `errors`: with which each endpoint answers, besides what `raises` declares for one of them.
    `path_parameters`: `description`, and `schema` unless it is any text, by the name of a parameter of the path.
    `filterset_class`: reads the query parameters of the list.
    """

    refusal: ClassVar[Any]
    refusal_media_type: ClassVar[str]
    invalid_query: ClassVar[str]
    errors: ClassVar[tuple[type[DomainError], ...]] = ()
    path_parameters: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    filterset_class: ClassVar[Any] = None


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

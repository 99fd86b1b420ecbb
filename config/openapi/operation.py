"""What the OpenAPI description says of one method of one path."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Example = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A query parameter, path parameter or request header."""

    name: str
    place: str  # "query", "path" or "header"
    description: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    required: bool = False
    example: Any = None


@dataclass(frozen=True)
class Answer:
    """A successful answer. `body` is a TypedDict or another type hint; `headers` are names of `headers.RESPONSE`.

    `media_type`: of an answer that is no JSON, which has no `body`.
    """

    body: Any
    description: str
    example: Any = None
    headers: tuple[str, ...] = ()
    links: Mapping[str, Any] = field(default_factory=dict)
    media_type: str = "application/json"


@dataclass(frozen=True)
class Operation:
    """`request` is a serializer class, or the content by media type. `errors` are codes of the catalogue.

    `statuses`: those of codes that have another one here than in the catalogue.
    """

    id: str
    summary: str
    description: str
    tag: str
    answers: Mapping[int, Answer]
    errors: tuple[str, ...]
    request: Any = None
    request_example: Example | None = None
    is_body_required: bool = True
    parameters: tuple[Parameter, ...] = ()
    statuses: Mapping[str, int] = field(default_factory=dict)

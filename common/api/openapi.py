"""What describes endpoints beside them besides drf-spectacular's `extend_schema`. `config.openapi.schema` reads it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    OpenApiWebhook,
    extend_schema_serializer,
)

from common.errors import DomainError

# The pattern of a text with something else than white space, which is removed around it: what Python removes, some of
# which is no `\s` elsewhere. It begins with `^` because validators of generated clients match from the beginning.
NOT_BLANK = r"^[\s\x1c-\x1f\x85]*[^\s\x1c-\x1f\x85]"
# The pattern of the days of the years 1 to 9999 as `YYYY-MM-DD`, without `^` and `$`. No look-ahead, which Go has not.
_YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DAY = (
    f"({_YEAR}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP}-02-29)"
)

_TRUE = {"type": "string", "enum": ["true"]}
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


def sent(name: str, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The schema of an object that has this key, with a value of this schema.

    For `BodySerializer.conditions`. With `if` and `then`, which generators of clients pass over: of `anyOf` they would
    make a class for each case.
    """
    return {"required": [name], "properties": {name: dict(schema or {})}}


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


def webhook(
    name: str,
    *,
    summary: str,
    sent: str,
    subject: str,
    event: str,
    security: list[dict[str, list[str]]],
    headers: Mapping[str, str],
) -> OpenApiWebhook:
    """What is sent to endpoints about a `subject`. `sent` begins its description, `event` is the body's component.

    `headers`: those of the area's own, which test events lack, with their descriptions.

    As OpenAPI has it, because drf-spectacular makes no headers and no operationId of webhooks.
    """
    operation = {
        "operationId": f"{name}-webhook",
        "summary": summary,
        "description": (
            f"{sent}, at least once, in order for each {subject}. Answer with 2xx within 15 seconds; otherwise it is "
            "sent again, 17 times within 72 hours."
        ),
        "tags": ["Webhooks"],
        "security": security,
        "parameters": [
            _header(
                "webhook-id",
                "The event's id, the same for every retry and replay.",
                {"type": "string", "format": "uuid"},
            ),
            _header("webhook-timestamp", "When this attempt was made, in seconds since 1970.", {"type": "integer"}),
            _header("webhook-signature", "Standard Webhooks `v1` signatures, one for each valid secret."),
            _header("webhook-sequence", f"1, 2, 3 … within the {subject}.", {"type": "integer", "minimum": 1}),
            _header("webhook-test", "`true` on test events only.", _TRUE, required=False),
            *(_header(name, description, required=False) for name, description in headers.items()),
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{event}"}}},
        },
        "responses": {
            "2XX": {"description": "Received. Nothing else ends the retries, except 410."},
            "410": {"description": "Switches the endpoint off; events are kept."},
        },
    }
    return OpenApiWebhook(name, {"post": operation})


def _header(name: str, description: str, schema: dict[str, Any] | None = None, *, required: bool = True) -> Any:
    return {
        "name": name,
        "in": "header",
        "description": description,
        "required": required,
        "schema": schema or {"type": "string"},
    }

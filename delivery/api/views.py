"""The base of area A's endpoints: bounded bodies, answers, and paths that no endpoint has."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any, TypeVar

from django.conf import settings
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.api import json_body, pagination
from common.api.json_body import Fault
from common.api.openapi import answer_header
from common.api.views import ApiView
from common.simulation import pace, speed_header
from delivery import bodies, looks
from delivery.api import problems
from delivery.api.authentication import BearerAuthentication, HasToken
from delivery.errors import (
    AccountSuspended,
    BodyTooLarge,
    DeliveryNotFound,
    InvalidCursor,
    InvalidSandboxSpeed,
    InvalidToken,
    MalformedBody,
    RateLimited,
)
from delivery.models import Delivery, Environment, Token, parse_id
from delivery.models.delivery import DeliveryQuerySet
from delivery.receivers import actions as receivers

# Levels of objects and lists. The deepest object of the API, dropoffs[0].address, is at level 4.
_MAX_LEVELS = 20
FEE_HEADER = "Cancellation-Fee"
FEE = answer_header(
    FEE_HEADER,
    "What cancelling the delivery would cost now, in BRL, beside what failures have cost already. Absent once it is "
    "cancelled or has ended.",
    {"type": "string", "pattern": r"^\d+\.\d{2}$", "examples": ["0.00"]},
)
_FAULTS = {
    Fault.EMPTY: "The body is empty. Send a JSON object.",
    Fault.COMPRESSED: "The body is compressed with gzip. Send it uncompressed.",
    Fault.UTF_16: "The body is in UTF-16 or UTF-32. Send it in UTF-8.",
    Fault.BYTE_ORDER_MARK: "The body begins with a byte order mark (BOM, EF BB BF). Send it in UTF-8 without one.",
    Fault.NOT_UTF_8: "The body is not in UTF-8: the byte at offset {position} does not fit. It may be in Latin-1.",
    Fault.NOT_A_NUMBER: "The body holds NaN or Infinity, which are no JSON values.",
    Fault.LONG_NUMBER: "The body holds a number with too many digits.",
    Fault.SYNTAX: "The body is not JSON: {detail}.",
}
_NOT_AN_OBJECT = "The body must be a JSON object."
_ENCODED_TWICE = f"{_NOT_AN_OBJECT} It is a text that holds one: encode it once."


class BoundedJSONParser(BaseParser):
    """A JSON object of at most MAX_BODY_BYTES and 20 levels. Raises BodyTooLarge or MalformedBody otherwise."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        try:
            return json_body.read_object(stream, most_bytes=settings.MAX_BODY_BYTES, most_levels=_MAX_LEVELS)
        except json_body.BodyTooLarge as error:
            raise BodyTooLarge(f"The body is larger than {settings.MAX_BODY_BYTES // 1024} KiB.") from error
        except json_body.BodyTooDeep as error:
            raise MalformedBody(f"The body is nested deeper than {_MAX_LEVELS} levels.") from error
        except json_body.NotAnObject as error:
            raise MalformedBody(_ENCODED_TWICE if error.is_encoded_twice else _NOT_AN_OBJECT) from error
        except json_body.InvalidJSON as error:
            raise MalformedBody(_FAULTS[error.fault].format_map(vars(error))) from error


Row = TypeVar("Row", bound=Model)


class IntegratorView(ApiView):
    """Authentication by token, bounded JSON bodies, and errors as problem details."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [HasToken]
    parser_classes = [BoundedJSONParser]
    refusal, refusal_media_type, invalid_query = problems.InvalidProblem, problems.CONTENT_TYPE, "invalid_query"
    path_parameters = {
        "delivery_id": {
            "description": "The deliveryId of request-delivery.",
            "schema": {"type": "string", "format": "uuid"},
        },
        "point": {"description": "The drop-off.", "schema": {"type": "string", "enum": ["B", "C", "D"]}},
        "signed": {"description": "The end of the address."},
    }

    def list_page(self, rows: QuerySet[Row], *, scope: str) -> pagination.Page[Row]:
        """The page of the account's `rows` that the query asks for. `scope` names the list.

        Raises InvalidQuery or InvalidCursor.
        """
        query = self.filterset_class(self.request.query_params, queryset=rows)
        self.check_query(query.invalid, known=query.filters)
        token = token_of(self.request)
        try:
            return pagination.page_in_order(
                query.qs,
                limit=query.limit_of_page,
                cursor=query.form.cleaned_data["cursor"],
                either=query.either,
                order=query.order,
                scope=[scope, str(token.integrator_id), token.environment, *query.sent],
            )
        except pagination.InvalidCursor as error:
            raise InvalidCursor(
                "Take nextCursor of an answer to the same filters, or begin without a cursor."
            ) from error

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return problems.exception_handler


def token_of(request: Request) -> Token:
    """The token that the request was authenticated with."""
    assert isinstance(request.auth, Token)  # noqa: S101  # nosec B101  # HasToken requires it
    return request.auth


def read_delivery(token: Token, delivery_id: str) -> Delivery:
    """A delivery of the token's account and environment, with driver and stops. Raises DeliveryNotFound."""
    key = parse_id(delivery_id)
    return _found(Delivery.find(key, token=token) if key else None)


def find_delivery(token: Token, delivery_id: str, queryset: DeliveryQuerySet) -> Delivery:
    """The delivery of `queryset` with this id in the token's account and environment. Raises DeliveryNotFound."""
    key = parse_id(delivery_id)
    return _found(queryset.of(token).filter(pk=key).first() if key else None)


def detail(delivery: Delivery) -> Response:
    """The answer with everything about a delivery."""
    now = clock.now()
    tracking = receivers.addresses(delivery.ordered_stops, at=now)
    return Response(bodies.detail(delivery, tracking=tracking, at=now), headers=_fee(delivery))


def detail_after_change(delivery: Delivery) -> Response:
    """The same of a delivery that the call has changed: when that was is known to the database alone."""
    delivery.refresh_from_db(fields=["updated_at"])
    return detail(delivery)


def note_look(delivery: Delivery) -> None:
    """The answer shows where the driver is, whose phone reports more often then."""
    if delivery.driver_id and not delivery.is_closed and delivery.environment == Environment.LIVE:
        looks.note(delivery.driver_id)


def info_answer(delivery: Delivery) -> Response:
    """The specification's answer about a delivery."""
    return Response(bodies.info(delivery), headers=_fee(delivery))


def _fee(delivery: Delivery) -> dict[str, str]:
    """The header with the fee of a cancellation, while one is possible."""
    fee = delivery.fee_of_cancelling
    return {} if fee is None else {FEE_HEADER: str(fee)}


def _found(delivery: Delivery | None) -> Delivery:
    """Raises DeliveryNotFound alike for an unknown id and for another account's, so that ids cannot be probed."""
    if delivery is None:
        raise DeliveryNotFound
    return delivery


def unknown_path(request: HttpRequest) -> HttpResponse:
    """404, with and without a token; 429 over the limit of a valid one. A call with a valid token can be recorded."""
    call = Request(request, parsers=[BoundedJSONParser()], authenticators=[BearerAuthentication()])
    try:
        with suppress(InvalidToken, AccountSuspended):
            _authenticated = call.auth
    except RateLimited as error:
        body = problems.refused(request.path, error).data
        return JsonResponse(body, status=error.status, content_type=problems.CONTENT_TYPE)
    return problems.not_found(request)


def read_speed(request: Request, token: Token) -> float | None:
    """How many times as fast the simulated driver is; None with a live token. Raises InvalidSandboxSpeed."""
    if token.environment != Environment.SANDBOX:
        return None
    try:
        return speed_header.read_speed(request)
    except speed_header.NotASpeed as error:
        raise InvalidSandboxSpeed(
            f"The header Sandbox-Speed is a number from {pace.SLOWEST} to {pace.FASTEST}."
        ) from error

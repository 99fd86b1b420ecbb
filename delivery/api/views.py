"""The base of area A's endpoints."""

from collections.abc import Callable
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.openapi import DescribedView
from common.views import AlwaysJSON, BodyView, DeprecatableView, OptionsView
from delivery import bodies
from delivery.actions import receivers
from delivery.api import problems
from delivery.api.authentication import BearerAuthentication, HasToken
from delivery.api.parsers import BoundedJSONParser
from delivery.errors import DeliveryNotFound
from delivery.models import Delivery, Token, parse_id
from delivery.models.delivery import DeliveryQuerySet


class IntegratorView(OptionsView, DeprecatableView, DescribedView, BodyView):
    """Authentication by token, bounded JSON bodies, and errors as problem details."""

    authentication_classes = [BearerAuthentication]
    permission_classes = [HasToken]
    parser_classes = [BoundedJSONParser]
    content_negotiation_class = AlwaysJSON
    refusal, refusal_media_type, invalid_query = problems.InvalidProblem, problems.CONTENT_TYPE, "invalid_query"
    path_parameters = {
        "delivery_id": {
            "description": "The deliveryId of request-delivery.",
            "schema": {"type": "string", "format": "uuid"},
        },
        "point": {"description": "The drop-off.", "schema": {"type": "string", "enum": ["B", "C", "D"]}},
        "signed": {"description": "The end of the address."},
    }

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response | None]:
        return problems.handle


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
    tracking = receivers.addresses(delivery.ordered_stops, at=clock.now())
    return Response(bodies.detail(delivery, tracking=tracking))


def _found(delivery: Delivery | None) -> Delivery:
    """Raises DeliveryNotFound alike for an unknown id and for another account's, so that ids cannot be probed."""
    if delivery is None:
        raise DeliveryNotFound("No delivery of this account and environment has this deliveryId.")
    return delivery

"""What only test tokens have: the speed of the simulated driver, and moves of a delivery by hand."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock
from common.api.openapi import NOT_BLANK, Answer, example_body, raises, sent
from common.api.serializers import BodySerializer, FlagField
from common.webhooks import endpoints
from common.webhooks.address_guard import InvalidWebhookUrl, LookUpsBusy, WebhookHostUnresolved
from delivery.actions import served
from delivery.actions.proofs import LONGEST_NAME
from delivery.api.fields import LatitudeField, LongitudeField, NamedChoiceField, StrictTextField
from delivery.api.serializers import check_not_swapped
from delivery.api.views import FEE, IntegratorView, detail_after_change, find_delivery, token_of
from delivery.bodies import DeliveryDetail
from delivery.errors import (
    DeliveryNotFound,
    LeavingNotAllowed,
    MoveRefused,
    NoDriverAssigned,
    OfferExpired,
    OutsideServiceArea,
    PinLocked,
    PinRequired,
    ReasonMissing,
    RouteTaken,
    SandboxOnly,
    StopNotFound,
    StopNotOpen,
    WrongPin,
)
from delivery.geo.distance import Point
from delivery.lifecycle import FailureCode, Trigger
from delivery.models import Delivery, Environment, WebhookEndpoint
from delivery.sandbox import by_hand

Move = TypeVar("Move", bound=Callable[..., Any])


@example_body({})
class NoFieldsSerializer(BodySerializer):
    """Body of the moves without fields; may be missing."""


@example_body({})
class DeliverSerializer(BodySerializer):
    """Body of deliver; may be missing. With one of its keys the driver delivers with proof.

    `left`: without a person, with a photo, where the drop-off's `onFailure` is LEAVE.
    """

    receivedBy = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=LONGEST_NAME)
    pin = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=10)
    left = FlagField()


@example_body({"code": "CLOSED", "reason": "The gate was locked"})
class FailSerializer(BodySerializer):
    """Body of fail; may be missing. A reason without a code has the code OTHER."""

    conditions = {
        "if": sent("code", {"const": FailureCode.OTHER}),
        "then": sent("reason", {"type": "string", "pattern": NOT_BLANK}),
    }

    code = NamedChoiceField(choices=[code.value for code in FailureCode], required=False, allow_null=True)
    reason = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=255)


@example_body({"latitude": -23.556, "longitude": -46.655})
class PositionSerializer(BodySerializer):
    """Body of position, in decimal degrees within the service area."""

    latitude = LatitudeField()
    longitude = LongitudeField()

    def validate(self, attrs: dict[str, float]) -> dict[str, str]:
        point = Point(attrs["latitude"], attrs["longitude"])
        check_not_swapped(point, "non_field_errors")
        served.check({"position": point})
        return {"position": f"{attrs['latitude']},{attrs['longitude']}"}


@example_body({"url": "http://127.0.0.1:9000/rota"})
class WebhookSerializer(BodySerializer):
    """Body of the sandbox's webhook. An empty text removes the URL. With `rotateSecret` the URL may be missing."""

    conditions = endpoints.URL_OR_SECRET

    url = StrictTextField(required=False, allow_blank=True, max_length=2000)
    rotateSecret = FlagField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "url" not in attrs and not attrs.get("rotateSecret"):
            raise ValidationError({"url": [ErrorDetail("Send a url, or rotateSecret true.", "required")]})
        return attrs


class SandboxWebhookViewSet(IntegratorView, ViewSet):
    """The webhook of test tokens, so that it can be tried without a browser. With a live token the answer is 404."""

    @extend_schema(
        operation_id="sandbox-webhook",
        tags=["Sandbox"],
        request=WebhookSerializer,
        responses={200: Answer(endpoints.SandboxWebhook, "The URL, and a signing secret that is new.")},
    )
    @raises(SandboxOnly, InvalidWebhookUrl, WebhookHostUnresolved, LookUpsBusy)
    @action(methods=["put"], detail=False)
    def webhook(self, request: Request) -> Response:
        """Set the webhook URL of the sandbox.

        Of the first endpoint, with the rules of the panel: https on a public host, port 443 or 8443. An installation
        for trying things out also takes http://127.0.0.1. `signingSecret` is null once it was shown;
        with `rotateSecret` it is a new one, and the one before it signs too for 24 hours.
        """
        token = token_of(request)
        if token.environment != Environment.SANDBOX:
            raise SandboxOnly("Only test tokens may set the webhook URL by a call. Set the live one in the panel.")
        serializer = self.read_body(WebhookSerializer(data=request.data))
        endpoint, *_further = WebhookEndpoint.of(token.integrator_id, token.environment)
        stored, secret = endpoints.set_up(
            endpoint=endpoint,
            url=serializer.validated_data.get("url"),
            new_secret=bool(serializer.validated_data.get("rotateSecret")),
            by=f"token {token.hint}",
            at=clock.now(),
        )
        answer: endpoints.SandboxWebhook = {"url": stored.url, "signingSecret": secret}
        return Response(answer)


def _described(operation_id: str) -> Callable[[Move], Move]:
    """What describes a move: each is answered as GET /api/deliveries/{deliveryId}."""
    return extend_schema(
        operation_id=operation_id,
        tags=["Sandbox"],
        parameters=[FEE],
        responses={200: Answer(DeliveryDetail, "The delivery after the move.")},
    )


class SandboxViewSet(IntegratorView, ViewSet):
    """With a live token the answer is 404. After a move but offer the simulated driver makes none by itself."""

    lookup_field = "delivery_id"
    lookup_value_converter = "str"
    serializer_class: type[BodySerializer] = NoFieldsSerializer
    errors = (
        SandboxOnly, DeliveryNotFound, MoveRefused, RouteTaken, OfferExpired, StopNotFound, StopNotOpen,
        NoDriverAssigned,
    )  # fmt: skip  # a list of names

    @_described("sandbox-offer")
    @action(methods=["post"], detail=True)
    def offer(self, request: Request, delivery_id: str) -> Response:
        """Offer a scheduled delivery now.

        The simulated driver goes on then.
        """
        return self._move(Trigger.OFFER, request, delivery_id)

    @_described("sandbox-accept")
    @action(methods=["post"], detail=True)
    def accept(self, request: Request, delivery_id: str) -> Response:
        """Have a simulated driver accept."""
        return self._move(Trigger.ACCEPT, request, delivery_id)

    @_described("sandbox-collect")
    @action(methods=["post"], detail=True)
    def collect(self, request: Request, delivery_id: str) -> Response:
        """Collect at A."""
        return self._move(Trigger.COLLECT, request, delivery_id)

    @_described("sandbox-collect-at")
    @action(methods=["post"], detail=True, url_path="collect/<str:point>")
    def collect_at(self, request: Request, delivery_id: str, point: str) -> Response:
        """Collect at a point of a delivery in mode REVERSE."""
        return self._move(Trigger.COLLECT, request, delivery_id, point)

    @_described("sandbox-deliver")
    @raises(PinRequired, WrongPin, PinLocked, LeavingNotAllowed)
    @action(methods=["post"], detail=True, url_path="deliver/<str:point>", serializer_class=DeliverSerializer)
    def deliver(self, request: Request, delivery_id: str, point: str) -> Response:
        """Deliver at a drop-off."""
        return self._move(Trigger.DELIVER, request, delivery_id, point)

    @_described("sandbox-fail")
    @raises(ReasonMissing)
    @action(methods=["post"], detail=True, url_path="fail/<str:point>", serializer_class=FailSerializer)
    def fail(self, request: Request, delivery_id: str, point: str) -> Response:
        """Fail at a drop-off."""
        return self._move(Trigger.FAIL, request, delivery_id, point)

    @_described("sandbox-return")
    @action(methods=["post"], detail=True, url_path="return")
    def return_(self, request: Request, delivery_id: str) -> Response:
        """Return to A."""
        return self._move(Trigger.RETURN, request, delivery_id)

    @_described("sandbox-position")
    @raises(OutsideServiceArea, "swapped_coordinates")
    @action(methods=["post"], detail=True, serializer_class=PositionSerializer)
    def position(self, request: Request, delivery_id: str) -> Response:
        """Set the driver's position."""
        return self._move("position", request, delivery_id)

    @_described("sandbox-expire")
    @action(methods=["post"], detail=True)
    def expire(self, request: Request, delivery_id: str) -> Response:
        """Let the offer expire now."""
        return self._move(Trigger.EXPIRE, request, delivery_id)

    def _move(self, name: str, request: Request, delivery_id: str, point: str = "") -> Response:
        token = token_of(request)
        if token.environment != Environment.SANDBOX:
            raise SandboxOnly("Only test tokens may move deliveries by a call.")
        delivery = find_delivery(token, delivery_id, Delivery.objects.with_parts())
        serializer = self.read_body(self.serializer_class(data=request.data))
        moved = by_hand.perform(
            name,
            delivery=delivery,
            fields={"point": point, **{name: str(value or "") for name, value in serializer.validated_data.items()}},
            by=f"token {token.hint}",
            at=clock.now(),
        )
        return detail_after_change(moved)

"""What only test tokens have: the speed of the simulated driver, and moves of a delivery by hand."""

from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.body_serializer import BodySerializer
from delivery import simulator
from delivery.actions import sandbox
from delivery.actions.proofs import LONGEST_NAME
from delivery.api.fields import LatitudeField, LongitudeField, NumberField, StrictTextField
from delivery.api.serializers import check_served
from delivery.api.views import IntegratorView, detail, find_delivery, token_of
from delivery.distance import Point
from delivery.errors import InvalidSandboxSpeed
from delivery.models import Delivery, Environment, Token

SPEED_HEADER = "Sandbox-Speed"
_speed = NumberField(min_value=simulator.SLOWEST, max_value=simulator.FASTEST)


def read_speed(request: Request, token: Token) -> float | None:
    """How many times as fast the simulated driver is; None with a live token. Raises InvalidSandboxSpeed."""
    if token.environment != Environment.SANDBOX:
        return None
    text = request.headers.get(SPEED_HEADER, "1")
    try:
        speed: float = _speed.run_validation(text)
    except serializers.ValidationError as error:
        raise InvalidSandboxSpeed(
            f"The header {SPEED_HEADER} is a number from {simulator.SLOWEST} to {simulator.FASTEST}."
        ) from error
    return speed


class NoFieldsSerializer(BodySerializer):
    """Body of the moves without fields; may be missing."""


class DeliverSerializer(BodySerializer):
    """Body of deliver; may be missing. With one of its keys the driver delivers with proof."""

    receivedBy = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=LONGEST_NAME)  # noqa: N815  # JSON
    pin = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=10)


class FailSerializer(BodySerializer):
    """Body of fail; may be missing."""

    reason = StrictTextField(required=False, allow_null=True, allow_blank=True, max_length=255)


class PositionSerializer(BodySerializer):
    """Body of position, in decimal degrees within the service area."""

    latitude = LatitudeField()
    longitude = LongitudeField()

    def validate(self, attrs: dict[str, float]) -> dict[str, str]:
        check_served(Point(attrs["latitude"], attrs["longitude"]), "non_field_errors")
        return {"position": f"{attrs['latitude']},{attrs['longitude']}"}


class SandboxMoveView(IntegratorView):
    """POST /api/sandbox/deliveries/{deliveryId}/{move}, answered as GET /api/deliveries/{deliveryId}.

    Raises DeliveryNotFound with every live token.
    """

    move = ""
    serializer_class: type[BodySerializer] = NoFieldsSerializer

    def post(self, request: Request, delivery_id: str, point: str = "") -> Response:
        token = token_of(request)
        delivery = find_delivery(
            token, delivery_id, Delivery.objects.with_parts().filter(environment=Environment.SANDBOX)
        )
        serializer = self.read_body(self.serializer_class(data=request.data))
        moved = sandbox.perform(
            self.move,
            delivery=delivery,
            fields={"point": point, **{name: value or "" for name, value in serializer.validated_data.items()}},
            by=f"token {token.hint}",
            at=clock.now(),
        )
        return detail(moved)


def move_paths() -> list[URLPattern]:
    """The paths of the moves, below `sandbox/deliveries/`."""
    serializer_of = {"deliver": DeliverSerializer, "fail": FailSerializer, "position": PositionSerializer}
    paths = []
    for move in sandbox.MOVES:
        point = "/<str:point>" if move in ("deliver", "fail") else ""
        view = SandboxMoveView.as_view(move=move, serializer_class=serializer_of.get(move, NoFieldsSerializer))
        paths.append(path(f"sandbox/deliveries/<str:delivery_id>/{move}{point}", view, name=f"sandbox-{move}"))
    return paths

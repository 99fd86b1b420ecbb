"""What only test keys have: moves of an order by hand, and the webhook without a browser."""

from typing import Any, Literal, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.accounts import Environment
from common.api.openapi import Answer, example_body, raises
from common.api.serializers import BodySerializer
from common.webhooks import endpoints
from common.webhooks.address_guard import InvalidWebhookUrl, LookUpsBusy, WebhookHostUnresolved
from common.webhooks.endpoints import SandboxWebhook
from integration import bodies
from integration.api.fields import FlagField, TextField
from integration.api.serializers import ReportSerializer
from integration.api.views import SellerViewSet
from integration.bodies import MayWarn
from integration.errors import (
    AlreadyCancelled,
    AlreadyDelivered,
    InvalidStatusReport,
    MoveRefused,
    OrderNotFound,
    SandboxOnly,
)
from integration.lifecycle import Status
from integration.models import WebhookEndpoint
from integration.sandbox import by_hand

_TARGETS = [status.value for status in Status if status is not Status.PENDING]  # which no order returns to


@example_body({"url": "http://127.0.0.1:9001/rota"})
class WebhookSerializer(BodySerializer):
    """Body of the sandbox's webhook. An empty text removes the URL. With `rotateSecret` the URL may be missing."""

    conditions = endpoints.URL_OR_SECRET

    url = TextField(required=False, allow_blank=True, max_length=2000)
    rotateSecret = FlagField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "url" not in attrs and not attrs.get("rotateSecret"):
            raise ValidationError({"url": ["Envie url, ou rotateSecret true."]})
        return attrs


class WebhookSet(MayWarn, TypedDict):
    success: Literal[True]
    data: SandboxWebhook


class SandboxOrderViewSet(SellerViewSet):
    """With a live key the answer is 404. After a move the simulated carrier makes none by itself."""

    lookup_field = "order_id"
    lookup_value_converter = "path"  # as in the paths of orders
    path_parameters = {
        "order_id": {"description": "The orderId sent at creation."},
        "status": {"description": "The status to move to.", "schema": {"type": "string", "enum": _TARGETS}},
    }

    @extend_schema(
        operation_id="sandbox-move-order",
        tags=["Sandbox"],
        request=ReportSerializer,
        responses={200: Answer(bodies.OrderShown, "The order after the move.")},
    )
    @raises(SandboxOnly, OrderNotFound, MoveRefused, AlreadyDelivered, AlreadyCancelled, InvalidStatusReport)
    @action(methods=["post"], detail=True, url_path="<str:status>")
    def move(self, request: Request, order_id: str, status: str) -> Response:
        """Move a test order to a status.

        `delivery_failed` and `returned` have a reason; without one in the body it is ABSENT.
        """
        if self.key.environment != Environment.SANDBOX:
            raise SandboxOnly
        order = self.order(order_id)
        if status not in _TARGETS:
            raise ValidationError({"status": [f"Deve ser um destes: {', '.join(_TARGETS)}."]})
        details = self.read_body(ReportSerializer(data=request.data)).details
        by_hand.perform(order=order, to=Status(status), details=details, by=self.actor, at=clock.now())
        return self.shown(order_id)


class SandboxWebhookViewSet(SellerViewSet):
    """The webhook of test keys, so that it can be tried without a browser. With a live key the answer is 404."""

    @extend_schema(
        operation_id="sandbox-order-webhook",
        tags=["Sandbox"],
        request=WebhookSerializer,
        responses={200: Answer(WebhookSet, "The URL, and a signing secret that is new.")},
    )
    @raises(SandboxOnly, InvalidWebhookUrl, WebhookHostUnresolved, LookUpsBusy)
    @action(methods=["put"], detail=False)
    def webhook(self, request: Request) -> Response:
        """Set the webhook URL of the sandbox's orders.

        Of the first endpoint, with the rules of the panel: https on a public host, port 443 or 8443. An installation
        for trying things out also takes http://127.0.0.1. `signingSecret` is null once it was shown;
        with `rotateSecret` it is a new one, and the one before it signs too for 24 hours.
        """
        key = self.key
        if key.environment != Environment.SANDBOX:
            raise SandboxOnly
        body = self.read_body(WebhookSerializer(data=request.data)).validated_data
        endpoint = endpoints.first(WebhookEndpoint, owner=key.seller_id, environment=key.environment)
        stored, secret = endpoints.set_up(
            endpoint=endpoint,
            url=body.get("url"),
            new_secret=bool(body.get("rotateSecret")),
            by=self.actor,
            at=clock.now(),
        )
        answer: WebhookSet = {"success": True, "data": {"url": stored.url, "signingSecret": secret}}
        return Response(answer)

"""The endpoints of connected shops: their platforms post orders to one, the other lists what has become of them."""

from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from common import clock, credentials
from common.api.json_body import Brl, Moment, Uuid, one_of
from common.api.openapi import Answer, raises
from common.api.pagination import ListFilter, ManyFilter
from common.api.rate_limit import limiter
from common.observability import log_context
from common.shops import platforms, receptions
from common.shops.drafts import Reason, Result
from common.shops.models import DraftStatus
from common.shops.platforms import Platform
from delivery.api.examples import DELIVERY_REQUEST
from delivery.api.filters import EnglishForm
from delivery.api.views import IntegratorView, token_of
from delivery.bodies import moment
from delivery.connections import actions
from delivery.connections.models import Connection, Draft
from delivery.errors import (
    BodyTooLarge,
    ConnectionNotFound,
    InvalidCursor,
    InvalidSignature,
    RateLimited,
    UnknownOrderForm,
)

_PING = "ping"
_RESULTS = [Result.DRAFT, Result.UPDATED, Result.CANCELLED, Result.IGNORED, _PING]
_REASONS = [each.value for each in Reason if each not in (Reason.NONE, Reason.UNKNOWN_FORM)]
_ID = "019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50"
_CONNECTION = "3f6c1d2e4f503b6c1d2e4f503b6c1d2e"  # pragma: allowlist secret


class ReceptionAnswer(TypedDict):
    """What has become of an order. `reason`: why it was ignored. `id`: of its draft, or of its delivery if it has one.

    `ping` is WooCommerce's question whether the address answers.
    """

    result: Annotated[str, one_of(_RESULTS)]
    reason: Annotated[str, one_of(_REASONS)] | None
    id: Uuid | None


class DraftShown(TypedDict):
    """An order of a connected shop. `payload` is a body of request-delivery, without what is not known of it.

    `missing` has the codes of what keeps the order from being requested: `missing_number`, `test_order` (of the shop,
    in production), or that of the error with which request-delivery would be answered. `price` is null until it is
    known. `payload` is null once it was anonymised.
    """

    draftId: Uuid
    connection: str
    externalId: str
    status: Annotated[str, one_of(DraftStatus.values)]
    missing: list[str]
    price: Brl | None
    payload: dict[str, Any] | None
    deliveryId: Uuid | None
    createdAt: Moment


class DraftPage(TypedDict):
    """`nextCursor` is null on the last page."""

    data: list[DraftShown]
    nextCursor: str | None


def shown(draft: Draft) -> DraftShown:
    return {
        "draftId": str(draft.pk),
        "connection": draft.connection_id,
        "externalId": draft.external_id,
        "status": draft.status,
        "missing": draft.missing,
        "price": None if draft.price is None else float(draft.price),
        "payload": draft.payload or None,
        "deliveryId": str(draft.delivery_id) if draft.delivery_id else None,
        "createdAt": moment(draft.created_at),
    }


@extend_schema(tags=["Connected shops"])
class ReceptionView(IntegratorView):
    """Without a token: the platform signs what it posts."""

    authentication_classes = []
    permission_classes = [AllowAny]
    path_parameters = {"connection": {"description": "The end of the address that the panel shows of a shop."}}

    @extend_schema(
        operation_id="post-order-of-shop",
        request={"application/json": {"type": "object", "description": "An order, as the platform posts it."}},
        responses={
            200: Answer(
                ReceptionAnswer, "What has become of it.", example={"result": "draft", "reason": None, "id": _ID}
            )
        },
    )
    @raises(ConnectionNotFound, BodyTooLarge, InvalidSignature, RateLimited, UnknownOrderForm)
    def post(self, request: Request, connection: str) -> Response:
        """Post an order of a connected shop.

        Called by WooCommerce, Shopify or Yampi, whose settings have this address. The header
        `X-WC-Webhook-Signature`, `X-Shopify-Hmac-Sha256` or `X-Yampi-Hmac-SHA256` is the base64 of HMAC-SHA256 of the
        body. A paid order becomes a draft; the same order again changes its draft and never makes a second one. At most
        1 MiB.
        """
        found = Connection.find(connection)
        if found is None:
            raise ConnectionNotFound
        log_context.note("account", found.integrator_id)
        body = receptions.read_body(request._request)  # noqa: SLF001  # as Django read it
        if body is None:
            raise BodyTooLarge(f"The body is larger than {receptions.MOST_BYTES // 1024} KiB.")
        if platforms.is_ping(Platform(found.platform), body):
            return Response(ReceptionAnswer(result=_PING, reason=None, id=None))
        signature = request.headers.get(receptions.header_of(found), "")
        actions.check_signature(found, body=body, signature=signature)
        _check_limits(found)
        topic = request.headers.get(platforms.TOPIC_HEADER, "")
        outcome = actions.receive(connection=found, body=body, topic=topic, at=clock.now())
        return Response(ReceptionAnswer(result=outcome.result, reason=outcome.reason or None, id=outcome.id))


def _check_limits(found: Connection) -> None:
    """Count a signed call, as those of a token of the account are. Raises RateLimited."""
    digest = credentials.digest(f"connection {found.pk}")
    standing = limiter().count(digest, found.integrator.rate_limits, caller=None)
    if standing and standing.retry_after:
        raise RateLimited(standing.retry_after)


class DraftFilter(ListFilter):
    status = ManyFilter(
        is_each=True,
        help_text="The status of the draft, or several.",
        choices=DraftStatus.values,
        error_messages={"invalid_choice": f"Choose one of: {', '.join(DraftStatus.values)}."},
    )

    class Meta:
        model = Draft
        fields: list[str] = []
        form = EnglishForm


@extend_schema(tags=["Find and read"])
class DraftViewSet(IntegratorView, ViewSet):
    """The orders of the account's connected shops."""

    filterset_class = DraftFilter

    @extend_schema(
        operation_id="list-drafts",
        responses={
            200: Answer(
                DraftPage,
                "A page.",
                example={
                    "data": [
                        {
                            "draftId": _ID,
                            "connection": _CONNECTION,
                            "externalId": "1001",
                            "status": "open",
                            "missing": [],
                            "price": 9.9,
                            "payload": DELIVERY_REQUEST,
                            "deliveryId": None,
                            "createdAt": "2026-11-20T10:00:00-03:00",
                        }
                    ],
                    "nextCursor": None,
                },
            )
        },
    )
    @raises(InvalidCursor)
    def list(self, request: Request) -> Response:
        """Find orders of connected shops.

        Those of the token's account and environment, the newest first, in pages: what is on its way to a delivery, what
        was requested, and what was dropped.
        """
        token = token_of(request)
        rows = Draft.objects.filter(integrator=token.integrator_id, environment=token.environment)
        page = self.list_page(rows, scope="drafts")
        return Response({"data": [shown(row) for row in page.rows], "nextCursor": page.next_cursor})

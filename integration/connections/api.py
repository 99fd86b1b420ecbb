"""The endpoints of sellers' shops: their platforms post orders to one, the other lists what has become of them."""

from typing import Annotated, Any, Literal, TypedDict

from django.db.models import prefetch_related_objects
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

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
from integration.api.filters import PortugueseForm
from integration.api.views import IntegrationViewSet, SellerViewSet
from integration.bodies import MayWarn, utc
from integration.connections import actions
from integration.connections.models import Connection, Draft
from integration.errors import BodyTooLarge, ConnectionNotFound, InvalidSignature, RateLimited, UnknownOrderForm

_PING = "ping"
_RESULTS = [Result.DRAFT, Result.ORDER, Result.UPDATED, Result.CANCELLED, Result.IGNORED, _PING]
_REASONS = [each.value for each in Reason if each not in (Reason.NONE, Reason.UNKNOWN_FORM)]


class ShopOrderReceived(TypedDict):
    """What has become of an order. `reason`: why it was ignored. `id`: of its draft, or its `orderId` once it is made.

    `ping` is WooCommerce's question whether the address answers.
    """

    result: Annotated[str, one_of(_RESULTS)]
    reason: Annotated[str, one_of(_REASONS)] | None
    id: str | None


class ShopOrder(TypedDict):
    """An order of a connected shop. `payload` is a body of create-order, without what is not known of it.

    `missing` has the codes of what keeps it from being made: `missing_name`, `missing_zipcode`, `missing_street`,
    `missing_number`, `missing_neighborhood`, `missing_city`, `missing_state`, `test_order` (of the shop, in
    production), `pays_at_door` (people decide, because carriers do not ask for money), or the code of the error with
    which create-order would be answered. `price` is the freight in BRL, null without one. `orderId` is null until the
    order is made. `payload` is null once it was anonymised.
    """

    draftId: Uuid
    connection: str
    externalId: str
    status: Annotated[str, one_of(DraftStatus.values)]
    missing: list[str]
    price: Brl | None
    payload: dict[str, Any] | None
    orderId: str | None
    createdAt: Moment


class ShopOrdersListed(MayWarn, TypedDict):
    """`nextCursor` is null on the last page."""

    success: Literal[True]
    data: list[ShopOrder]
    nextCursor: str | None


def shown(draft: Draft) -> ShopOrder:
    """A draft with its order."""
    return {
        "draftId": str(draft.pk),
        "connection": draft.connection_id,
        "externalId": draft.external_id,
        "status": draft.status,
        "missing": draft.missing,
        "price": None if draft.price is None else float(draft.price),
        "payload": draft.payload or None,
        "orderId": draft.made.code if draft.made else None,
        "createdAt": utc(draft.created_at),
    }


@extend_schema(tags=["Connected shops"])
class SellerReceptionViewSet(IntegrationViewSet):
    """Without a key: the platform signs what it posts."""

    authentication_classes = []
    permission_classes = [AllowAny]
    path_parameters = {"connection": {"description": "The end of the address that the panel shows of a shop."}}

    @extend_schema(
        operation_id="post-seller-order-of-shop",
        request={"application/json": {"type": "object", "description": "An order, as the platform posts it."}},
        responses={
            200: Answer(
                ShopOrderReceived,
                "What has become of it.",
                example={"result": "order", "reason": None, "id": "1001"},
            )
        },
    )
    @raises(ConnectionNotFound, BodyTooLarge, InvalidSignature, RateLimited, UnknownOrderForm)
    def create(self, request: Request, connection: str) -> Response:
        """Post an order of a seller's connected shop.

        Called by WooCommerce, Shopify or Yampi, whose settings have this address. The header
        `X-WC-Webhook-Signature`, `X-Shopify-Hmac-Sha256` or `X-Yampi-Hmac-SHA256` is the base64 of HMAC-SHA256 of the
        body. A paid order becomes an order, or a draft while something is missing; the same order again never makes a
        second one. At most 1 MiB.
        """
        found = Connection.find(connection)
        if found is None:
            raise ConnectionNotFound
        log_context.note("account", found.seller.reference)
        body = receptions.read_body(request._request)  # noqa: SLF001  # as Django read it
        if body is None:
            raise BodyTooLarge
        if platforms.is_ping(Platform(found.platform), body):
            return Response(ShopOrderReceived(result=_PING, reason=None, id=None))
        actions.check_signature(found, body=body, signature=request.headers.get(receptions.header_of(found), ""))
        _check_limits(found)
        topic = request.headers.get(platforms.TOPIC_HEADER, "")
        outcome = actions.receive(connection=found, body=body, topic=topic, at=clock.now())
        return Response(ShopOrderReceived(result=outcome.result, reason=outcome.reason or None, id=outcome.id))


def _check_limits(found: Connection) -> None:
    """Count a signed call, as those of a key of the seller are. Raises RateLimited."""
    digest = credentials.digest(f"connection {found.pk}")
    standing = limiter().count(digest, found.seller.rate_limits, caller=None)
    if standing and standing.retry_after:
        raise RateLimited(standing.retry_after)


class ShopOrderFilter(ListFilter):
    status = ManyFilter(
        is_each=True,
        help_text="The status of the draft, or several.",
        choices=DraftStatus.values,
        error_messages={"invalid_choice": f"Deve ser um destes: {', '.join(DraftStatus.values)}."},
    )

    class Meta:
        model = Draft
        fields: list[str] = []
        form = PortugueseForm


class SellerDraftViewSet(SellerViewSet):
    """The orders of the seller's connected shops."""

    filterset_class = ShopOrderFilter

    @extend_schema(operation_id="list-seller-drafts", responses={200: Answer(ShopOrdersListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find orders of connected shops.

        Those of the key's seller and environment, the newest first, in pages: drafts that something is missing of, what
        was made, and what was dropped.
        """
        rows = Draft.objects.filter(seller=self.key.seller_id, environment=self.key.environment)
        page = self.list_page(rows, scope="drafts")
        prefetch_related_objects(page.rows, "made")
        data = [shown(row) for row in page.rows]
        return Response(ShopOrdersListed(success=True, data=data, nextCursor=page.next_cursor))

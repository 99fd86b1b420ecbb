"""The endpoints of manifests."""

from typing import Annotated, Any, Literal, TypedDict

import django_filters
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.api.heavy import heavy, heavy_with
from common.api.json_body import one_of
from common.api.openapi import Answer, example_body, raises
from common.api.pagination import ListFilter
from common.api.serializers import BodySerializer
from integration import bodies
from integration.api.fields import ChoiceField
from integration.api.filters import PortugueseForm
from integration.api.serializers import ManyOrders
from integration.api.views import FILE, SellerViewSet
from integration.bodies import MayWarn, utc
from integration.errors import (
    InOpenManifest,
    ManifestClosed,
    ManifestEmpty,
    ManifestFull,
    ManifestNotFound,
    OrderCancelled,
    OrderNotFound,
    OrderNotPending,
    OrdersRefused,
)
from integration.manifests import actions as manifests
from integration.models import Manifest, ManifestEntry, Order
from integration.models.manifest import STATUSES, ManifestQuerySet
from integration.papers import files


class ManifestFilter(ListFilter):
    status = django_filters.ChoiceFilter(
        method="of_status",
        help_text="Whether the manifest is open or closed.",
        choices=[(status, status) for status in STATUSES],
        error_messages={"invalid_choice": f"Deve ser um destes: {', '.join(STATUSES)}."},
    )

    class Meta:
        model = Manifest
        fields: list[str] = []
        form = PortugueseForm

    def of_status(self, found: ManifestQuerySet, _name: str, value: str) -> ManifestQuerySet:
        return found.filter(closed_at__isnull=value == "open")


@example_body({"orderIds": ["A-1001"]})
class ManifestSerializer(ManyOrders):
    """Body of a manifest create request."""


@example_body({"orderIds": ["A-1001"]})
class AdditionSerializer(ManyOrders):
    """Body of a call that adds orders to a manifest."""


@example_body({"orderIds": ["A-1001"]})
class RemovalSerializer(ManyOrders):
    """Body of a call that takes orders out of a manifest."""


_FORMATS = ["json", "pdf"]


class ManifestFormatSerializer(BodySerializer):
    """Query string of a manifest."""

    format = ChoiceField(choices=_FORMATS, default="json")


class ManifestOrder(TypedDict):
    """An order of a manifest. `volumes`: its boxes. `weight` of all, in kilograms.

    `orderCost` in BRL, `freight` in centavos, null as in the order. `carrier` as in the order.
    """

    orderId: str
    trackingCode: str
    status: str
    volumes: int
    weight: float
    orderCost: float
    freight: int | None
    carrier: str | None


class ManifestTotals(TypedDict):
    """The sums of its orders; `orders` is how many they are."""

    orders: int
    volumes: int
    weight: float
    orderCost: float
    freight: int


class ManifestSummary(TypedDict):
    manifestId: int
    status: Annotated[str, one_of(STATUSES)]
    createdAt: str
    closedAt: str | None


class ManifestListed(ManifestSummary, TypedDict):
    orderIds: list[str]


class ManifestDetail(ManifestSummary, TypedDict):
    orders: list[ManifestOrder]
    totals: ManifestTotals


class ManifestsListed(MayWarn, TypedDict):
    success: Literal[True]
    data: list[ManifestListed]
    nextCursor: str | None


class ManifestShown(MayWarn, TypedDict):
    success: Literal[True]
    data: ManifestDetail


def manifests_listed(manifests: list[Any], next_cursor: str | None) -> ManifestsListed:
    """Manifests annotated with `order_codes`."""
    data: list[ManifestListed] = [
        {**_manifest_summary(manifest), "orderIds": manifest.order_codes} for manifest in manifests
    ]
    return {"success": True, "data": data, "nextCursor": next_cursor}


def manifest_shown(manifest: Manifest) -> ManifestShown:
    """A manifest with its `entries` and their orders."""
    totals = manifest.totals
    orders: list[ManifestOrder] = [
        {
            "orderId": order.code,
            "trackingCode": order.tracking_code,
            "status": order.status,
            "volumes": order.volumes,
            "weight": float(order.weight),
            "orderCost": float(order.cost),
            "freight": order.freight_centavos,
            "carrier": order.carrier.name if order.carrier else None,
        }
        for order in manifest.in_order
    ]
    detail: ManifestDetail = {
        **_manifest_summary(manifest),
        "orders": orders,
        "totals": {
            "orders": totals.orders,
            "volumes": totals.volumes,
            "weight": float(totals.weight),
            "orderCost": float(totals.cost),
            "freight": totals.freight,
        },
    }
    return {"success": True, "data": detail}


def _manifest_summary(manifest: Manifest) -> ManifestSummary:
    return {
        "manifestId": manifest.pk,
        "status": manifest.status,
        "createdAt": utc(manifest.created_at),
        "closedAt": utc(manifest.closed_at) if manifest.closed_at else None,
    }


class ManifestViewSet(SellerViewSet):
    """Manifests: what is handed over together."""

    lookup_field = "manifest_id"
    lookup_value_converter = "int"
    path_parameters = {
        "manifest_id": {
            "description": "The id of the manifest.",
            "schema": {"type": "integer", "format": "int64", "minimum": 1},
        }
    }
    filterset_class = ManifestFilter

    @extend_schema(operation_id="list-manifests", responses={200: Answer(ManifestsListed, "A page.")})
    def list(self, request: Request) -> Response:
        """Find manifests.

        The manifests of the key's seller and environment, the newest first, in pages.
        """
        entries = ManifestEntry.objects.filter(manifest=OuterRef("pk")).order_by("pk")
        codes = {"order_codes": ArraySubquery(entries.values("order__code"))}
        page = self.list_page(self._manifests, scope="manifests", annotations=codes)
        return Response(manifests_listed(page.rows, page.next_cursor))

    @extend_schema(
        operation_id="create-manifest",
        request=ManifestSerializer,
        responses={
            201: Answer(
                ManifestShown,
                "The manifest was opened.",
                links={
                    name: {"operationId": name, "parameters": {"manifestId": "$response.body#/data/manifestId"}}
                    for name in ("get-manifest", "close-manifest")
                },
            )
        },
    )
    @raises(OrderNotFound, OrderCancelled, InOpenManifest, OrderNotPending, OrdersRefused)
    def create(self, request: Request) -> Response:
        """Open a manifest.

        With orders that wait for collection, at most 100. An order stands in one open manifest only. One that is
        cancelled leaves it.
        """
        serializer = self.read_body(ManifestSerializer(data=request.data))
        chosen = Order.objects.by_codes(self.key.seller, self.key.environment, serializer.codes)
        made = manifests.create(
            seller=self.key.seller, environment=self.key.environment, orders=chosen, by=self.actor, at=clock.now()
        )
        return self._answer(made, status=201)

    @heavy
    @extend_schema(operation_id="get-manifest-pdf", responses={(200, "application/pdf"): Answer(FILE, "The manifest.")})
    @raises(ManifestNotFound)
    def pdf(self, request: Request, manifest_id: int) -> HttpResponse:
        """Print a manifest as PDF.

        Its orders and their totals, with lines for signatures.
        """
        return files.manifest(self._found(manifest_id))

    @heavy_with("format=pdf")
    @extend_schema(
        operation_id="get-manifest",
        parameters=[
            OpenApiParameter(
                "format",
                {"type": "string", "enum": _FORMATS, "default": "json"},
                description="`pdf` answers as `/manifests/{manifestId}.pdf`, which has one media type. It works on.",
                deprecated=True,
            )
        ],
        responses={
            200: Answer(ManifestShown, "The manifest."),
            (200, "application/pdf"): Answer(FILE, "The manifest."),
        },
    )
    @raises(ManifestNotFound)
    def retrieve(self, request: Request, manifest_id: int) -> HttpResponse:
        """Read a manifest.

        Its orders and their totals.
        """
        serializer = ManifestFormatSerializer(data=request.query_params)
        serializer.is_valid()
        self.check_query(serializer.errors, known=serializer.fields)
        found = self._found(manifest_id)
        if serializer.validated_data["format"] == "pdf":
            return files.manifest(found)
        return self._answer(found)

    @extend_schema(
        operation_id="close-manifest",
        request=None,
        responses={200: Answer(ManifestShown, "The manifest is closed.")},
    )
    @raises(ManifestNotFound, ManifestEmpty)
    @action(methods=["post"], detail=True)
    def close(self, request: Request, manifest_id: int) -> Response:
        """Close a manifest.

        Its orders that wait for collection become collected. Those that a carrier has moved meanwhile keep their
        status. Closing a closed one changes nothing.
        """
        _body = request.data  # none is needed; one that is not an object is refused, as by the other calls
        found = self._found(manifest_id)
        manifests.close(manifest=found, by=self.actor, at=clock.now(), via_api=True)
        return self._answer(found)

    @extend_schema(
        operation_id="add-to-manifest",
        request=AdditionSerializer,
        responses={200: Answer(ManifestShown, "The manifest with these orders.")},
    )
    @raises(
        ManifestNotFound,
        OrderNotFound,
        ManifestClosed,
        ManifestFull,
        OrderCancelled,
        InOpenManifest,
        OrderNotPending,
        OrdersRefused,
    )
    @action(methods=["post"], detail=True, url_path="orders")
    def add(self, request: Request, manifest_id: int) -> Response:
        """Add orders to an open manifest.

        Orders that wait for collection; a manifest has at most 100.
        """
        serializer = self.read_body(AdditionSerializer(data=request.data))
        found = self._found(manifest_id)
        chosen = Order.objects.by_codes(self.key.seller, self.key.environment, serializer.codes)
        manifests.add(manifest=found, orders=chosen, by=self.actor)
        return self._answer(found)

    @extend_schema(
        operation_id="remove-from-manifest",
        request=RemovalSerializer,
        responses={200: Answer(ManifestShown, "The manifest without these orders.")},
    )
    @raises(ManifestNotFound, OrderNotFound, ManifestClosed)
    @action(methods=["post"], detail=True)
    def remove(self, request: Request, manifest_id: int) -> Response:
        """Remove orders from an open manifest.

        Orders that do not stand in it stay as they are.
        """
        serializer = self.read_body(RemovalSerializer(data=request.data))
        found = self._found(manifest_id)
        chosen = Order.objects.by_codes(self.key.seller, self.key.environment, serializer.codes)
        manifests.remove(manifest=found, orders=chosen, by=self.actor)
        return self._answer(found)

    @extend_schema(
        operation_id="delete-manifest",
        responses={
            200: Answer(bodies.Done, "Deleted.", example={"success": True, "message": "Romaneio excluído com sucesso"})
        },
    )
    @raises(ManifestNotFound, ManifestClosed)
    def destroy(self, request: Request, manifest_id: int) -> Response:
        """Delete an open manifest.

        Its orders can be put into another one.
        """
        manifests.delete(manifest=self._found(manifest_id), by=self.actor)
        return Response(bodies.Done(success=True, message="Romaneio excluído com sucesso"))

    @property
    def _manifests(self) -> ManifestQuerySet:
        return Manifest.objects.of(self.key.seller_id, self.key.environment)

    def _found(self, key: int) -> Manifest:
        found = self._manifests.with_orders().filter(pk=key).first()
        if found is None:
            raise ManifestNotFound
        return found

    def _answer(self, manifest: Manifest, *, status: int = 200) -> Response:
        """The manifest as it is now."""
        return Response(manifest_shown(self._found(manifest.pk)), status=status)

from django.conf import settings
from django.urls import path

from common.api.views import ApiRouter
from integration.api.carriers import CarrierEventViewSet
from integration.api.freight import ShippingViewSet
from integration.api.invoices import InvoiceViewSet
from integration.api.viewsets import AccountViewSet, EventViewSet, LabelViewSet, OrderViewSet
from integration.connections.api import SellerDraftViewSet, SellerReceptionViewSet
from integration.manifests.api import ManifestViewSet
from integration.sandbox.api import SandboxOrderViewSet, SandboxWebhookViewSet

router = ApiRouter()
router.register("shipping", ShippingViewSet, basename="shipping")
router.register("orders", OrderViewSet, basename="order")
router.register("events", EventViewSet, basename="event")
router.register("account", AccountViewSet, basename="account")
router.register("sandbox", SandboxWebhookViewSet, basename="sandbox-webhook")
router.register("sandbox/orders", SandboxOrderViewSet, basename="sandbox-order")
router.register("invoices", InvoiceViewSet, basename="invoice")
router.register("labels", LabelViewSet, basename="label")
router.register("carrier/events", CarrierEventViewSet, basename="carrier-event")
router.register("manifests", ManifestViewSet, basename="manifest")
router.register("drafts", SellerDraftViewSet, basename="draft")

_upload = InvoiceViewSet.as_view({"post": "marketplace"}, **InvoiceViewSet.marketplace.kwargs)
# Before the paths of the router, of which an orderId may be the rest of one.
_labels = [
    path(f"orders/<path:order_id>/{name}", OrderViewSet.as_view({"get": name.replace(".", "_")}), name=f"order-{name}")
    for name in ("label.pdf", "label.zpl", "label")
]
_files = [
    *(path(f"labels.{name}", LabelViewSet.as_view({"post": name}), name=f"labels-{name}") for name in ("pdf", "zpl")),
    path("manifests/<int:manifest_id>.pdf", ManifestViewSet.as_view({"get": "pdf"}), name="manifest-pdf"),
]
urlpatterns = [
    *_labels,
    *_files,
    *router.urls,
    path("connections/<str:connection>", SellerReceptionViewSet.as_view({"post": "create"}), name="connection"),
    *(path(f"invoices/{segment}", _upload) for segment in settings.INVOICE_PATHS),
]

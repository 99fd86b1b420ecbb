from django.conf import settings
from django.urls import path

from common.views import ApiRouter
from integration.api.viewsets import EventViewSet, InvoiceViewSet, OrderViewSet, ShippingViewSet

router = ApiRouter()
router.register("shipping", ShippingViewSet, basename="shipping")
router.register("orders", OrderViewSet, basename="order")
router.register("events", EventViewSet, basename="event")
router.register("invoices", InvoiceViewSet, basename="invoice")

_upload = InvoiceViewSet.as_view({"post": "marketplace"}, **InvoiceViewSet.marketplace.kwargs)
urlpatterns = [*router.urls, *(path(f"invoices/{segment}", _upload) for segment in settings.INVOICE_PATHS)]

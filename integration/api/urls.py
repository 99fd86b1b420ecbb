from django.urls import path

from integration.api.views import CancelView, InvoiceView, OrderView, QuoteView, TrackingView

urlpatterns = [
    path("shipping/quote", QuoteView.as_view(), name="shipping-quote"),
    path("orders", OrderView.as_view(), name="orders"),
    path("orders/cancel", CancelView.as_view(), name="orders-cancel"),
    path("orders/tracking", TrackingView.as_view(), name="orders-tracking"),
    path("invoices/marketplace", InvoiceView.as_view(), name="invoices-marketplace"),
]

from django.urls import path

from integration.api.orders import OrderDetailView, OrdersView
from integration.api.services import ServicesView
from integration.api.views import CancelView, InvoiceView, QuoteView, TrackingView

urlpatterns = [
    path("shipping/quote", QuoteView.as_view(), name="shipping-quote"),
    path("shipping/services", ServicesView.as_view(), name="shipping-services"),
    path("orders", OrdersView.as_view(), name="orders"),
    path("orders/cancel", CancelView.as_view(), name="orders-cancel"),
    path("orders/tracking", TrackingView.as_view(), name="orders-tracking"),
    # An orderId may hold a slash. After the two paths above, which take precedence over orders with these ids.
    path("orders/<path:order_id>", OrderDetailView.as_view(), name="order"),
    path("invoices/marketplace", InvoiceView.as_view(), name="invoices-marketplace"),
]

from common.views import ApiRouter
from integration.api.viewsets import InvoiceViewSet, OrderViewSet, ShippingViewSet

router = ApiRouter()
router.register("shipping", ShippingViewSet, basename="shipping")
router.register("orders", OrderViewSet, basename="order")
router.register("invoices", InvoiceViewSet, basename="invoice")

urlpatterns = router.urls

from django.urls import path

from common.api.views import ApiRouter
from delivery.api.viewsets import AccountViewSet, DeliveryViewSet, EventViewSet, ImmediateDeliveryViewSet, PhotoView
from delivery.connections.api import DraftViewSet, ReceptionView
from delivery.sandbox.api import SandboxViewSet, SandboxWebhookViewSet

router = ApiRouter()
router.register("", ImmediateDeliveryViewSet, basename="immediate-delivery")
router.register("deliveries", DeliveryViewSet, basename="delivery")
router.register("events", EventViewSet, basename="event")
router.register("account", AccountViewSet, basename="account")
router.register("drafts", DraftViewSet, basename="draft")
router.register("sandbox", SandboxWebhookViewSet, basename="sandbox-webhook")
router.register("sandbox/deliveries", SandboxViewSet, basename="sandbox")

urlpatterns = [
    *router.urls,
    path("photos/<str:signed>", PhotoView.as_view(), name="proof-photo"),
    path("connections/<str:connection>", ReceptionView.as_view(), name="connection"),
]

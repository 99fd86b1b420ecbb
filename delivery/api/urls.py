from django.urls import path

from delivery.api import sandbox
from delivery.api.deliveries import DeliveriesView, DeliveryView
from delivery.api.events import EventsView
from delivery.api.photos import PhotoView
from delivery.api.viewsets import DeliveryViewSet

urlpatterns = [
    path("quotation-delivery", DeliveryViewSet.as_view({"post": "quote"}), name="quotation-delivery"),
    path("request-delivery", DeliveryViewSet.as_view({"post": "request_delivery"}), name="request-delivery"),
    path("cancel-delivery/<str:delivery_id>", DeliveryViewSet.as_view({"post": "cancel"}), name="cancel-delivery"),
    path("info-delivery/<str:delivery_id>", DeliveryViewSet.as_view({"get": "info"}), name="info-delivery"),
    path("location-delivery/<str:delivery_id>", DeliveryViewSet.as_view({"get": "location"}), name="location-delivery"),
    path("events", EventsView.as_view(), name="events"),
    path("deliveries", DeliveriesView.as_view(), name="deliveries"),
    path("deliveries/<str:delivery_id>", DeliveryView.as_view(), name="delivery"),
    path("photos/<str:signed>", PhotoView.as_view(), name="proof-photo"),
    *sandbox.move_paths(),
]

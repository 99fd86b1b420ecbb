"""What pages call the codes of orders, which are the API's. One word in the panel and the admin."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrPromise

from integration.lifecycle import Status

STATUSES: dict[str, StrPromise] = {
    Status.PENDING: _("Waiting for collection"),
    Status.COLLECTED: _("Collected"),
    Status.IN_TRANSIT: _("In transit"),
    Status.OUT_FOR_DELIVERY: _("Out for delivery"),
    Status.DELIVERED: _("Delivered"),
    Status.DELIVERY_FAILED: _("Delivery failed"),
    Status.RETURNED: _("Returned"),
    Status.CANCELLED: pgettext_lazy("order", "Cancelled"),
}
# What an order names as its service.
ORDER_SERVICES: dict[str, StrPromise] = {
    "base": _("Base (economy)"),
    "next": _("Next (express)"),
    "turbo": _("Turbo"),
}

"""What pages call the codes of orders, which are the API's. One word in the panel and the admin."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrOrPromise, StrPromise

from common.columns import State
from integration.lifecycle import Reason, Status

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
REASONS: dict[Reason, StrPromise] = {
    Reason.ABSENT: _("Nobody there"),
    Reason.REFUSED: _("Refused by the receiver"),
    Reason.ADDRESS_NOT_FOUND: _("Address not found"),
    Reason.ADDRESS_INCOMPLETE: _("Address incomplete"),
    Reason.CLOSED: _("Place closed"),
    Reason.DAMAGED: _("Goods damaged"),
    Reason.LOST: _("Lost"),
    Reason.AREA_AT_RISK: _("Area at risk"),
    Reason.OTHER: _("Another reason"),
}
# Of a status' badge: good, info, warn, bad; empty for grey.
COLOURS: dict[str, str] = {
    Status.PENDING: "warn",
    Status.COLLECTED: "info",
    Status.IN_TRANSIT: "info",
    Status.OUT_FOR_DELIVERY: "info",
    Status.DELIVERED: "good",
    Status.DELIVERY_FAILED: "bad",
    Status.RETURNED: "bad",
    Status.CANCELLED: "",
}
# What an order names as its service.
ORDER_SERVICES: dict[str, StrPromise] = {
    "base": _("Base (economy)"),
    "next": _("Next (express)"),
    "turbo": _("Turbo"),
}
# What can be corrected of an order, by the key of the body.
CORRECTED: dict[str, StrPromise] = {
    "receiver": _("Receiver"),
    "items": _("Items"),
    "volumes": _("Volumes"),
    "orderCost": _("Order value"),
    "service": _("Service"),
    "invoice": _("Invoice"),
}


def state(status: str) -> State:
    return State(STATUSES[status], status, COLOURS[status])


def service(code: str) -> StrOrPromise:
    """The name of the service that an order names; an unknown code itself."""
    return ORDER_SERVICES.get(code, code)

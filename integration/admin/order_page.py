"""What an order's page in the admin consists of, and the page that asks before a status is set."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_stubs_ext import StrOrPromise

from common import admin_base
from common.actors import actor_name
from common.admin_base import CREATED_BY, ModelAdmin, ReadOnlyInline, TabularInline, column, copyable, pill, pretty
from common.formats import document, money
from integration import lifecycle, words
from integration.lifecycle import Status
from integration.models import InvoiceLink, Order, SearchCode, StatusLog

_COLOURS: dict[str, str] = {
    Status.PENDING: "warn",
    Status.COLLECTED: "info",
    Status.IN_TRANSIT: "info",
    Status.OUT_FOR_DELIVERY: "info",
    Status.DELIVERED: "good",
    Status.DELIVERY_FAILED: "bad",
    Status.RETURNED: "bad",
    Status.CANCELLED: "",
}
# Texts of the buttons, which say what to do.
MOVES: dict[Status, StrOrPromise] = {
    Status.COLLECTED: gettext_lazy("Mark as collected"),
    Status.IN_TRANSIT: gettext_lazy("Mark as in transit"),
    Status.OUT_FOR_DELIVERY: gettext_lazy("Mark as out for delivery"),
    Status.DELIVERED: gettext_lazy("Mark as delivered"),
    Status.DELIVERY_FAILED: gettext_lazy("Mark as delivery failed"),
    Status.RETURNED: gettext_lazy("Mark as returned"),
    Status.CANCELLED: gettext_lazy("Cancel order"),
}
COST = column("cost", gettext_lazy("order value"), money)


def status_pill(status: str) -> SafeString:
    return pill(words.STATUSES[status], _COLOURS[status], title=status)


class StatusLogInline(ReadOnlyInline):
    model = StatusLog
    fields = ["status", "via_api", column("by", gettext_lazy("by"), actor_name), "created_at"]


class LinkInline(ReadOnlyInline):
    model = InvoiceLink
    fields = ["invoice", column("linked_by", gettext_lazy("linked by"), actor_name), "linked_at"]
    verbose_name_plural = gettext_lazy("Linked invoices")


class CodeInline(TabularInline):
    """The values by which tracking finds the order. Staff may add auxiliary ones."""

    model = SearchCode
    extra = 0
    fields = ["kind", "value"]
    readonly_fields = ["kind"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.display(description=gettext_lazy("status"))
def _state(order: Order) -> SafeString:
    return status_pill(order.status)


@admin.display(description=gettext_lazy("address"))
def _address(order: Order) -> SafeString:
    return render_to_string("admin/integration/order/address.html", {"address": order.receiver["address"]})


@admin.display(description=gettext_lazy("phone and e-mail"))
def _contact(order: Order) -> SafeString:
    numbers = [order.receiver[name] for name in ("cellphone", "phone") if order.receiver.get(name)]
    context = {"numbers": numbers, "email": order.receiver.get("email")}
    return render_to_string("admin/integration/order/contact.html", context)


@admin.display(description=gettext_lazy("parcels"))
def _parcels(order: Order) -> SafeString:
    return render_to_string("admin/integration/order/parcels.html", {"order": order})


@admin.display(description=gettext_lazy("items"))
def _items_as_sent(order: Order) -> str:
    return pretty(order.items)


@admin.display(description=gettext_lazy("receiver"))
def _receiver_as_sent(order: Order) -> str:
    return pretty(order.receiver)


@admin.display(description=gettext_lazy("invoice"))
def _invoice_as_sent(order: Order) -> str | None:
    return pretty(order.invoice_data) if order.invoice_data else None


_SUMMARY = [
    _state, column("code", gettext_lazy("order"), copyable), COST,
    column("tracking_code", gettext_lazy("tracking code"), copyable), "seller",
    column("service", gettext_lazy("service"), lambda code: words.ORDER_SERVICES.get(code, code)), "company",
    column("invoice_key", gettext_lazy("invoice key"), copyable), "created_at", CREATED_BY,
    column("id", gettext_lazy("Shipping id"), str),
]  # fmt: skip  # a list of names
_RECEIVER = [
    "receiver_name", column("receiver_document", gettext_lazy("document"), document), _contact, _address,
]  # fmt: skip  # a table
_AS_SENT = [_items_as_sent, _receiver_as_sent, _invoice_as_sent]
FIELDSETS: list[tuple[Any, dict[str, Any]]] = [
    (None, {"classes": ["rota-facts"], "fields": _SUMMARY}),
    (gettext_lazy("Receiver"), {"classes": ["rota-facts"], "fields": _RECEIVER}),
    (gettext_lazy("Parcels"), {"classes": ["rota-whole"], "fields": [_parcels]}),
    (gettext_lazy("As it was sent"), {"classes": ["collapse", "rota-whole"], "fields": _AS_SENT}),
]
FIELDS = [*_SUMMARY, *_RECEIVER, _parcels, *_AS_SENT]


def unless_agreed(
    model_admin: ModelAdmin, request: HttpRequest, orders: list[Order], target: Status
) -> HttpResponse | None:
    """The page that asks to confirm. None if that was done, or if the status is the usual next one of each order."""
    if admin_base.is_confirmed(request):
        return None
    if all(lifecycle.USUAL.get(Status(order.status)) == target for order in orders):
        return None
    count = len(orders)
    values = {"move": MOVES[target], "count": count}
    title = ngettext("%(move)s: this order?", "%(move)s: %(count)s orders?", count) % values
    return admin_base.ask(
        model_admin,
        request,
        title=title,
        submit=MOVES[target],
        notes=[_("Tracking shows the new status at once. It stays in the order's history.")],
        rows=[
            admin_base.Row(order.pk, f"{order.code}, {order.receiver_name}", [_change(order, target)])
            for order in orders
        ],
        is_final=target in {Status.CANCELLED, Status.RETURNED, Status.DELIVERY_FAILED},
    )


def _change(order: Order, target: Status) -> SafeString:
    return format_html_join(" → ", "{}", ((status_pill(order.status),), (status_pill(target),)))

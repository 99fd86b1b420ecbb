"""Orders: read-only, except for changes of status that the lifecycle allows and auxiliary search codes."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from common.actors import actor
from common.admin_base import LargeTable, ModelAdmin, ReadOnlyInline, TabularInline, pretty
from integration import lifecycle
from integration.actions import orders
from integration.errors import MoveRefused
from integration.lifecycle import Status
from integration.models import InvoiceLink, Order, SearchCode, StatusLog, compact_document

_COLOURS: dict[str, str] = {
    Status.PENDING: "warning",
    Status.COLLECTED: "info",
    Status.IN_TRANSIT: "info",
    Status.OUT_FOR_DELIVERY: "primary",
    Status.DELIVERED: "success",
    Status.DELIVERY_FAILED: "danger",
    Status.RETURNED: "danger",
    Status.CANCELLED: "default",
}
_TARGETS = [status for status in Status if status is not Status.PENDING]


class StatusLogInline(ReadOnlyInline):
    model = StatusLog
    fields = ["status", "via_api", "by", "created_at"]


class LinkInline(ReadOnlyInline):
    model = InvoiceLink
    fields = ["invoice", "linked_by", "linked_at"]


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


@admin.register(Order)
class OrderAdmin(LargeTable, ModelAdmin):
    list_display = ["code", "tracking_code", "seller", "company", "status_label", "service", "cost", "created_at"]
    list_filter = ["status"]
    list_filter_submit = True  # the filter by seller has a field
    list_select_related = ["seller", "company"]
    search_fields = ["codes__value", "receiver_document"]
    search_help_text = _("An orderId, tracking code, invoice key or receiver's document, whole.")
    readonly_fields = [
        "id", "seller", "company", "code", "tracking_code", "status", "service", "cost", "contents", "receiver_name",
        "receiver_document", "receiver_as_sent", "invoice_as_sent", "invoice_key", "created_at", "created_by",
    ]  # fmt: skip  # a list of names
    fields = list(readonly_fields)
    inlines = [StatusLogInline, CodeInline, LinkInline]
    actions = [f"move_to_{status}" for status in _TARGETS]

    @display(description=_("status"), label=_COLOURS)
    def status_label(self, order: Order) -> str:
        return order.status

    @admin.display(description=_("items"))
    def contents(self, order: Order) -> str:
        return pretty(order.items)

    @admin.display(description=_("receiver as sent"))
    def receiver_as_sent(self, order: Order) -> str:
        return pretty(order.receiver)

    @admin.display(description=_("invoice as sent"))
    def invoice_as_sent(self, order: Order) -> str:
        return pretty(order.invoice_data) if order.invoice_data else "-"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False

    def get_list_filter(self, request: HttpRequest) -> Any:
        may_look_up = request.user.has_perm("integration.view_seller")
        return [*self.list_filter, *([("seller", AutocompleteSelectFilter)] if may_look_up else [])]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Order], search_term: str
    ) -> tuple[QuerySet[Order], bool]:
        """Exact matches only, each of which an index finds."""
        term = search_term.strip()
        if not term:
            return queryset, False
        codes = SearchCode.objects.filter(value=term)
        if codes.exists():
            return queryset.filter(pk__in=codes.values("order")), False
        return queryset.filter(receiver_document=compact_document(term)), False

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for code in formset.save(commit=False):
            code.seller_id = form.instance.seller_id
            code.save()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        order = context.get("original")
        allowed = lifecycle.TABLE[Status(order.status)] if order else ()
        context["may_move"] = self.has_change_permission(request, order)
        context["moves"] = [(status.value, _LABELS[status]) for status in allowed]
        return super().render_change_form(request, context, *args, **kwargs)

    change_form_template = "admin/integration/order/change_form.html"

    def response_change(self, request: HttpRequest, obj: Order) -> HttpResponse:
        """Change the status if a status button was pressed. The form and its inlines have been saved before."""
        target = request.POST.get("_move", "")
        if target not in _TARGETS:
            return super().response_change(request, obj)
        self.move(request, obj, Status(target))
        return HttpResponseRedirect(request.path)

    def move(self, request: HttpRequest, order: Order, target: Status) -> None:
        """Change the status of one order and show the result as a message."""
        try:
            moved = orders.move(order=order, to=target, by=actor(request), at=timezone.now())
        except MoveRefused:
            # Not the error's own message, which is the API's and always Portuguese.
            refused = {"order": order, "status": order.status, "target": target.value}
            text = _("%(order)s is %(status)s and cannot become %(target)s.") % refused
            self.message_user(request, text, messages.ERROR)
            return
        self.log_change(request, moved, _("Status: %(status)s") % {"status": moved.status})
        done = {"order": moved, "status": moved.status}
        self.message_user(request, _("%(order)s is %(status)s now.") % done, messages.SUCCESS)


_LABELS = {
    Status.COLLECTED: _("Collected"),
    Status.IN_TRANSIT: _("In transit"),
    Status.OUT_FOR_DELIVERY: _("Out for delivery"),
    Status.DELIVERED: _("Delivered"),
    Status.DELIVERY_FAILED: _("Delivery failed"),
    Status.RETURNED: _("Returned"),
    Status.CANCELLED: _("Cancel order"),
}


def _list_action(status: Status) -> Any:
    """The action of the list that moves each selected order to a status."""

    @admin.action(description=_LABELS[status], permissions=["change"])
    def act(model_admin: OrderAdmin, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        for order in queryset:
            model_admin.move(request, order, status)

    act.__name__ = f"move_to_{status}"
    return act


for _status in _TARGETS:
    setattr(OrderAdmin, f"move_to_{_status}", _list_action(_status))

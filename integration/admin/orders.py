"""Orders: read-only, but for the moves that the lifecycle allows."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from integration import lifecycle
from integration.actions import orders
from integration.admin.base import ReadOnlyInline, actor
from integration.errors import IntegrationError
from integration.lifecycle import Status
from integration.models import InvoiceLink, Order, SearchCode, StatusLog

_TARGETS = [status for status in Status if status is not Status.PENDING]


class StatusLogInline(ReadOnlyInline):
    model = StatusLog
    fields = ["status", "via_api", "by", "created_at"]


class LinkInline(ReadOnlyInline):
    model = InvoiceLink
    fields = ["invoice", "linked_by", "linked_at"]


class CodeInline(admin.TabularInline[SearchCode, Order]):
    """What tracking finds the order by; staff may add auxiliary codes."""

    model = SearchCode
    extra = 0
    fields = ["kind", "value"]
    readonly_fields = ["kind"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin[Order]):
    list_display = ["code", "tracking_code", "seller", "company", "status", "service", "cost", "created_at"]
    list_filter = ["status", "service", "seller"]
    list_select_related = ["seller", "company"]
    search_fields = ["=codes__value", "=receiver_document"]
    search_help_text = _("An orderId, tracking code, invoice key or receiver's document, whole.")
    show_full_result_count = False
    readonly_fields = [
        "id", "seller", "company", "code", "tracking_code", "status", "service", "cost", "items", "receiver_name",
        "receiver_document", "receiver", "invoice_data", "invoice_key", "created_at", "created_by",
    ]  # fmt: skip  # a list of names
    fields = list(readonly_fields)
    inlines = [StatusLogInline, CodeInline, LinkInline]
    actions = [f"move_to_{status}" for status in _TARGETS]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for code in formset.save(commit=False):
            code.seller_id = form.instance.seller_id
            code.save()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        order = context.get("original")
        allowed = lifecycle.TABLE[Status(order.status)] if order else ()
        context["moves"] = [(status.value, _LABELS[status]) for status in allowed]
        return super().render_change_form(request, context, *args, **kwargs)

    change_form_template = "admin/integration/order/change_form.html"

    def response_change(self, request: HttpRequest, obj: Order) -> HttpResponse:
        """A button of the page moves the order; what the forms hold is saved before, as ever."""
        target = request.POST.get("_move", "")
        if target not in _TARGETS:
            return super().response_change(request, obj)
        self.move(request, obj, Status(target))
        return HttpResponseRedirect(request.path)

    def move(self, request: HttpRequest, order: Order, target: Status) -> None:
        """Move one order and say what came of it."""
        try:
            moved = orders.move(order=order, to=target, by=actor(request), at=timezone.now())
        except IntegrationError as error:
            self.message_user(request, f"{order}: {error}", messages.ERROR)
            return
        self.log_change(request, moved, f"Status: {moved.status}")
        self.message_user(request, f"{moved}: {moved.status}", messages.SUCCESS)


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
    """The list's action for a status: one call for each chosen order."""

    @admin.action(description=_LABELS[status], permissions=["change"])
    def act(model_admin: OrderAdmin, request: HttpRequest, queryset: QuerySet[Order]) -> None:
        for order in queryset:
            model_admin.move(request, order, status)

    act.__name__ = f"move_to_{status}"
    return act


for _status in _TARGETS:
    setattr(OrderAdmin, f"move_to_{_status}", _list_action(_status))

"""Orders: read-only, except for changes of status that the lifecycle allows and auxiliary search codes."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import AutocompleteSelectFilter

from common import admin_base, clock
from common.actors import actor
from common.admin_base import LargeTable, ModelAdmin
from integration import lifecycle, words
from integration.actions import orders
from integration.admin.order_page import (
    COST,
    FIELDS,
    FIELDSETS,
    MOVES,
    CodeInline,
    LinkInline,
    StatusLogInline,
    status_pill,
    unless_agreed,
)
from integration.errors import MoveRefused
from integration.lifecycle import Status
from integration.models import Order, SearchCode, compact_document

_TARGETS = [status for status in Status if status is not Status.PENDING]


@admin.register(Order)
class OrderAdmin(LargeTable, ModelAdmin):
    list_display = ["order_code", "state", "recipient", "seller_name", "tracking_code", COST, "created_at"]
    list_filter = ["status"]
    list_filter_submit = True  # the filter by seller has a field
    list_select_related = ["seller"]
    search_fields = ["codes__value", "receiver_document"]
    search_help_text = _("Order, tracking code, invoice key or document, whole")
    fieldsets = FIELDSETS
    readonly_fields = FIELDS
    nothing_yet = _("No order yet. Sellers create them by the API.")
    inlines = [StatusLogInline, LinkInline, CodeInline]
    actions = [f"move_to_{status}" for status in _TARGETS]
    change_form_template = "admin/integration/order/change_form.html"

    @admin.display(description=_("order"))
    def order_code(self, order: Order) -> str:
        return order.code

    @admin.display(description=_("status"))
    def state(self, order: Order) -> SafeString:
        return status_pill(order.status)

    @admin.display(description=_("receiver"))
    def recipient(self, order: Order) -> str:
        """The receiver's name and city."""
        address = order.receiver.get("address") or {}
        city = "/".join(str(address[name]) for name in ("city", "state") if address.get(name))
        return " · ".join(part for part in (order.receiver_name, city) if part)

    @admin.display(description=_("seller"))
    def seller_name(self, order: Order) -> str:
        return order.seller.name

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
        usual = lifecycle.USUAL.get(Status(order.status)) if order else None
        context["usual"] = usual and (usual.value, MOVES[usual])
        context["others"] = [(status.value, MOVES[status]) for status in allowed if status != usual]
        return super().render_change_form(request, context, *args, **kwargs)

    def move(self, request: HttpRequest, order: Order, target: Status) -> None:
        """Change the status of one order and show the result as a message."""
        try:
            moved = orders.move(order=order, to=target, by=actor(request), at=clock.now())
        except MoveRefused:
            # Not the error's own message, which is the API's and always Portuguese.
            refused = {"order": order, "status": order.get_status_display(), "target": words.STATUSES[target]}
            text = _("Order %(order)s is '%(status)s' and cannot become '%(target)s'.") % refused
            self.message_user(request, text, messages.ERROR)
            return
        status = moved.get_status_display()
        self.log_change(request, moved, _("Status: %(status)s") % {"status": status})
        done = {"order": moved, "status": status}
        self.message_user(request, _("Order %(order)s is now: %(status)s.") % done, messages.SUCCESS)


def _list_action(status: Status) -> Any:
    """The action of the list that moves each selected order to a status."""

    @admin.action(description=MOVES[status], permissions=["change"])
    def act(model_admin: OrderAdmin, request: HttpRequest, queryset: QuerySet[Order]) -> HttpResponse | None:
        chosen = list(queryset)
        if page := unless_agreed(model_admin, request, chosen, status):
            return page
        for order in chosen:
            model_admin.move(request, order, status)
        return admin_base.back(model_admin, request)

    act.__name__ = f"move_to_{status}"
    return act


for _status in _TARGETS:
    setattr(OrderAdmin, f"move_to_{_status}", _list_action(_status))

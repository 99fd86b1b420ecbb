"""Orders: read-only, except for changes of status that the lifecycle allows and auxiliary search codes."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext
from django_stubs_ext import StrOrPromise
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from common import clock
from common.actors import actor, actor_name
from common.admin import base as admin_base
from common.admin.base import (
    LargeTable,
    ModelAdmin,
    ReadOnlyInline,
    TabularInline,
    column,
    facts,
    pill_of,
    pretty,
    rendered_in,
)
from common.admin.filters import LookUpFilter
from common.brazil.formats import document, money
from integration import lifecycle, refusals, words
from integration.accounts.admin import SELLER
from integration.actions import orders
from integration.actions.orders import Details
from integration.carriers import actions as carriers
from integration.carriers.admin import AssignmentInline, CarrierForm
from integration.carriers.movement_files import MovementFiles
from integration.columns import ORDER
from integration.errors import CarrierInactive, InvalidStatusReport, MoveRefused
from integration.invoices.models import InvoiceLink
from integration.lifecycle import Status
from integration.models import Carrier, Correction, Order, SearchCode, StatusLog, compact_document
from integration.move_forms import DetailsForm

# Texts of the buttons, which say what to do.
MOVES: dict[Status, StrOrPromise] = {
    Status.COLLECTED: _("Mark as collected"),
    Status.IN_TRANSIT: _("Mark as in transit"),
    Status.OUT_FOR_DELIVERY: _("Mark as out for delivery"),
    Status.DELIVERED: _("Mark as delivered"),
    Status.DELIVERY_FAILED: _("Mark as delivery failed"),
    Status.RETURNED: _("Mark as returned"),
    Status.CANCELLED: _("Cancel order"),
}
COST = column("cost", _("order value"), money)


def status_pill(status: str) -> SafeString:
    return pill_of(words.state(status))


STATE = column("status", _("status"), status_pill, is_long=True)


class StatusLogInline(ReadOnlyInline):
    model = StatusLog
    fields = [
        "status", "reason_code", "reason", "place", "happened_at", "via_api", column("by", _("by"), actor_name),
        "created_at",
    ]  # fmt: skip  # a list of names


class CorrectionInline(ReadOnlyInline):
    model = Correction
    fields = ["__str__", "corrected_at", column("corrected_by", _("by"), actor_name)]


class LinkInline(ReadOnlyInline):
    model = InvoiceLink
    fields = ["invoice", column("linked_by", _("linked by"), actor_name), "linked_at"]
    verbose_name_plural = _("Linked invoices")


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


@admin.display(description=_("address"))
def _address(order: Order) -> SafeString:
    return render_to_string("admin/integration/order/address.html", {"address": order.receiver["address"]})


@admin.display(description=_("phone and e-mail"))
def _contact(order: Order) -> SafeString:
    numbers = [order.receiver[name] for name in ("cellphone", "phone") if order.receiver.get(name)]
    context = {"numbers": numbers, "email": order.receiver.get("email")}
    return render_to_string("admin/integration/order/contact.html", context)


@admin.display(description=_("parcels"))
def _parcels(order: Order) -> SafeString:
    return render_to_string("admin/integration/order/parcels.html", {"order": order})


_SUMMARY = facts(ORDER)
_RECEIVER = [
    "receiver_name", column("receiver_document", _("document"), document), _contact, _address,
]  # fmt: skip  # a table
_AS_SENT = [
    column("items", _("items"), pretty, is_long=True),
    column("receiver", _("receiver"), pretty, is_long=True),
    column("invoice_data", _("invoice"), pretty, is_long=True),
]


class AdminDetailsForm(DetailsForm):
    """With the admin's fields."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            styled = UnfoldAdminSelectWidget if isinstance(field, forms.ChoiceField) else UnfoldAdminTextInputWidget
            field.widget.attrs["class"] = styled().attrs["class"]


def _ask(
    model_admin: ModelAdmin, request: HttpRequest, chosen: list[Order], target: Status, form: DetailsForm
) -> HttpResponse:
    rows = []
    for order in chosen:
        change = format_html("{} → {}", status_pill(order.status), status_pill(target))
        rows.append(admin_base.Row(order.pk, f"{order.code}, {order.receiver_name}", [change]))
    return admin_base.ask_about(
        model_admin,
        request,
        what=MOVES[target],
        notes=[_("Tracking shows the new status at once. It stays in the order's history.")],
        rows=rows,
        form=form,
        is_final=target in {Status.CANCELLED, Status.RETURNED, Status.DELIVERY_FAILED},
    )


def name_of(carrier: Carrier | None) -> str:
    return str(carrier or _("No carrier"))


def _list_action(status: Status) -> Any:
    """The action of the list that moves each selected order to a status."""

    @admin_base.asks
    @admin.action(description=MOVES[status], permissions=["change"])
    def act(model_admin: Any, request: HttpRequest, queryset: QuerySet[Order]) -> HttpResponse | None:
        chosen = list(queryset)
        sent = request.POST if admin_base.is_confirmed(request) else None
        form = AdminDetailsForm(sent, targets=[status])
        if not form.is_valid():
            return _ask(model_admin, request, chosen, status, form)
        for order in chosen:
            model_admin.move(request, order, status, form.details)
        return admin_base.back(model_admin, request)

    act.__name__ = f"move_to_{status}"
    return act


@admin.register(Order)
class OrderAdmin(LargeTable, MovementFiles):
    list_display = [
        "identity", STATE, "environment", "recipient", SELLER, "carrier", COST, "created_at"
    ]  # fmt: skip  # a list of names
    list_filter = ["environment", "status", "carrier"]
    list_filter_submit = True  # the filter by seller has a field
    list_select_related = ["seller", "carrier"]
    search_fields = ["codes__value", "receiver_document"]
    search_help_text = _("Order, tracking code, invoice key or document, whole")
    fieldsets = [
        (None, {"classes": ["rota-facts"], "fields": _SUMMARY}),
        (_("Receiver"), {"classes": ["rota-facts"], "fields": _RECEIVER}),
        (_("Parcels"), {"fields": [_parcels]}),
        (_("As it was sent"), {"classes": ["collapse"], "fields": _AS_SENT}),
    ]
    readonly_fields = [*_SUMMARY, *_RECEIVER, _parcels, *_AS_SENT]
    nothing_yet = _("No order yet. Sellers create them by the API.")
    inlines = [StatusLogInline, CorrectionInline, AssignmentInline, LinkInline, CodeInline]
    actions = [*(_list_action(status) for status in MOVES), "assign"]
    change_form_template = "admin/integration/order/change_form.html"

    @admin.display(description=_("order, tracking code"))
    def identity(self, order: Order) -> SafeString:
        return format_html('{} <span class="soft">{}</span>', order.code, order.tracking_code)

    @admin.display(description=_("receiver"))
    def recipient(self, order: Order) -> SafeString:
        """The receiver's name and city."""
        address = order.receiver["address"]
        city = "/".join(str(address[name]) for name in ("city", "state") if address.get(name))
        return format_html('{}<span class="block soft">{}</span>', order.receiver_name, city)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Order | None = None) -> bool:
        return False

    def has_assign_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("integration.assign_order")

    @admin_base.asks
    @admin.action(description=_("Assign to a carrier"), permissions=["assign"])
    def assign(self, request: HttpRequest, queryset: QuerySet[Order]) -> HttpResponse | None:
        chosen = list(queryset)
        form = CarrierForm(request.POST if admin_base.is_confirmed(request) else None)
        if not form.is_valid():
            return admin_base.ask(
                self,
                request,
                title=_("Assign to a carrier"),
                submit=pgettext("to a carrier", "Assign"),
                rows=[
                    admin_base.Row(order.pk, f"{order.code}, {order.seller.name}", [name_of(order.carrier)])
                    for order in chosen
                ],
                notes=[_("The carrier sees nothing of them, and may send their events from this moment on.")],
                form=form,
                is_final=False,
            )
        carrier = form.cleaned_data["carrier"]
        try:
            changed = carriers.assign(orders=chosen, carrier=carrier, by=actor(request), at=clock.now())
        except CarrierInactive:  # meanwhile
            self.message_user(request, _("The carrier is not active: no order is assigned to it."), messages.ERROR)
            return admin_base.back(self, request)
        name = name_of(carrier)
        for order in changed:
            self.log_change(request, order, _("Carrier: %(carrier)s") % {"carrier": name})
        text = ngettext("%(count)s order: %(carrier)s.", "%(count)s orders: %(carrier)s.", len(changed))
        self.message_user(request, text % {"count": len(changed), "carrier": name}, messages.SUCCESS)
        return admin_base.back(self, request)

    def get_list_filter(self, request: HttpRequest) -> Any:
        may_look_up = request.user.has_perm("integration.view_seller")
        return [*self.list_filter, *([("seller", LookUpFilter)] if may_look_up else [])]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Order], search_term: str
    ) -> tuple[QuerySet[Order], bool]:
        """Whole codes, which an index finds."""
        term = search_term.strip()
        if not term:
            return queryset, False
        codes = SearchCode.objects.of_all().named(term)
        if codes.exists():
            return queryset.filter(pk__in=codes.values("order")), False
        return queryset.filter(receiver_document=compact_document(term)), False

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for code in formset.save(commit=False):
            code.seller_id, code.environment = form.instance.seller_id, form.instance.environment
            code.save()

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        order: Order = context["original"]  # nobody may add one
        current = Status(order.status)
        usual = lifecycle.USUAL.get(current)
        context["may_assign"] = self.has_assign_permission(request)
        context["may_move"] = self.has_change_permission(request, order)
        context["usual"] = usual and (usual.value, MOVES[usual])
        context["others"] = [(status.value, MOVES[status]) for status in lifecycle.choices(current) if status != usual]
        return rendered_in(super().render_change_form(request, context, *args, **kwargs), order.company)

    def move(self, request: HttpRequest, order: Order, target: Status, details: Details) -> None:
        """Change the status of one order and show the result as a message."""
        try:
            moved = orders.move(order=order, to=target, by=actor(request), at=clock.now(), details=details)
        except InvalidStatusReport as error:
            self.message_user(request, f"{order}: {refusals.refusal(error)}", messages.ERROR)
            return
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

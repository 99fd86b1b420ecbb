"""Deliveries in the admin. Statuses are read-only; the buttons are the moves allowed now."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from common import clock
from common.actors import actor, actor_name
from common.admin.base import (
    LargeTable,
    ModelAdmin,
    Unchangeable,
    agreed,
    asks,
    column,
    facts,
    linked,
    named,
    pill,
    rendered_in,
)
from common.admin.filters import LookUpFilter
from common.brazil.formats import ago, moment, money
from common.fields import any_of
from common.webhooks.admin import event_state
from delivery import columns
from delivery.actions import drivers, goods, moves
from delivery.admin.labels import CHANGE, change, contents, coordinates, in_one_line, lateness, state, stop_state
from delivery.admin.moves import DriverSelect, MovesActionForm, driver_field, unless_agreed
from delivery.errors import DeliveryError
from delivery.models import (
    AuditEntry,
    Delivery,
    Driver,
    Environment,
    GoodsInHand,
    Stop,
    StopChange,
    Transition,
    WebhookEvent,
    parse_id,
)
from delivery.move_forms import (
    MoveForm,
    done,
    driver_label,
    point_name,
)
from delivery.receivers import actions as receivers
from delivery.refusals import refusal
from delivery.stop_details import StopDetails
from delivery.words import text_of_simulator

_PRICE = column("shipping_value", gettext_lazy("price"), money)
_FACTS = facts(columns.DELIVERY)
_WHEN = column("at", gettext_lazy("when"), moment)
_WHO = column("by", gettext_lazy("who"), actor_name)


@dataclass(frozen=True)
class _Point:
    """A drop-off as the page of its delivery shows it."""

    details: StopDetails

    @property
    def stop(self) -> Stop:
        return self.details.stop

    @property
    def state(self) -> SafeString:
        return stop_state(self.stop)

    @property
    def address(self) -> str:
        return in_one_line(self.stop.address)


@dataclass(frozen=True)
class _Change:
    """A change of a delivery as its page shows it."""

    transition: Transition
    reason: str

    @property
    def text(self) -> str:
        return change(self.transition)


@dataclass(frozen=True)
class _Sent:
    """A webhook event as the page of its delivery shows it."""

    event: WebhookEvent

    @property
    def state(self) -> SafeString:
        return event_state(self.event)


@admin.register(AuditEntry)
class AuditEntryAdmin(LargeTable, Unchangeable, ModelAdmin):
    """A small table, so filters without an index are fast enough."""

    list_display = [_WHEN, "action", _WHO, "integrator", column("subject", gettext_lazy("object"), str), "environment"]
    fields = list_display
    nothing_yet = gettext_lazy("Nothing recorded yet: tokens, webhooks and members of accounts leave an entry each.")
    list_filter = ["action", "environment", ("at", admin.DateFieldListFilter)]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name", "by", "subject"]
    ordering = ["-id"]


@admin.register(Transition)
class TransitionAdmin(LargeTable, Unchangeable, ModelAdmin):
    list_display = [_WHEN, *CHANGE, _WHO, column("delivery", gettext_lazy("delivery"), linked)]
    fields = [_WHEN, *CHANGE, _WHO, "delivery"]
    nothing_yet = gettext_lazy("Nothing has moved yet.")
    list_filter = [("at", admin.DateFieldListFilter)]
    list_select_related = ["delivery"]
    search_fields = ["delivery__stops__external_id"]
    search_help_text = gettext_lazy("Id, external id, or who (user ana), whole")
    ordering = ["-id"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Transition], search_term: str
    ) -> tuple[QuerySet[Transition], bool]:
        """Exact matches only, each by its index."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if key := parse_id(term):
            return queryset.filter(delivery=key), False
        if Transition.objects.filter(by=term).exists():
            return queryset.filter(by=term), False
        return queryset.filter(Stop.refers_to("delivery", external_id=term)), False


_DRIVERS_PER_PAGE = 20
_NEWEST = 5_000  # deliveries that are searched for part of a text
# Names on a delivery's page; the search finds the others.
_NEAREST_SHOWN = 5


class LateFilter(admin.SimpleListFilter):
    """The late ones of the live environment, as the board has them."""

    title = gettext_lazy("lateness")
    parameter_name = "late"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("Late"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> QuerySet[Delivery]:
        if self.value() != "yes":
            return queryset
        late: Any = Delivery.objects.late(Environment.LIVE, at=clock.now())
        return queryset.filter(pk__in=late.values("pk"))


@admin.register(Delivery)
class DeliveryAdmin(LargeTable, Unchangeable, ModelAdmin):
    list_display = [
        "identity", "progress", "destination", "integrator", "driver_name", _PRICE,
        column("created_at", gettext_lazy("created"), ago),
    ]  # fmt: skip  # a list of names
    list_display_links = None  # see `identity`
    # Each has an index that includes the order of the list.
    list_filter = [
        LateFilter, "status", "route_status", "environment", "vehicle_type", ("created_at", admin.DateFieldListFilter),
    ]  # fmt: skip  # a list of names
    list_filter_submit = True  # the filter by integrator has a field
    sortable_by = ["created_at"]
    list_select_related = ["integrator", "driver"]
    search_fields = ["stops__external_id"]
    search_help_text = gettext_lazy("Id, order, or part of an order or a name among the newest")
    ordering = ["-created_at"]
    nothing_yet = gettext_lazy("No delivery yet. Accounts request them in the panel or by the API.")
    action_form = MovesActionForm
    actions = [f"move_{name}" for name in moves.MOVES]
    change_form_template = "admin/delivery/delivery/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        found: Any = super().get_queryset(request)
        return found.with_due().prefetch_related("stops")

    def get_fieldsets(self, request: HttpRequest, obj: Delivery | None = None) -> Any:
        """The columns, folded: what people look for is above them, see `render_change_form`."""
        return [(_("All columns"), {"classes": ["rota-facts", "collapse"], "fields": _FACTS})]

    @admin.display(description=gettext_lazy("order"))
    def identity(self, delivery: Delivery) -> SafeString:
        names = delivery.order_names(1)
        shown = named(delivery, names) if names else linked(delivery)
        is_live = delivery.environment == Environment.LIVE
        return shown if is_live else format_html("{} {}", shown, pill(_("Sandbox"), "warn"))

    @admin.display(description=gettext_lazy("status"))
    def progress(self, delivery: Delivery) -> SafeString:
        """Its status, and by how much its next step is late."""
        late = lateness(delivery, at=clock.now())
        return format_html("{} {}", state(delivery), late) if late else state(delivery)

    @admin.display(description=gettext_lazy("to"))
    def destination(self, delivery: Delivery) -> str:
        """The recipient and street of the first point, and how many points follow."""
        first, *others = delivery.ordered_stops
        more = f" +{len(others)}" if others else ""
        return point_name(first).removeprefix(f"{first.label} · ") + more

    @admin.display(description=gettext_lazy("driver"))
    def driver_name(self, delivery: Delivery) -> str | None:
        return text_of_simulator(delivery.driver.name) if delivery.driver else None

    def has_dispatch_permission(self, request: HttpRequest) -> bool:
        """Whether the user may move deliveries. Called by the admin for actions with `permissions=["dispatch"]`."""
        return request.user.has_perm("delivery.dispatch_delivery")

    def get_list_filter(self, request: HttpRequest) -> Any:
        may_look_up = request.user.has_perm("delivery.view_integrator")
        return [*self.list_filter, *([("integrator", LookUpFilter)] if may_look_up else [])]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Delivery], search_term: str
    ) -> tuple[QuerySet[Delivery], bool]:
        """A whole deliveryId or externalId by its index; if there is none, part of an externalId or name.

        No index serves parts, so they are looked for among the newest deliveries.
        """
        term = search_term.strip()
        if not term:
            return queryset, False
        if key := parse_id(term):
            return queryset.filter(pk=key), False
        whole = queryset.filter(Stop.refers_to("pk", external_id=term))
        if whole.exists():
            return whole, False
        newest = ArraySubquery(Delivery.objects.order_by("-created_at").values("pk")[:_NEWEST])
        of_others = Q(integrator__name__icontains=term) | Q(driver__name__icontains=term)
        of_stops = Stop.of_some_with(newest, text=term)
        return queryset.filter(any_of("pk", newest), of_others | Q(of_stops)), False

    def get_urls(self) -> list[URLPattern]:
        move = self.admin_site.admin_view(require_POST(self.move_view))
        search = self.admin_site.admin_view(require_safe(self.drivers_view))
        goods_back = self.admin_site.admin_view(require_POST(self.goods_back_view))
        return [
            path("drivers/", search, name="delivery_delivery_drivers"),
            path("<path:object_id>/move/<str:name>/", move, name="delivery_delivery_move"),
            path("<path:object_id>/goods-back/", goods_back, name="delivery_delivery_goods_back"),
            *super().get_urls(),
        ]

    @property
    def media(self) -> Any:
        return super().media + DriverSelect().media

    def drivers_view(self, request: HttpRequest) -> HttpResponse:
        """Drivers for `DriverSelect`, 20 to a page, in the JSON of its script.

        `term` is part of a name or phone. With `delivery` they are those eligible for it, and below them others who
        cannot be chosen, with the reason; else those on duty.
        """
        if not self.has_dispatch_permission(request):
            raise PermissionDenied
        now = clock.now()
        found = Driver.objects.filter(active=True, on_duty=True).order_by("name", "pk")
        if delivery_id := request.GET.get("delivery"):
            delivery = self.get_object(request, delivery_id)
            if delivery is None:
                raise Http404
            found = drivers.eligible(delivery, at=now)
        term = request.GET.get("term", "").strip()
        matching = found.matching(term).select_related("latest")
        page = Paginator(matching, _DRIVERS_PER_PAGE).get_page(request.GET.get("page"))
        results: list[dict[str, Any]] = [
            {"id": str(driver.pk), "text": driver_label(driver, at=now)} for driver in page
        ]
        if delivery_id and not page.has_next():
            others = drivers.others(delivery, at=now, count=_DRIVERS_PER_PAGE, search=term)
            results += [
                {"id": str(driver.pk), "text": f"{driver.name} · {refusal(why)}", "disabled": True}
                for driver, why in others
            ]
        return JsonResponse({"results": results, "pagination": {"more": page.has_next()}})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {**(extra_context or {}), **self._moves(request, object_id)}
        return super().change_view(request, object_id, form_url, context)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Add what has happened so far, as much of it as the user may view."""
        if delivery := kwargs.get("obj"):
            context |= {"state": self.progress(delivery), "contents": contents(delivery.packages)}
            context |= {"address": in_one_line(delivery.address), "coordinates": coordinates(delivery)}
            context |= {
                "page_name": delivery.order_names(),
                "goods": _goods(delivery),
                "may_dispatch": self.has_dispatch_permission(request),
            }
            context |= _stops(delivery)
            for model, shown in ((Transition, _history), (WebhookEvent, _events)):
                if request.user.has_perm(f"delivery.view_{model._meta.model_name}"):
                    context |= shown(delivery)
        page = super().render_change_form(request, context, *args, **kwargs)
        return rendered_in(page, delivery) if delivery else page

    def _moves(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        delivery = self.get_object(request, object_id)
        if delivery is None or not self.has_dispatch_permission(request):
            return {}
        now, allowed = clock.now(), moves.allowed(delivery)
        may_accept = "accept" in allowed
        eligible = drivers.nearest(delivery, at=now, count=_NEAREST_SHOWN) if may_accept else []
        return {
            "moves": [MoveForm(name, delivery, driver_field(delivery)) for name in allowed],
            "may_accept": may_accept,
            "eligible": [driver_label(driver, at=now) for driver in eligible],
            "fee": delivery.fee_of_cancelling,
            "is_sandbox": delivery.environment == Environment.SANDBOX,
        }

    def move_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """One move of one delivery, from its page."""
        if not self.has_dispatch_permission(request):
            raise PermissionDenied
        delivery = self.get_object(request, object_id)
        if delivery is None or name not in moves.MOVES:
            raise Http404
        if page := unless_agreed(self, request, name, [delivery]):
            return page
        self._perform(request, name, delivery)
        return HttpResponseRedirect(reverse("admin:delivery_delivery_change", args=[delivery.pk]))

    def goods_back_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Records that the goods which drivers had of a delivery are back."""
        if not self.has_dispatch_permission(request):
            raise PermissionDenied
        delivery = self.get_object(request, object_id)
        if delivery is None:
            raise Http404
        for row in _goods(delivery):
            goods.record_back(goods=row, by=actor(request), at=clock.now())
        self.message_user(request, _("Recorded: the goods are back."), messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:delivery_delivery_change", args=[delivery.pk]))

    def _perform(self, request: HttpRequest, name: str, delivery: Delivery) -> None:
        """Perform the move and show its result or its refusal as a message."""
        # A list has no form of the row, so that what was known of it is what the confirmation page knew.
        fields = {"untried": agreed(request, delivery.pk), **request.POST.dict()}
        fields["point"] = fields.get("point") or moves.only_point(name, delivery)
        try:
            moved = moves.perform(name, delivery=delivery, fields=fields, by=actor(request), at=clock.now())
        except DeliveryError as error:
            self.message_user(request, f"{delivery}: {refusal(error)}", messages.ERROR)
            return
        text = done(name, moved, point=fields["point"])
        # Without the driver's name, which the log would keep when the driver is forgotten.
        self.log_change(request, moved, f"{moves.MOVES[name].label} {fields['point']}".strip())
        self.message_user(request, text, messages.SUCCESS)


def _goods(delivery: Delivery) -> QuerySet[GoodsInHand]:
    """What drivers have of it although they do not hold its route any more."""
    return GoodsInHand.objects.out().filter(delivery=delivery).select_related("delivery", "driver")


def _stops(delivery: Delivery) -> dict[str, Any]:
    """The drop-offs with what was asked for, changed and proved there. Links of receivers that are missing are made."""
    return {
        "points": [_Point(details) for details in receivers.details(delivery.ordered_stops, at=clock.now())],
        "changes": StopChange.objects.filter(stop__delivery=delivery).select_related("stop"),
    }


def _history(delivery: Delivery) -> dict[str, Any]:
    """The changes, newest first."""
    changes = list(delivery.transitions.all())
    reasons = delivery.reasons_of(changes)
    return {"history": [_Change(each, reason) for each, reason in zip(changes, reasons, strict=True)][::-1]}


def _events(delivery: Delivery) -> dict[str, Any]:
    found = delivery.events.select_related("queue_item", "endpoint").defer("body").order_by("endpoint", "sequence")
    return {"events": [_Sent(event) for event in found]}


def _list_action(name: str) -> Any:
    """The list's action for a move: one call for each chosen delivery."""

    @asks
    @admin.action(description=moves.MOVES[name].label, permissions=["dispatch"])
    def act(model_admin: DeliveryAdmin, request: HttpRequest, queryset: QuerySet[Delivery]) -> HttpResponse | None:
        if page := unless_agreed(model_admin, request, name, queryset):
            return page
        for delivery in queryset:
            model_admin._perform(request, name, delivery)  # noqa: SLF001  # a method of this class, made in a loop
        return None

    act.__name__ = f"move_{name}"
    return act


for _name in moves.MOVES:
    setattr(DeliveryAdmin, f"move_{_name}", _list_action(_name))

"""Deliveries in the admin. Statuses are read-only; the buttons are the moves allowed now."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from common.actors import actor
from common.admin_base import LargeTable, ModelAdmin, ReadOnlyInline, Unchangeable, pretty
from delivery.actions import drivers, moves
from delivery.admin.labels import STATUS_COLOURS
from delivery.admin.moves import DriverSelect, MovesActionForm, driver_field
from delivery.errors import DeliveryError
from delivery.forms import driver_label, offered, refusal
from delivery.models import Delivery, Driver, Environment, Stop, Transition, WebhookEvent, parse_id

_DRIVERS_PER_PAGE = 20
# Names on a delivery's page; the search finds the others.
_NEAREST_SHOWN = 5


class StopInline(ReadOnlyInline):
    model = Stop
    fields = ["label", "status", "external_id", "contact_name", "contact_phone", "place", "failure_reason"]

    @admin.display(description=gettext_lazy("point"))
    def label(self, stop: Stop) -> str:
        return stop.label

    @admin.display(description=gettext_lazy("address"))
    def place(self, stop: Stop) -> str:
        return _in_one_line(stop.address)


class TransitionInline(ReadOnlyInline):
    model = Transition
    fields = ["at", "trigger", "point", "reason", "status", "route_status", "by"]


class EventInline(ReadOnlyInline):
    model = WebhookEvent
    fields = ["sequence", "name", "state", "attempts_made", "next_attempt_at", "sent_at", "attempts"]
    ordering = ["sequence"]

    @admin.display(description=gettext_lazy("what was answered"))
    def attempts(self, event: WebhookEvent) -> str:
        return format_html(
            '<a class="rota-link" href="{}">{}</a>',
            reverse("admin:delivery_webhookevent_change", args=[event.pk]),
            _("Attempts of %(event)s") % {"event": event},
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEvent]:
        return super().get_queryset(request).select_related("queue_item")


@admin.register(Delivery)
class DeliveryAdmin(LargeTable, Unchangeable, ModelAdmin):
    list_display = [
        "id", "integrator", "environment", "status_label", "route_status", "driver", "shipping_value", "created_at",
    ]  # fmt: skip  # a list of names
    # Each has an index that includes the order of the list.
    list_filter = ["status", "route_status", "environment", "vehicle_type", ("created_at", admin.DateFieldListFilter)]
    list_filter_submit = True  # the filter by integrator has a field
    sortable_by = ["created_at"]
    list_select_related = ["integrator", "driver"]
    search_fields = ["stops__external_id"]
    search_help_text = gettext_lazy("A deliveryId or an externalId, whole.")
    ordering = ["-created_at"]
    action_form = MovesActionForm
    actions = [f"move_{name}" for name in moves.MOVES]
    change_form_template = "admin/delivery/delivery/change_form.html"
    inlines = [StopInline, TransitionInline, EventInline]
    fields = [
        "id", "integrator", "environment", "token", "status", "route_id", "route_status", "driver", "vehicle_type",
        "mode", "contact_name", "contact_phone", "place", "latitude", "longitude", "contents", "shipping_value",
        "distance_km", "created_at", "offer_expires_at", "closed_at", "cancelled_at", "cancel_reason", "cancel_fee",
    ]  # fmt: skip  # a list of names

    @display(description=gettext_lazy("status"), label=STATUS_COLOURS)
    def status_label(self, delivery: Delivery) -> str:
        return delivery.status

    @admin.display(description=gettext_lazy("address"))
    def place(self, delivery: Delivery) -> str:
        return _in_one_line(delivery.address)

    @admin.display(description=gettext_lazy("packages"))
    def contents(self, delivery: Delivery) -> str:
        return pretty(delivery.packages) if delivery.packages else "-"

    def has_dispatch_permission(self, request: HttpRequest) -> bool:
        """Whether the user may move deliveries. Called by the admin for actions with `permissions=["dispatch"]`."""
        return request.user.has_perm("delivery.dispatch_delivery")

    def get_list_filter(self, request: HttpRequest) -> Any:
        may_look_up = request.user.has_perm("delivery.view_integrator")
        return [*self.list_filter, *([("integrator", AutocompleteSelectFilter)] if may_look_up else [])]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Delivery], search_term: str
    ) -> tuple[QuerySet[Delivery], bool]:
        """Exact matches only: both look-ups have an index, a search for part of a text has none."""
        term = search_term.strip()
        if not term:
            return queryset, False
        key = parse_id(term)
        return (queryset.filter(pk=key) if key else queryset.filter(stops__external_id=term)), True

    def get_urls(self) -> list[URLPattern]:
        move = self.admin_site.admin_view(require_POST(self.move_view))
        search = self.admin_site.admin_view(require_safe(self.drivers_view))
        return [
            path("drivers/", search, name="delivery_delivery_drivers"),
            path("<path:object_id>/move/<str:name>/", move, name="delivery_delivery_move"),
            *super().get_urls(),
        ]

    @property
    def media(self) -> Any:
        return super().media + DriverSelect().media

    def drivers_view(self, request: HttpRequest) -> HttpResponse:
        """Drivers for `DriverSelect`, 20 to a page, in the JSON of its script.

        `term` is part of a name or phone. With `delivery` they are those eligible for it, else those on duty.
        """
        if not self.has_dispatch_permission(request):
            raise PermissionDenied
        now = timezone.now()
        found = Driver.objects.filter(active=True, on_duty=True).order_by("name", "pk")
        if delivery_id := request.GET.get("delivery"):
            delivery = self.get_object(request, delivery_id)
            if delivery is None:
                raise Http404
            found = drivers.eligible(delivery, at=now)
        matching = found.matching(request.GET.get("term", "").strip()).select_related("latest")
        page = Paginator(matching, _DRIVERS_PER_PAGE).get_page(request.GET.get("page"))
        results = [{"id": str(driver.pk), "text": driver_label(driver, at=now)} for driver in page]
        return JsonResponse({"results": results, "pagination": {"more": page.has_next()}})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {**(extra_context or {}), **self._moves(request, object_id)}
        return super().change_view(request, object_id, form_url, context)

    def _moves(self, request: HttpRequest, object_id: str) -> dict[str, Any]:
        delivery = self.get_object(request, object_id)
        if delivery is None or not self.has_dispatch_permission(request):
            return {}
        now, may_accept = timezone.now(), "accept" in moves.allowed(delivery)
        eligible = drivers.nearest(delivery, at=now, count=_NEAREST_SHOWN) if may_accept else []
        return {
            "moves": offered(delivery, driver_field(delivery)),
            "may_accept": may_accept,
            "eligible": [driver_label(driver, at=now) for driver in eligible],
            "is_sandbox": delivery.environment == Environment.SANDBOX,
        }

    def move_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        """One move of one delivery, from its page."""
        if not self.has_dispatch_permission(request):
            raise PermissionDenied
        delivery = self.get_object(request, object_id)
        if delivery is None or name not in moves.MOVES:
            raise Http404
        self._perform(request, name, delivery)
        return HttpResponseRedirect(reverse("admin:delivery_delivery_change", args=[delivery.pk]))

    def _perform(self, request: HttpRequest, name: str, delivery: Delivery) -> None:
        """Perform the move and show its result or its refusal as a message."""
        try:
            moved = moves.perform(name, delivery=delivery, fields=request.POST, by=actor(request), at=timezone.now())
        except DeliveryError as error:
            self.message_user(request, f"{delivery}: {refusal(error)}", messages.ERROR)
            return
        done = {"move": moves.MOVES[name].label, "status": moved.status, "route": moved.route_status}
        self.log_change(request, moved, _("%(move)s: the delivery is %(status)s, its route %(route)s.") % done)
        text = _("%(delivery)s: %(move)s done, the delivery is %(status)s and its route %(route)s.") % {
            "delivery": moved,
            **done,
        }
        self.message_user(request, text, messages.SUCCESS)


_ADDRESS_PARTS = ("street", "number", "complement", "district", "city", "state", "zipcode", "country")


def _in_one_line(address: dict[str, Any]) -> str:
    return ", ".join(str(address[name]) for name in _ADDRESS_PARTS if address.get(name))


def _list_action(name: str) -> Any:
    """The list's action for a move: one call for each chosen delivery."""

    @admin.action(description=moves.MOVES[name].label, permissions=["dispatch"])
    def act(model_admin: DeliveryAdmin, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        for delivery in queryset:
            model_admin._perform(request, name, delivery)  # noqa: SLF001  # a method of this class, made in a loop

    act.__name__ = f"move_{name}"
    return act


for _name in moves.MOVES:
    setattr(DeliveryAdmin, f"move_{_name}", _list_action(_name))

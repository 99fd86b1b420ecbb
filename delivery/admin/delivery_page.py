"""What a delivery's page in the admin consists of."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.actors import actor_name
from common.admin_base import LargeTable, ModelAdmin, ReadOnlyInline, Unchangeable, column, linked, short
from common.formats import moment, money, phone
from delivery.admin.labels import CHANGE, in_one_line, kilometres
from delivery.forms import text_of_simulator
from delivery.models import AuditEntry, Delivery, Stop, Transition, WebhookEvent, parse_id

PRICE = column("shipping_value", gettext_lazy("price"), money)
_FACTS: list[tuple[Any, dict[str, Any]]] = [
    (
        None,
        {
            "classes": ["rota-facts"],
            "fields": [
                "state", "integrator", "driver_name", "vehicle_type", "mode", PRICE,
                column("distance_km", gettext_lazy("distance"), kilometres), "created_at", "offer_expires_at",
                "closed_at",
            ],
        },
    ),
    (
        gettext_lazy("Pickup at A"),
        {
            "classes": ["rota-facts"],
            "fields": [
                "contact_name", column("contact_phone", gettext_lazy("phone"), phone), "place", "coordinates",
                "contents",
            ],
        },
    ),
]  # fmt: skip  # lists of names
_CANCELLATION = (
    gettext_lazy("Cancellation"),
    {
        "classes": ["rota-facts"],
        "fields": [
            "cancelled_at", "cancel_reason", column("cancel_fee", gettext_lazy("cancellation fee"), money),
        ],
    },
)  # fmt: skip  # a list of names
_IDS = (
    gettext_lazy("Ids"),
    {
        "classes": ["rota-facts"],
        "fields": [
            column("id", "deliveryId", short), column("route_id", gettext_lazy("route"), short), "environment",
            "token",
        ],
    },
)  # fmt: skip  # a list of names
_WHEN = column("at", gettext_lazy("when"), moment)
_WHO = column("by", gettext_lazy("who"), actor_name)


def fieldsets(delivery: Delivery | None) -> list[tuple[Any, dict[str, Any]]]:
    """The facts of a delivery, with its cancellation if it has been cancelled."""
    is_cancelled = delivery is not None and delivery.cancelled_at is not None
    return [*_FACTS, *([_CANCELLATION] if is_cancelled else []), _IDS]


class StopInline(ReadOnlyInline):
    model = Stop
    fields = [
        "label", "status", "external_id", "contact_name", column("contact_phone", gettext_lazy("phone"), phone),
        "place", column("failure_reason", gettext_lazy("failure reason"), text_of_simulator, is_long=True),
    ]  # fmt: skip  # a list of names

    @admin.display(description=gettext_lazy("point"))
    def label(self, stop: Stop) -> str:
        return stop.label

    @admin.display(description=gettext_lazy("address"))
    def place(self, stop: Stop) -> str:
        return in_one_line(stop.address)


class TransitionInline(ReadOnlyInline):
    model = Transition
    fields = [column("at", gettext_lazy("at"), moment), *CHANGE, column("by", gettext_lazy("by"), actor_name)]


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

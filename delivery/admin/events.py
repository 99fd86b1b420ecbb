"""Webhook events and their attempts in the admin."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from common.actors import actor
from common.admin_base import LargeTable, ModelAdmin, ReadOnlyInline, Unchangeable
from delivery.actions import events
from delivery.admin.labels import EVENT_COLOURS
from delivery.errors import EndpointCannotSend
from delivery.forms import refusal
from delivery.models import EventState, Stop, WebhookAttempt, WebhookEvent, parse_id


class AttemptInline(ReadOnlyInline):
    model = WebhookAttempt
    fields = ["number", "at", "status_code", "milliseconds", "error", "response_start"]


class StateFilter(admin.SimpleListFilter):
    """Filters by the states that an index finds. Most events were sent; there is no filter for that state."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("waiting", _("Next to be sent")),
            (EventState.DEAD.value, EventState.DEAD.label),
            (EventState.UNADDRESSED.value, EventState.UNADDRESSED.label),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[WebhookEvent]) -> QuerySet[WebhookEvent]:
        if self.value() == "waiting":
            return queryset.filter(queue_item__isnull=False)  # the queue is a small table, so this reads few rows
        return queryset.filter(WebhookEvent.in_state(state)) if (state := self.value()) else queryset


@admin.register(WebhookEvent)
class WebhookEventAdmin(LargeTable, Unchangeable, ModelAdmin):
    list_display = ["id", "name", "sequence", "delivery", "endpoint", "state_label", "attempts_made", "next_attempt_at"]
    list_filter = [StateFilter, ("created_at", admin.DateFieldListFilter)]
    list_select_related = ["delivery", "endpoint__integrator", "queue_item"]
    search_fields = ["delivery__stops__external_id"]
    search_help_text = _("A webhook-id, a deliveryId or an externalId, whole.")
    ordering = ["-id"]
    fields = [
        "id", "name", "sequence", "delivery", "endpoint", "state", "attempts_made", "next_attempt_at", "created_at",
        "sent_at", "sent_body",
    ]  # fmt: skip  # a list of names
    inlines = [AttemptInline]
    actions = ["replay"]

    @display(description=_("state"), label={EventState(key).label: colour for key, colour in EVENT_COLOURS.items()})
    def state_label(self, event: WebhookEvent) -> str:
        return event.get_state_display()

    @admin.display(description=_("body"))
    def sent_body(self, event: WebhookEvent) -> str:
        return format_html('<pre class="rota-code">{}</pre>', event.body)  # the exact text that is signed

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("delivery.change_webhookendpoint")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookEvent], search_term: str
    ) -> tuple[QuerySet[WebhookEvent], bool]:
        """Exact matches only, each by its index."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if key := parse_id(term):
            return queryset.filter(Q(pk=key) | Q(delivery=key)), False
        return queryset.filter(Stop.refers_to("delivery", external_id=term)), False

    @admin.action(description=_("Send again, with the same ids"), permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookEvent]) -> None:
        try:
            count = events.replay(
                events=WebhookEvent.objects.filter(pk__in=queryset.values("pk")), by=actor(request), at=timezone.now()
            )
        except EndpointCannotSend as error:
            self.message_user(request, refusal(error), messages.ERROR)
        else:
            self.message_user(request, _("Events on their way again: %(count)s.") % {"count": count})

"""Webhook events and their attempts in the admin."""

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common import clock
from common.actors import actor
from common.admin_base import (
    LargeTable,
    ModelAdmin,
    ReadOnlyInline,
    Unchangeable,
    column,
    copy_button,
    linked,
    pill,
    pretty,
    short,
)
from common.formats import moment
from delivery.actions import events
from delivery.admin.labels import EVENT_COLOURS
from delivery.errors import EndpointCannotSend
from delivery.models import FAILING, STATE_NAMES, Environment, EventState, Stop, WebhookAttempt, WebhookEvent, parse_id
from delivery.refusals import refusal


class AttemptInline(ReadOnlyInline):
    model = WebhookAttempt
    fields = ["number", column("at", _("at"), moment), "status_code", "milliseconds", "error", "response_start"]


class StateFilter(admin.SimpleListFilter):
    """Filters by the states that an index finds. Most events were sent; there is no filter for that state."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("waiting", _("Next to be sent")),
            *((state, STATE_NAMES[state]) for state in (FAILING, EventState.DEAD.value, EventState.UNADDRESSED.value)),
        ]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # a WebhookEventQuerySet
        if self.value() == "waiting":
            return queryset.filter(queue_item__isnull=False)  # the queue is a small table, so this reads few rows
        return queryset.in_state(state) if (state := self.value()) else queryset


_CREATED = column("created_at", _("created"), moment)
_FACTS = [
    "state_pill", "name", "endpoint", "delivery", "place", "attempts_made", _CREATED,
    column("sent_at", _("received"), moment), column("next_attempt_at", _("next attempt"), moment),
    column("id", "webhook-id", short),
]  # fmt: skip  # a list of names


@admin.register(WebhookEvent)
class WebhookEventAdmin(LargeTable, Unchangeable, ModelAdmin):
    list_display = [
        "name", "state_pill", _CREATED, "account", column("delivery", _("delivery"), linked), "status_code",
        "milliseconds",
    ]  # fmt: skip  # a list of names
    nothing_yet = _("No event yet. Each change of a delivery makes one.")
    list_filter = [StateFilter, ("created_at", admin.DateFieldListFilter)]
    list_select_related = ["delivery", "endpoint__integrator", "queue_item"]
    search_fields = ["delivery__stops__external_id"]
    search_help_text = _("Event id, delivery id or external id, whole")
    ordering = ["-id"]
    fieldsets = [
        (None, {"classes": ["rota-facts"], "fields": _FACTS}),
        (_("Body"), {"classes": ["rota-whole"], "fields": ["sent_body"]}),
    ]
    inlines = [AttemptInline]
    actions = ["replay"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEvent]:
        last = WebhookAttempt.objects.filter(event=OuterRef("pk")).order_by("-number")
        code, milliseconds = (Subquery(last.values(name)[:1]) for name in ("status_code", "milliseconds"))
        return super().get_queryset(request).annotate(last_code=code, last_ms=milliseconds)

    @admin.display(description=_("status"))
    def state_pill(self, event: WebhookEvent) -> str:
        return pill(STATE_NAMES[event.shown_state], EVENT_COLOURS[event.shown_state])

    @admin.display(description=_("account"))
    def account(self, event: WebhookEvent) -> str:
        is_live = event.endpoint.environment == Environment.LIVE
        return format_html(
            "{}{}", event.endpoint.integrator.name, "" if is_live else format_html(" · {}", _("Sandbox"))
        )

    @admin.display(description=_("code"))
    def status_code(self, event: WebhookEvent) -> int | None:
        """Of the last attempt."""
        return vars(event)["last_code"]

    @admin.display(description=_("ms"))
    def milliseconds(self, event: WebhookEvent) -> int | None:
        """Of the last attempt."""
        return vars(event)["last_ms"]

    @admin.display(description=_("place in the delivery"))
    def place(self, event: WebhookEvent) -> str:
        return gettext("event %(number)s of the delivery") % {"number": event.sequence}

    @admin.display(description=_("body"))
    def sent_body(self, event: WebhookEvent) -> str:
        """Indented for reading; the button copies the exact text that is signed."""
        return format_html("{}{}", pretty(json.loads(event.body)), copy_button(event.body, _("Copy as it was sent")))

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
            chosen = WebhookEvent.objects.filter(pk__in=queryset.values("pk"))
            count = events.replay(events=chosen, by=actor(request), at=clock.now()).total
        except EndpointCannotSend as error:
            self.message_user(request, refusal(error), messages.ERROR)
        else:
            self.message_user(request, _("Events on their way again: %(count)s.") % {"count": count})

"""Webhook endpoints, events and attempts in the admin."""

import json
from datetime import datetime
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from common import clock
from common.actors import actor
from common.admin_base import (
    ChangedOnly,
    LargeTable,
    ModelAdmin,
    ReadOnlyInline,
    Unchangeable,
    ago_or_never,
    column,
    copy_button,
    effect,
    linked,
    pill,
    pretty,
    short,
)
from common.formats import ago, moment
from common.webhooks.address_guard import InvalidWebhookUrl
from delivery import words
from delivery.actions import endpoints, events
from delivery.admin.labels import EVENT_COLOURS, RefusalsAsMessages, endpoint_state
from delivery.errors import AccountSuspended, EndpointCannotSend, EndpointStays, SecretRotatedLately
from delivery.lifecycle import Status
from delivery.models import (
    FAILING,
    STATE_NAMES,
    Environment,
    EventState,
    Stop,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookEvent,
    parse_id,
)
from delivery.refusals import refusal

_LAST_SUCCESS = column("last_success_at", _("last success"), ago)


class EndpointForm(forms.ModelForm[WebhookEndpoint]):
    """`url_refused` is set by the admin, which has checked the URL before the transaction of its view."""

    url_refused: InvalidWebhookUrl | None = None
    statuses = forms.MultipleChoiceField(
        label=_("filter"),
        choices=lambda: [(status.value, words.STATUSES[status]) for status in Status],
        required=False,
        help_text=WebhookEndpoint._meta.get_field("statuses").help_text,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = WebhookEndpoint
        fields = ["url", "statuses", "enabled"]

    def clean_url(self) -> str:
        if self.url_refused is not None:
            raise forms.ValidationError(refusal(self.url_refused)) from self.url_refused
        url: str = self.cleaned_data["url"]
        return url


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(RefusalsAsMessages, ChangedOnly, ModelAdmin):
    """Each integrator is created with an endpoint for each environment; further ones are added here."""

    form = EndpointForm
    list_display = [
        "integrator", endpoint_state, "environment", "number", "url", "filter_text", "failure_count", "last_success",
    ]  # fmt: skip  # a list of names
    nothing_yet = _("No webhook yet: each integrator has one for live and one for the sandbox.")
    list_filter = ["environment", "enabled", "off_because"]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name", "url"]
    fields = [
        endpoint_state, "integrator", "environment", "number", "url", "statuses", "enabled", "off_since", "failures",
        "failing_since", "paused_until", _LAST_SUCCESS,
    ]  # fmt: skip  # a table
    readonly_fields = [name for name in fields if name not in {"url", "statuses", "enabled"}]
    actions = ["send_test", "switch_on", "switch_off", "rotate_secret", "remove"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEndpoint]:
        return super().get_queryset(request).filter(number__isnull=False)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_fields(request, obj) if obj else ["integrator", "environment", "url", "statuses"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_readonly_fields(request, obj) if obj else []

    @admin.display(description=_("filter"))
    def filter_text(self, endpoint: WebhookEndpoint) -> str:
        return ", ".join(endpoint.statuses)

    @admin.display(description=_("failures"), ordering="failures")
    def failure_count(self, endpoint: WebhookEndpoint) -> int | None:
        return endpoint.failures or None

    @admin.display(description=_("last success"), ordering="last_success_at")
    def last_success(self, endpoint: WebhookEndpoint) -> str:
        return ago_or_never(endpoint.last_success_at)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Checks the URL here, because Django's view holds a transaction from reading the form to saving it."""
        if request.method == "POST" and self.has_change_permission(request):
            try:
                checked: Any = endpoints.check_url(request.POST.get("url", "").strip())
            except InvalidWebhookUrl as error:
                checked = error
            cast("Any", request).checked_url = checked
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)  # a class made for this request
        checked = getattr(request, "checked_url", None)
        form.url_refused = checked if isinstance(checked, InvalidWebhookUrl) else None
        return form

    def save_model(self, request: HttpRequest, obj: WebhookEndpoint, form: Any, change: bool) -> None:
        by, at = actor(request), clock.now()
        if not change:
            self._add(obj, cast("Any", request).checked_url, by=by, at=at)
            return
        if "statuses" in form.changed_data:
            endpoints.set_filter(endpoint=obj, statuses=obj.statuses, by=by, at=at)
        if "url" in form.changed_data:
            endpoints.store_url(endpoint=obj, url=cast("Any", request).checked_url, by=by, at=at)
        if "enabled" in form.changed_data:
            endpoints.set_enabled(endpoint=obj, enabled=obj.enabled, by=by, at=at)

    def _add(self, obj: WebhookEndpoint, url: endpoints.CheckedUrl, *, by: str, at: datetime) -> None:
        added = endpoints.add(
            integrator=obj.integrator,
            environment=Environment(obj.environment),
            url=url,
            statuses=obj.statuses,
            by=by,
            at=at,
        )
        obj.pk, obj.number = added.pk, added.number

    @effect(_("Their URLs and every event that was kept for them are deleted. The first endpoint of an account stays."))
    @admin.action(description=_("Remove further endpoints, with their events"), permissions=["change"])
    def remove(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        for endpoint in queryset.select_related("integrator"):
            try:
                endpoints.remove(endpoint=endpoint, by=actor(request), at=clock.now())
            except EndpointStays as error:
                self.message_user(request, f"{endpoint}: {refusal(error)}", messages.ERROR)
            else:
                self.log_change(request, endpoint, _("Removed."))

    @effect(_("An event without a delivery is sent to the URL at once."))
    @admin.action(description=_("Send a test event"), permissions=["change"])
    def send_test(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> HttpResponse | None:
        event = None
        for endpoint in queryset.select_related("integrator"):
            try:
                event = endpoints.send_test(endpoint=endpoint, by=actor(request), at=clock.now())
            except (AccountSuspended, EndpointCannotSend) as error:
                self.message_user(request, f"{endpoint}: {refusal(error)}", messages.ERROR)
            else:
                self.log_change(request, endpoint, _("Test event sent."))
        if event is None:
            return None
        self.message_user(request, _("The test event is being sent. Reload this page in a moment to see the response."))
        return redirect("admin:delivery_webhookevent_change", event.pk)

    @effect(_("Everything that was kept is sent at once, in its order."))
    @admin.action(description=_("Resume and send the events kept while it was off"), permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        self._switch(request, queryset, enabled=True)

    @effect(_("Nothing is sent until it is resumed. Events are kept."))
    @admin.action(description=_("Pause and keep new events until it is resumed"), permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        self._switch(request, queryset, enabled=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint], *, enabled: bool) -> None:
        for endpoint in queryset:
            endpoints.set_enabled(endpoint=endpoint, enabled=enabled, by=actor(request), at=clock.now())
            self.log_change(request, endpoint, _("Resumed.") if enabled else _("Paused."))

    @effect(_("The new secrets are shown once, on the next page."))
    @admin.action(
        description=_("Rotate the signing secret (the old one stays valid for 24 hours)"), permissions=["change"]
    )
    def rotate_secret(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> HttpResponse | None:
        rotated = []
        for endpoint in queryset.select_related("integrator"):
            try:
                secret = endpoints.rotate_secret(endpoint=endpoint, by=actor(request), at=clock.now())
            except (AccountSuspended, SecretRotatedLately) as error:
                self.message_user(request, f"{endpoint}: {refusal(error)}", messages.ERROR)
            else:
                self.log_change(request, endpoint, _("Signing secret rotated."))
                rotated.append((endpoint, secret))
        if not rotated:
            return None
        context = {**self.admin_site.each_context(request), "title": _("New signing secret"), "rotated": rotated}
        return TemplateResponse(request, "admin/delivery/secret_rotated.html", context)


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
    column("webhook_id", "webhook-id", short),
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

    @effect(_("Receivers get these events once more, with the ids that they know."))
    @admin.action(description=_("Send again, with the same ids"), permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookEvent]) -> None:
        try:
            chosen = WebhookEvent.objects.filter(pk__in=queryset.values("pk"))
            count = events.replay(events=chosen, by=actor(request), at=clock.now()).total
        except EndpointCannotSend as error:
            self.message_user(request, refusal(error), messages.ERROR)
        else:
            self.message_user(request, _("Events on their way again: %(count)s.") % {"count": count})

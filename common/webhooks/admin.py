"""Webhook endpoints, events and attempts in the admin: what those of both areas have in common."""

import json
from datetime import datetime
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import Func, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from common import clock
from common.accounts import Environment
from common.actors import actor
from common.admin.base import (
    ChangedOnly,
    LargeTable,
    ModelAdmin,
    ReadOnlyInline,
    RefusalsAsMessages,
    Unchangeable,
    ago_or_never,
    column,
    copy_button,
    effect,
    facts,
    linked,
    page_of,
    pill,
    pill_of,
    pretty,
)
from common.brazil.formats import ago, moment
from common.columns import ADMIN, Column
from common.errors import DomainError
from common.refusals import refusal
from common.webhooks import columns, endpoints, replays
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.errors import EndpointCannotSend, EndpointStays
from common.webhooks.models import FAILING, STATE_NAMES, Endpoint, Event, EventState, OffBecause
from common.webhooks.outbox import outbox_of

_LAST_SUCCESS = column("last_success_at", _("last success"), ago)
_CREATED = column("created_at", _("created"), moment)


def event_state(event: Event) -> SafeString:
    return pill_of(columns.state(event))


@admin.display(description=_("status"))
def endpoint_state(endpoint: Endpoint) -> SafeString:
    """Whether webhooks are sent to the endpoint, as the panel says it."""
    if not endpoint.url:
        return pill(gettext("No URL"))
    if not endpoint.enabled:
        if endpoint.off_because == OffBecause.STAFF:
            return pill(gettext("Paused"), "warn")
        return pill(gettext("Off: %(why)s") % {"why": endpoint.get_off_because_display()}, "bad")
    if endpoint.breaker_state.is_open:
        return pill(gettext("Failing"), "warn")
    return pill(gettext("Working"), "good")


class EndpointForm(forms.ModelForm[Any]):
    """`url_refused` is set by the admin, which has checked the URL before the transaction of its view."""

    url_refused: InvalidWebhookUrl | None = None
    statuses = forms.MultipleChoiceField(
        label=_("Filter of statuses"), required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    class Meta:
        fields = ["url", "statuses", "enabled"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "statuses" in self.fields:
            field: Any = self.fields["statuses"]
            field.choices = list(self._meta.model.all_statuses().items())
            field.help_text = self._meta.model._meta.get_field("statuses").help_text

    def clean_url(self) -> str:
        if self.url_refused is not None:
            raise forms.ValidationError(refusal(self.url_refused)) from self.url_refused
        url: str = self.cleaned_data["url"]
        return url


class EndpointAdmin(RefusalsAsMessages, ChangedOnly, ModelAdmin):
    """Base class: an owner's first endpoint is made elsewhere; further ones are added here."""

    form = EndpointForm
    list_filter = ["environment", "enabled", "off_because"]
    actions = ["send_test", "switch_on", "switch_off", "rotate_secret", "remove"]

    def __init__(self, model: Any, site: admin.AdminSite) -> None:
        owner = model.OWNER
        self.list_display = [
            owner, endpoint_state, "environment", "number", "url", "filter_text", "failure_count", "last_success",
        ]  # fmt: skip  # a list of names
        self.list_select_related = [owner]
        self.search_fields = [f"{owner}__name__composed", "url"]
        whose = [owner, "environment", "number"]
        health = [endpoint_state, _LAST_SUCCESS, "failures", "failing_since", "paused_until", "off_since"]
        self.fieldsets = [
            (None, {"classes": ["rota-facts"], "fields": whose}),
            (_("Where events go"), {"fields": ["url", "statuses", "enabled"]}),
            (_("Health"), {"classes": ["rota-facts"], "fields": health}),
        ]
        self.readonly_fields = [*whose, *health]
        super().__init__(model, site)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).filter(number__isnull=False)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        added = [(None, {"fields": [self.model.OWNER, "environment", "url", "statuses"]})]
        return super().get_fieldsets(request, obj) if obj else added

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_readonly_fields(request, obj) if obj else []

    @admin.display(description=_("filter"))
    def filter_text(self, endpoint: Endpoint) -> str:
        return ", ".join(endpoint.statuses)

    @admin.display(description=_("failures"), ordering="failures")
    def failure_count(self, endpoint: Endpoint) -> int | None:
        return endpoint.failures or None

    @admin.display(description=_("last success"), ordering="last_success_at")
    def last_success(self, endpoint: Endpoint) -> str:
        return ago_or_never(endpoint.last_success_at)

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Checks the URL here, because Django's view holds a transaction from reading the form to saving it."""
        if request.method == "POST" and self.has_change_permission(request):
            try:
                checked: Any = endpoints.check_url(request.POST.get("url", "").strip(), of=None)
            except InvalidWebhookUrl as error:
                checked = error
            cast("Any", request).checked_url = checked
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)  # a class made for this request
        checked = getattr(request, "checked_url", None)
        form.url_refused = checked if isinstance(checked, InvalidWebhookUrl) else None
        return form

    def save_model(self, request: HttpRequest, obj: Endpoint, form: Any, change: bool) -> None:
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

    def _add(self, obj: Endpoint, url: endpoints.CheckedUrl, *, by: str, at: datetime) -> None:
        first = endpoints.first(type(obj), owner=obj.owner_id, environment=obj.environment)
        added = endpoints.add(beside=first, url=url, statuses=obj.statuses, by=by, at=at)
        obj.pk, obj.number = added.pk, added.number

    @effect(_("Their URLs and every event that was kept for them are deleted. The first endpoint of an account stays."))
    @admin.action(description=_("Remove further endpoints, with their events"), permissions=["change"])
    def remove(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> None:
        for endpoint in queryset.select_related(self.model.OWNER):
            try:
                endpoints.remove(endpoint=endpoint, by=actor(request), at=clock.now())
            except EndpointStays as error:
                self.message_user(request, f"{endpoint}: {refusal(error)}", messages.ERROR)
            else:
                self.log_change(request, endpoint, _("Removed."))

    @effect(_("A test event is sent to the URL at once."))
    @admin.action(description=_("Send a test event"), permissions=["change"])
    def send_test(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse | None:
        event = None
        for endpoint in queryset.select_related(self.model.OWNER):
            try:
                event = endpoints.send_test(endpoint=endpoint, by=actor(request), at=clock.now())
            except DomainError as error:  # suspended, or nothing can be sent
                self.message_user(request, f"{endpoint}: {refusal(error)}", messages.ERROR)
            else:
                self.log_change(request, endpoint, _("Test event sent."))
        if event is None:
            return None
        self.message_user(request, _("The test event is being sent. Reload this page in a moment to see the response."))
        return redirect(page_of(event))

    @effect(_("Everything that was kept is sent at once, in its order."))
    @admin.action(description=_("Resume and send the events kept while it was off"), permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> None:
        self._switch(request, queryset, enabled=True)

    @effect(_("Nothing is sent until it is resumed. Events are kept."))
    @admin.action(description=_("Pause and keep new events until it is resumed"), permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> None:
        self._switch(request, queryset, enabled=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[Endpoint], *, enabled: bool) -> None:
        for endpoint in queryset:
            endpoints.set_enabled(endpoint=endpoint, enabled=enabled, by=actor(request), at=clock.now())
            self.log_change(request, endpoint, _("Resumed.") if enabled else _("Paused."))

    @effect(_("The new secrets are shown once, on the next page."))
    @admin.action(
        description=_("Rotate the signing secret (the old one stays valid for 24 hours)"), permissions=["change"]
    )
    def rotate_secret(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse | None:
        rotated = []
        for endpoint in queryset.select_related(self.model.OWNER):
            try:
                secret = endpoints.rotate_secret(endpoint=endpoint, by=actor(request), at=clock.now())
            except DomainError as error:  # suspended, or rotated lately
                self.message_user(request, f"{endpoint}: {refusal(error)}", messages.ERROR)
            else:
                self.log_change(request, endpoint, _("Signing secret rotated."))
                rotated.append((endpoint, secret))
        if not rotated:
            return None
        context = {"title": _("New signing secret"), "rotated": rotated, "opts": self.opts}
        context |= self.admin_site.each_context(request)
        return TemplateResponse(request, "admin/secret_rotated.html", context)


class AttemptInline(ReadOnlyInline):
    """The last attempt first. `EventAdmin` adds the model."""

    ordering = ["-number"]
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

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:  # an EventQuerySet
        if self.value() == "waiting":
            return queryset.filter(queue_item__isnull=False)  # the queue is a small table, so this reads few rows
        return queryset.in_state(state) if (state := self.value()) else queryset


class EventAdmin(LargeTable, Unchangeable, ModelAdmin):
    """Base class: events of an area, found by exact values."""

    list_filter = [StateFilter, ("created_at", admin.DateFieldListFilter)]
    ordering = ["-id"]
    actions = ["replay"]
    change_form_template = "admin/webhook_event.html"

    def __init__(self, model: Any, site: admin.AdminSite) -> None:
        subject = model.SUBJECT
        noun = model._meta.get_field(subject).verbose_name
        self.list_display = [
            "name", "state_pill", _CREATED, "account", column(subject, noun, linked), "status_code", "milliseconds",
        ]  # fmt: skip  # a list of names
        owner = model._meta.get_field("endpoint").related_model.OWNER
        self.list_select_related = [subject, f"endpoint__{owner}", "queue_item"]
        shown = facts(columns.of_event(Column(noun, subject, on=ADMIN)))
        self.fieldsets = [
            (None, {"classes": ["rota-facts"], "fields": shown}),
            (_("Body"), {"classes": ["collapse"], "fields": ["sent_body"]}),
        ]
        attempt = model._meta.get_field("attempts").related_model
        self.inlines = [type("AttemptInline", (AttemptInline,), {"model": attempt})]
        super().__init__(model, site)

    def found_by(self, term: str) -> Q | Func:
        """The events that a text names as a whole, by an index."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        return queryset.filter(self.found_by(term)) if term else queryset, False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        last = outbox_of(self.model).attempts._default_manager.filter(event=OuterRef("pk")).order_by("-number")
        code, milliseconds = (Subquery(last.values(name)[:1]) for name in ("status_code", "milliseconds"))
        return super().get_queryset(request).annotate(last_code=code, last_ms=milliseconds)

    @admin.display(description=_("status"))
    def state_pill(self, event: Event) -> str:
        return event_state(event)

    @admin.display(description=_("account"))
    def account(self, event: Event) -> str:
        endpoint = event.endpoint
        sandbox = "" if endpoint.environment == Environment.LIVE else f" · {endpoint.get_environment_display()}"
        return format_html("{}{}", endpoint.owner.name, sandbox)

    @admin.display(description=_("code"))
    def status_code(self, event: Event) -> int | None:
        """Of the last attempt."""
        return vars(event)["last_code"]

    @admin.display(description=_("ms"))
    def milliseconds(self, event: Event) -> int | None:
        """Of the last attempt."""
        return vars(event)["last_ms"]

    @admin.display(description=_("body"))
    def sent_body(self, event: Event) -> str:
        """Indented for reading; the button copies the exact text that is signed."""
        return format_html("{}{}", pretty(json.loads(event.body)), copy_button(event.body, _("Copy as it was sent")))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if event := kwargs.get("obj"):
            last = event.attempts.last()
            context |= {
                "outcome": event_state(event),
                "failure": last if last and event.state != EventState.SENT and not last.succeeded else None,
                "may_replay": self.has_replay_permission(request),
                "endpoint_page": page_of(event.endpoint),
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def has_replay_permission(self, request: HttpRequest) -> bool:
        endpoints_of = outbox_of(self.model).endpoints._meta
        return request.user.has_perm(f"{endpoints_of.app_label}.change_{endpoints_of.model_name}")

    @effect(_("Receivers get these events once more, with the ids that they know."))
    @admin.action(description=_("Send again, with the same ids"), permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[Event]) -> None:
        try:
            chosen = self.model._default_manager.filter(pk__in=queryset.values("pk"))
            count = replays.replay(events=chosen, by=actor(request), at=clock.now()).total
        except EndpointCannotSend as error:
            self.message_user(request, refusal(error), messages.ERROR)
        else:
            self.message_user(request, _("Events on their way again: %(count)s.") % {"count": count})

"""Webhook endpoints in the admin."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from common import clock
from common.actors import actor
from common.admin_base import ModelAdmin, ago_or_never, column
from common.formats import ago
from common.webhooks.address_guard import InvalidWebhookUrl
from delivery.actions import endpoints
from delivery.admin.labels import endpoint_state
from delivery.admin.refusals import RefusalsAsMessages
from delivery.errors import AccountSuspended, EndpointCannotSend, SecretRotatedLately
from delivery.models import WebhookEndpoint
from delivery.refusals import refusal

_LAST_SUCCESS = column("last_success_at", _("last success"), ago)


class EndpointForm(forms.ModelForm[WebhookEndpoint]):
    """`url_refused` is set by the admin, which has checked the URL before the transaction of its view."""

    url_refused: InvalidWebhookUrl | None = None

    class Meta:
        model = WebhookEndpoint
        fields = ["url", "enabled"]

    def clean_url(self) -> str:
        if self.url_refused is not None:
            raise forms.ValidationError(refusal(self.url_refused)) from self.url_refused
        url: str = self.cleaned_data["url"]
        return url


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(RefusalsAsMessages, ModelAdmin):
    form = EndpointForm
    list_display = ["integrator", "state", "environment", "url", "failure_count", "last_success"]
    nothing_yet = _("No webhook yet: each integrator has one for live and one for the sandbox.")
    list_filter = ["environment", "enabled", "off_because"]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name", "url"]
    readonly_fields = [
        "state", "integrator", "environment", "off_since", "failures", "failing_since", "paused_until",
        _LAST_SUCCESS,
    ]  # fmt: skip  # a list of names
    fields = [
        "state", "integrator", "environment", "url", "enabled", "off_since", "failures", "failing_since",
        "paused_until", _LAST_SUCCESS,
    ]  # fmt: skip  # a table
    actions = ["send_test", "switch_on", "switch_off", "rotate_secret"]

    @admin.display(description=_("failures"), ordering="failures")
    def failure_count(self, endpoint: WebhookEndpoint) -> int | None:
        return endpoint.failures or None

    @admin.display(description=_("last success"), ordering="last_success_at")
    def last_success(self, endpoint: WebhookEndpoint) -> str:
        return ago_or_never(endpoint.last_success_at)

    @admin.display(description=_("status"))
    def state(self, endpoint: WebhookEndpoint) -> str:
        return endpoint_state(endpoint)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # each integrator is created with its endpoints

    def has_delete_permission(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> bool:
        return False

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
        if "url" in form.changed_data:
            endpoints.store_url(endpoint=obj, url=cast("Any", request).checked_url, by=by, at=at)
        if "enabled" in form.changed_data:
            endpoints.set_enabled(endpoint=obj, enabled=obj.enabled, by=by, at=at)

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

    @admin.action(description=_("Resume and send the events kept while it was off"), permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        self._switch(request, queryset, enabled=True)

    @admin.action(description=_("Pause and keep new events until it is resumed"), permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> None:
        self._switch(request, queryset, enabled=False)

    def _switch(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint], *, enabled: bool) -> None:
        for endpoint in queryset:
            endpoints.set_enabled(endpoint=endpoint, enabled=enabled, by=actor(request), at=clock.now())
            self.log_change(request, endpoint, _("Resumed.") if enabled else _("Paused."))

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

"""Where webhooks go, and what was sent."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.actions import endpoints
from delivery.admin.base import ReadOnlyInline, Unchangeable, actor
from delivery.errors import InvalidWebhookUrl
from delivery.models import WebhookAttempt, WebhookEndpoint, WebhookEvent
from delivery.webhooks import address_guard


class EndpointForm(forms.ModelForm[WebhookEndpoint]):
    class Meta:
        model = WebhookEndpoint
        fields = ["url", "enabled"]

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if url:
            try:
                address_guard.check_url(url, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
            except InvalidWebhookUrl as error:
                raise forms.ValidationError(str(error)) from error
        return url


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(admin.ModelAdmin[WebhookEndpoint]):
    form = EndpointForm
    list_display = ["integrator", "environment", "url", "enabled"]
    list_filter = ["environment", "enabled"]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name", "url"]
    fields = ["integrator", "environment", "url", "enabled"]
    readonly_fields = ["integrator", "environment"]
    actions = ["rotate_secret"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # they come with their integrator

    def has_delete_permission(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: WebhookEndpoint, form: Any, change: bool) -> None:
        if "url" in form.changed_data:
            endpoints.set_url(endpoint=obj, url=obj.url, by=actor(request))
        if "enabled" in form.changed_data:
            endpoints.set_enabled(endpoint=obj, enabled=obj.enabled, by=actor(request))

    @admin.action(description=_("Rotate the signing secret: the old one signs along for 24 hours"))
    def rotate_secret(self, request: HttpRequest, queryset: QuerySet[WebhookEndpoint]) -> HttpResponse:
        if not self.has_change_permission(request):
            return HttpResponse(status=403)
        rotated = []
        for endpoint in queryset.select_related("integrator"):
            secret = endpoints.rotate_secret(endpoint=endpoint, by=actor(request), at=timezone.now())
            self.log_change(request, endpoint, "Signing secret rotated.")
            rotated.append((endpoint, secret))
        context = {**self.admin_site.each_context(request), "title": _("New signing secret"), "rotated": rotated}
        return TemplateResponse(request, "admin/delivery/secret_rotated.html", context)


class AttemptInline(ReadOnlyInline):
    model = WebhookAttempt
    fields = ["number", "at", "status_code", "milliseconds", "error", "response_start"]


@admin.register(WebhookEvent)
class WebhookEventAdmin(Unchangeable, admin.ModelAdmin[WebhookEvent]):
    list_display = ["id", "name", "sequence", "delivery", "endpoint", "state", "attempts_made", "next_attempt_at"]
    list_filter = ["state", "name"]
    list_select_related = ["delivery", "endpoint__integrator"]
    search_fields = ["=delivery__stops__external_id"]
    show_full_result_count = False
    ordering = ["-id"]
    fields = [
        "id", "name", "sequence", "delivery", "endpoint", "state", "attempts_made", "next_attempt_at", "sent_at",
        "body",
    ]  # fmt: skip  # a list of names
    inlines = [AttemptInline]

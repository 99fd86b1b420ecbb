"""Webhook endpoints, events and attempts of area A in the admin."""

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from common.webhooks.admin import AttemptInline, EndpointAdmin, EndpointForm, EventAdmin
from delivery.models import Stop, WebhookAttempt, WebhookEndpoint, WebhookEvent, parse_id


class WebhookEndpointForm(EndpointForm):
    class Meta(EndpointForm.Meta):
        model = WebhookEndpoint


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(EndpointAdmin):
    form = WebhookEndpointForm
    nothing_yet = _("No webhook yet: each integrator has one for live and one for the sandbox.")


class WebhookAttemptInline(AttemptInline):
    model = WebhookAttempt


@admin.register(WebhookEvent)
class WebhookEventAdmin(EventAdmin):
    nothing_yet = _("No event yet. Each change of a delivery makes one.")
    search_fields = ["delivery__stops__external_id"]
    search_help_text = _("Event id, delivery id or external id, whole")
    inlines = [WebhookAttemptInline]

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

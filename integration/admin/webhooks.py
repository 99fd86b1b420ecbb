"""Webhook endpoints, events and attempts of area B in the admin."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from common.fields import parse_id
from common.webhooks.admin import AttemptInline, EndpointAdmin, EndpointForm, EventAdmin
from integration.models import SearchCode, WebhookAttempt, WebhookEndpoint, WebhookEvent


class WebhookEndpointForm(EndpointForm):
    class Meta(EndpointForm.Meta):
        model = WebhookEndpoint


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(EndpointAdmin):
    form = WebhookEndpointForm
    nothing_yet = _("No webhook yet: a seller has one from its first order on, or when a person opens its page.")


class WebhookAttemptInline(AttemptInline):
    model = WebhookAttempt


@admin.register(WebhookEvent)
class WebhookEventAdmin(EventAdmin):
    nothing_yet = _("No event yet. Each change of an order's status makes one.")
    search_fields = ["order__code"]
    search_help_text = _("Event id, orderId or tracking code, whole")
    inlines = [WebhookAttemptInline]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookEvent], search_term: str
    ) -> tuple[QuerySet[WebhookEvent], bool]:
        """Exact matches only, each by its index."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if key := parse_id(term):
            return queryset.filter(pk=key), False
        return queryset.filter(order__in=SearchCode.objects.of_all().named(term).values("order")), False

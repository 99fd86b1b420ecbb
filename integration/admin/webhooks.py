"""Webhook endpoints, events and attempts of area B in the admin."""

from django.contrib import admin
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.fields import parse_id
from common.webhooks.admin import EndpointAdmin, EventAdmin
from integration.models import SearchCode, WebhookEndpoint, WebhookEvent


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(EndpointAdmin):
    nothing_yet = _("No webhook yet: a seller has one from its first order on, or when a person opens its page.")


@admin.register(WebhookEvent)
class WebhookEventAdmin(EventAdmin):
    nothing_yet = _("No event yet. Each change of an order's status makes one.")
    search_fields = ["order__code"]
    search_help_text = _("Event id, orderId or tracking code, whole")

    def found_by(self, term: str) -> Q:
        key = parse_id(term)
        return Q(pk=key) if key else Q(order__in=SearchCode.objects.of_all().named(term).values("order"))

"""Webhook endpoints, events and attempts of area A in the admin."""

from django.contrib import admin
from django.db.models import Func, Q
from django.utils.translation import gettext_lazy as _

from common.webhooks.admin import EndpointAdmin, EventAdmin
from delivery.models import Stop, WebhookEndpoint, WebhookEvent, parse_id


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(EndpointAdmin):
    nothing_yet = _("No webhook yet: each account has one for live and one for the sandbox.")


@admin.register(WebhookEvent)
class WebhookEventAdmin(EventAdmin):
    nothing_yet = _("No event yet. Each change of a delivery makes one.")
    search_fields = ["delivery__stops__external_id"]
    search_help_text = _("Event id, delivery id or external id, whole")

    def found_by(self, term: str) -> Q | Func:
        key = parse_id(term)
        return Q(pk=key) | Q(delivery=key) if key else Stop.refers_to("delivery", external_id=term)

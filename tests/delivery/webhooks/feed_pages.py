"""Reading pages of the feed."""

from django.utils import timezone

from common.webhooks import feed
from delivery.actions import deliveries
from delivery.models import WebhookEndpoint
from tests.factories import BY, validated_payload


def endpoint_of(token):
    return WebhookEndpoint.objects.get(integrator=token.integrator, environment=token.environment)


def page(token, after=0, limit=100, at=None):
    return feed.read(endpoint=endpoint_of(token), after=after, limit=limit, at=at or timezone.now())


def request(token):
    return deliveries.request(token=token, payload=validated_payload(stops=1), by=BY, at=timezone.now())


def facts(events):
    return [(event.pk, event.delivery_id, event.sequence) for event in events]


def sequences(events):
    return [event.sequence for event in events]

"""Rows to measure with, written in bulk."""

import json
from collections.abc import Sequence

from django.db import connection
from django.utils import timezone

from common.fields import new_id
from delivery import bodies
from delivery.models import Delivery, Stop, Token, WebhookEndpoint, WebhookEvent
from tests.factories import DeliveryFactory, TokenFactory

_TABLES = (
    "delivery_webhookqueueitem, delivery_webhookattempt, delivery_webhookevent, delivery_webhookendpoint, "
    "delivery_token, delivery_integrator, integration_seller"
)


def empty() -> None:
    """Begin with nothing."""
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {_TABLES} CASCADE")


def accounts(count: int, *, url: str) -> list[Token]:
    """Integrators with a token each and their webhooks at `url`, switched on."""
    tokens = [TokenFactory.create() for _number in range(count)]
    WebhookEndpoint.objects.update(url=url)
    return tokens


def deliveries(tokens: Sequence[Token], *, each: int) -> list[Delivery]:
    """Deliveries of these accounts, all alike."""
    pattern = DeliveryFactory.create(token=tokens[0], stops=3)
    same = {field.attname: getattr(pattern, field.attname) for field in pattern._meta.concrete_fields}
    made = [
        Delivery(
            **{**same, "id": new_id(), "route_id": new_id(), "token_id": token.pk, "integrator_id": token.integrator_id}
        )
        for token in tokens
        for _number in range(each)
    ]
    pattern.events.all().delete()
    Delivery.objects.bulk_create(made, batch_size=2000)
    stops = [{f.attname: getattr(stop, f.attname) for f in stop._meta.concrete_fields} for stop in pattern.stops.all()]
    Stop.objects.bulk_create(
        [Stop(**{**stop, "id": None, "delivery_id": delivery.pk}) for delivery in made for stop in stops],
        batch_size=2000,
    )
    return made


def due_events(made: Sequence[Delivery], *, each: int) -> None:
    """So many events that wait for each delivery, the first of them due now."""
    body = json.dumps(bodies.event(Delivery.objects.with_parts().get(pk=made[0].pk)), separators=(",", ":"))
    endpoints = {(e.integrator_id, e.environment): e for e in WebhookEndpoint.objects.all()}
    now = timezone.now()
    WebhookEvent.objects.bulk_create(
        [
            WebhookEvent(
                delivery=delivery,
                endpoint=endpoints[delivery.integrator_id, delivery.environment],
                sequence=sequence,
                name=delivery.status,
                body=body,
                created_at=now,
            )
            for delivery in made
            for sequence in range(1, each + 1)
        ],
        batch_size=2000,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO delivery_webhookqueueitem"
            " (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)"
            " SELECT id, delivery_id, endpoint_id, TRUE, now(), 0, 0 FROM delivery_webhookevent WHERE sequence = 1"
        )
        cursor.execute("VACUUM ANALYZE")


def finished_events(delivery: Delivery, *, count: int) -> None:
    """Events long sent, each with its attempt."""
    endpoint = WebhookEndpoint.objects.get(integrator=delivery.integrator_id, environment=delivery.environment)
    body = json.dumps(bodies.TEST_EVENT)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO delivery_webhookevent"
            " (id, delivery_id, endpoint_id, sequence, name, body, created_at, state, attempts_made, sent_at)"
            " SELECT gen_random_uuid(), %s, %s, 1000 + n, 'PENDING', %s, now(), 'sent', 1, now()"
            " FROM generate_series(1, %s) n",
            [delivery.pk, endpoint.pk, body, count],
        )
        cursor.execute(
            "INSERT INTO delivery_webhookattempt"
            " (event_id, number, at, milliseconds, status_code, error, response_start)"
            " SELECT id, 1, sent_at, 12, 204, '', '' FROM delivery_webhookevent WHERE state = 'sent'"
        )
        cursor.execute("VACUUM ANALYZE")


def drop_finished_events() -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_webhookattempt")
        cursor.execute("DELETE FROM delivery_webhookevent WHERE state = 'sent'")
        cursor.execute("VACUUM FULL ANALYZE delivery_webhookevent")

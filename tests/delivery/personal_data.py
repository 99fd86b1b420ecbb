"""Deliveries with everything personal that can be stored of them, and what is stored."""

from dataclasses import replace

from django.db import connection
from django.utils import timezone

from delivery.actions import deliveries, forgetting
from delivery.models import (
    Delivery,
    StopProof,
    WebhookAttempt,
    WebhookEvent,
)
from delivery.payload import Options, Place
from delivery.receivers import actions as receivers
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, validated_payload

MARIA, JOAO, SHOP = "+55 11 97777-0001", "(21) 96666-0002", "+55 11 3333-0000"
TEXTS = (
    "Maria Souza",
    "97777-0001",
    "Rua Um",
    "portao azul",
    "maria@example.com",
    "Recebido por Maria",
    "Maria ausente",
)
ADDRESS = {
    "city": "São Paulo", "state": "SP", "street": "Rua Um", "number": "10", "zipcode": "01310200", "country": "BR",
}  # fmt: skip  # a table


def requested(*phones, token=None, name="Maria Souza", **values):
    """A delivery with a drop-off for each number."""
    options = Options(instructions="portao azul", email="maria@example.com")
    places = [
        Place(point, dict(ADDRESS), contact_name=name, contact_phone=phone, external_id="o-1", options=options)
        for point, phone in zip(DROPOFFS, phones, strict=False)
    ]
    payload = validated_payload(dropoffs=places)
    payload = replace(payload, pickup=Place(PICKUP, dict(ADDRESS), contact_name="Shop", contact_phone=SHOP))
    return DeliveryFactory.create(payload=payload, **({"token": token} if token else {}), **values)


def closed(*phones, at=None, token=None):
    """A delivery that has ended, with everything that a stop can have. No webhook of it waits."""
    at = at or timezone.now()
    delivery = requested(*phones, token=token, collected=True, at=at)
    receivers.addresses(delivery.ordered_stops, at=at)
    for stop in delivery.stops.all():
        StopProof.objects.create(stop=stop, received_by="Recebido por Maria")
        deliveries.fail(delivery=delivery, point=stop.label, reason="Maria ausente", by=BY, at=at)
    deliveries.return_(delivery=delivery, by=BY, at=at)
    event = WebhookEvent.objects.get(delivery=delivery, sequence=1)
    WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=1)
    WebhookAttempt.objects.create(event=event, number=1, at=at, milliseconds=1, response_start="Maria Souza: ok")
    return Delivery.objects.get(pk=delivery.pk)


def forget_driver(phone, *, at=None):
    """Anonymise the drivers with this number, in as many batches as it takes. Returns how many there were."""
    count, after = forgetting.forget_batch_of(phone, after=None, at=at or timezone.now())
    while after is not None:
        more, after = forgetting.forget_batch_of(phone, after=after, at=at or timezone.now())
        count += more
    return count


def everything(*, without=()):
    """All rows of all tables that hold deliveries, as text, but those of the given deliveries."""
    tables = {
        "delivery_delivery": "id", "delivery_stop": "delivery_id", "delivery_transition": "delivery_id",
        "delivery_webhookevent": "delivery_id", "delivery_driver": "NULL::uuid",
    }  # fmt: skip  # a table
    rows = {}
    with connection.cursor() as cursor:
        for table, column in tables.items():
            cursor.execute(
                f"SELECT t::text FROM {table} t WHERE coalesce({column} <> ALL(%s::uuid[]), TRUE) ORDER BY 1",  # noqa: S608
                [[delivery.pk for delivery in without]],
            )
            rows[table] = cursor.fetchall()
        cursor.execute("SELECT o::text FROM delivery_dropoffoptions o JOIN delivery_stop s ON s.id = o.stop_id"
                       " WHERE s.delivery_id <> ALL(%s::uuid[]) ORDER BY 1", [[d.pk for d in without]])  # fmt: skip
        rows["options"] = cursor.fetchall()
    return rows


def texts_of(delivery):
    """Everything that is stored of a delivery, as one text."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT d::text FROM delivery_delivery d WHERE id = %(id)s
               UNION ALL SELECT s::text FROM delivery_stop s WHERE delivery_id = %(id)s
               UNION ALL SELECT o::text FROM delivery_dropoffoptions o JOIN delivery_stop s ON s.id = o.stop_id
                   WHERE s.delivery_id = %(id)s
               UNION ALL SELECT p::text FROM delivery_stopproof p JOIN delivery_stop s ON s.id = p.stop_id
                   WHERE s.delivery_id = %(id)s
               UNION ALL SELECT t::text FROM delivery_transition t WHERE delivery_id = %(id)s
               UNION ALL SELECT e::text FROM delivery_webhookevent e WHERE delivery_id = %(id)s
               UNION ALL SELECT a::text FROM delivery_webhookattempt a JOIN delivery_webhookevent e ON e.id = a.event_id
                   WHERE e.delivery_id = %(id)s""",
            {"id": delivery.pk},
        )
        return "\n".join(text for (text,) in cursor.fetchall())

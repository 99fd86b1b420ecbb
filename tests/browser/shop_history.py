"""A shop's morning: deliveries of every status at real addresses, minutes apart, with webhooks sent and refused."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from django.utils import timezone

from common.webhooks import claims, endpoints
from common.webhooks.http_client import Request, Result
from common.webhooks.sender import build_requests
from common.webhooks.settlement import settle
from delivery.actions import deliveries, drivers, proofs
from delivery.geo.distance import Point
from delivery.lifecycle import OnFailure
from delivery.models import Delivery, Token, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.payload import DeliveryRequest, Options, Place
from delivery.simulation_steps import DRIVER_NAME
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, validated_payload
from tests.photos import photo

URL = "http://127.0.0.1:9/rota"
CITY = {"city": "São Paulo", "state": "SP", "country": "BR"}
SHOP = Place(
    point=PICKUP,
    address={**CITY, "street": "Avenida Paulista", "number": "1578", "district": "Bela Vista", "zipcode": "01310200"},
    contact_name="Padaria Sol",
    contact_phone="+551133330000",
)
_RECEIVERS = """\
order,name,phone,street,number,complement,district,zipcode,latitude,longitude
10421,Maria Souza,+5511977770001,Rua Augusta,900,Apto 42,Consolação,01304001,-23.5531,-46.6529
10422,João Pereira,+5511977770002,Rua Oscar Freire,379,,Cerqueira César,01426001,-23.5629,-46.6689
10423,Beatriz Nakamura,+5511977770003,Rua Vergueiro,3185,"Bloco B, apto 71",Vila Mariana,04101300,-23.5850,-46.6400
10424,Carlos Lima,+5511977770004,Rua da Consolação,2302,Apto 11,Consolação,01302001,-23.5540,-46.6610
10425,Larissa Alves,+5511977770005,Alameda Santos,1165,Conjunto 1203,Jardim Paulista,01419002,-23.5660,-46.6530
10426,Pedro Ramos,+5511977770006,Rua Haddock Lobo,595,,Cerqueira César,01414001,-23.5570,-46.6620
10427,Sofia Martins,+5511977770007,Rua Pamplona,818,Casa 3,Jardim Paulista,01405001,-23.5655,-46.6560
10428,Rafael Costa,+5511977770008,Rua Bela Cintra,1149,Apto 82,Consolação,01415001,-23.5580,-46.6640
"""
# Of the receiver of the second order.
_ASKED = Options(instructions="Portão azul.\nTocar duas vezes.", needs_photo=True, has_pin=True)
_ADDRESS = ("street", "number", "complement", "district", "zipcode")


def stops(*orders: int) -> list[Place]:
    """Drop-offs, by their places in the table of receivers."""
    rows = list(csv.DictReader(_RECEIVERS.splitlines()))
    return [_stop(rows[order]) for order in orders]


def _stop(row: dict[str, str]) -> Place:
    return Place(
        point=Point(float(row["latitude"]), float(row["longitude"])),
        address={**CITY, **{name: row[name] for name in _ADDRESS if row[name]}},
        contact_name=row["name"],
        contact_phone=row["phone"],
        external_id=row["order"],
        options=_ASKED if row["order"] == "10422" else Options(),
    )


def payload(*orders: int) -> DeliveryRequest:
    """A request of the shop for these receivers."""
    return validated_payload(pickup=SHOP, dropoffs=stops(*orders))


def request(token: Token, *orders: int, at: datetime) -> Delivery:
    """A delivery from the shop to these receivers."""
    return DeliveryFactory.create(token=token, payload=payload(*orders), at=at)


def tried(token: Token) -> Delivery:
    """A delivery whose first drop-off failed, and is tried again after the other one."""
    now = timezone.now()
    first, second = stops(0, 1)
    retry = replace(first, options=Options(on_failure=OnFailure.RETRY))
    asked = validated_payload(pickup=SHOP, dropoffs=[retry, second])
    delivery = DeliveryFactory.create(token=token, payload=asked, collected=True, at=now - timedelta(minutes=20))
    return deliveries.fail(
        delivery=delivery, point="B", code="ABSENT", reason="Rang twice", by=BY, at=now - timedelta(minutes=6)
    )


def collected(token: Token) -> Delivery:
    """A delivery of the sandbox that is on its way with the simulated driver."""
    now = timezone.now()
    driver = DriverFactory.create(name=DRIVER_NAME, phone="", environment=token.environment)
    delivery = request(token, 0, 1, 2, at=now - timedelta(minutes=14))
    deliveries.accept(delivery=delivery, driver=driver, by=BY, at=now - timedelta(minutes=11))
    drivers.set_position(driver=driver, point=Point(-23.5575, -46.6535), by=BY, at=now - timedelta(seconds=8))
    return deliveries.collect(delivery=delivery, by=BY, at=now - timedelta(minutes=6))


def create(token: Token, endpoint: WebhookEndpoint) -> Delivery:
    """The deliveries of a morning. From nine minutes ago on, the endpoint answers 503. Nothing may be sent meanwhile.

    Returns a delivery on its way of which one of three orders was not delivered.
    """
    now = timezone.now()
    endpoints.set_url(endpoint=endpoint, url=URL, by=BY, at=now - timedelta(days=3))
    chosen = None
    for minutes, moved in _moves(token, now):
        chosen = moved or chosen
        send(at=now - timedelta(minutes=minutes) + timedelta(seconds=1), status=204 if minutes > 9 else 503)
    dead = WebhookEvent.objects.filter(state="sent").latest("created_at")
    dead.attempts.update(status_code=400, response_start='{"error": "unknown order"}')
    WebhookQueueItem.objects.filter(event=dead).delete()
    WebhookEvent.objects.filter(pk=dead.pk).update(state="dead", sent_at=None)
    assert chosen is not None
    return chosen


def _moves(token: Token, now: datetime) -> Iterator[tuple[int, Delivery | None]]:
    """What happened, with how many minutes ago."""

    def ago(minutes: int) -> datetime:
        return now - timedelta(minutes=minutes)

    ana, bruno, caio = (DriverFactory.create(name=name) for name in ("Ana Lima", "Bruno Reis", "Caio Dias"))
    done = request(token, 7, at=ago(95))
    yield 95, None
    deliveries.accept(delivery=done, driver=ana, by=BY, at=ago(91))
    yield 91, None
    deliveries.collect(delivery=done, by=BY, at=ago(84))
    yield 84, None
    deliveries.deliver(delivery=done, point="B", by=BY, at=ago(69))
    yield 69, None
    cancelled = request(token, 6, at=ago(66))
    yield 66, None
    deliveries.cancel(delivery=cancelled, reason="Cliente desistiu", by=BY, at=ago(63))
    yield 63, None
    three = request(token, 0, 1, 2, at=ago(52))
    yield 52, None
    deliveries.accept(delivery=three, driver=bruno, by=BY, at=ago(48))
    yield 48, None
    deliveries.collect(delivery=three, by=BY, at=ago(37))
    yield 37, None
    proofs.add(
        driver=bruno, upload=uuid4(), delivery=three.pk, point="B", content=photo(size=(640, 480)),
        taken_at=ago(21), at=ago(21),
    )  # fmt: skip
    deliveries.fail(delivery=three, point="B", reason="Ninguém no endereço", by=BY, at=ago(21))
    yield 21, three
    two = request(token, 3, 4, at=ago(17))
    yield 17, None
    deliveries.accept(delivery=two, driver=caio, by=BY, at=ago(12))
    yield 12, None
    deliveries.collect(delivery=two, by=BY, at=ago(7))
    yield 7, None
    request(token, 5, at=ago(4))
    yield 4, None
    for driver, point in ((bruno, (-23.56, -46.665)), (caio, (-23.5585, -46.659)), (ana, (-23.569, -46.648))):
        drivers.set_position(driver=driver, point=Point(*point), by=BY, at=now - timedelta(seconds=20))


def send(*, at: datetime, status: int) -> None:
    """Every event that is due at this moment is sent, and answered with this status."""
    while items := claims.claim(OUTBOX, lease=uuid4(), at=at, limit=100):
        outcomes = []
        for number, (item, request) in enumerate(build_requests(OUTBOX, items, at=at)):
            text = "" if status < 300 else "Service Unavailable"  # the class 2xx
            took = 41 + 13 * number + at.minute
            assert isinstance(request, Request)
            result = Result(status_code=status, response_start=text, milliseconds=took, at=at, request=request.stored)
            outcomes.append((item, result))
        settle(OUTBOX, outcomes, at=at + timedelta(milliseconds=300))

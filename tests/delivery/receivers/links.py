"""Links of receivers, and what their pages say."""

import html
import re
from typing import Any

from django.utils import timezone

from delivery.geo.distance import Point
from delivery.models import Delivery, Driver, Stop
from delivery.payload import Options, Place
from delivery.receivers import actions as receivers
from tests.factories import DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, validated_payload

# Neither of them may be seen by the others. Each has an address, contacts and an id of its own.
RECEIVERS = ("Maria Silva", "João Prado", "Lia Costa")
STREETS = ("Rua Augusta", "Rua Tupi", "Rua Bahia")


def places(*options: Options) -> list[Place]:
    return [
        Place(
            point=Point(*DROPOFFS[number]),
            address={"street": STREETS[number], "number": f"{number}55", "district": f"Bairro {number}"},
            contact_name=RECEIVERS[number],
            contact_phone=f"+55 11 97777-000{number}",
            external_id=f"PEDIDO-{number}",
            options=each,
        )
        for number, each in enumerate(options)
    ]


def delivery(*options: Options, **values: Any) -> Delivery:
    """A delivery of the shop Padaria Sol with a drop-off for each of the options, and a driver with a position."""
    pickup = Place(
        point=PICKUP, address={"street": "Rua da Loja"}, contact_name="Padaria Sol", contact_phone="1133330000"
    )
    payload = validated_payload(pickup=pickup, dropoffs=places(*(options or (Options(),))))
    values = {"driver": DriverFactory.create(name="Ana Souza Lima", at_point=PICKUP)} | values
    made: Delivery = DeliveryFactory.create(payload=payload, **values)
    return made


def path_of(found: Delivery, index: int = 0) -> str:
    """The path of the page of the stop with this index."""
    stop = Stop.objects.get(delivery=found, index=index)
    return "/" + receivers.addresses([stop], at=timezone.now())[stop.pk].split("/", 3)[3]


def text_of(response: Any) -> str:
    """What people read, without markup, in one line."""
    content = re.sub(r"<(script|head).*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", content)).split())


def driver_of(found: Delivery) -> Driver:
    driver = Delivery.objects.select_related("driver").get(pk=found.pk).driver
    assert driver is not None
    return driver

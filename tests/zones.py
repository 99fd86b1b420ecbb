"""Places whose clocks do not show the time of Brasília, at 12:00 there (UTC-3) of tomorrow."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from delivery.geo.distance import Point
from delivery.models import Delivery
from delivery.payload import Place
from delivery.windows import Window
from tests.factories import DeliveryFactory, PickupPointFactory, TokenFactory, validated_payload

NOON = (datetime.now(UTC) + timedelta(days=1)).replace(hour=15, minute=0, second=0, microsecond=0)


class City(NamedTuple):
    """`time`: what its clocks show at NOON. `postcode`: one of it."""

    name: str
    point: Point
    state: str
    postcode: str
    time: str
    zone: ZoneInfo


MANAUS = City("Manaus", Point(-3.119, -60.0217), "AM", "69005-010", "11:00", ZoneInfo("America/Manaus"))
RIO_BRANCO = City("Rio Branco", Point(-9.9754, -67.8249), "AC", "69900-062", "10:00", ZoneInfo("America/Rio_Branco"))
NORONHA = City("Fernando de Noronha", Point(-3.8403, -32.4106), "PE", "53990-000", "13:00", ZoneInfo("America/Noronha"))


AT_NOON = Window(ready_at=NOON)


def delivery_in(
    city: City, *, pickup: Window = AT_NOON, dropoff: Window = AT_NOON, token: Any = None, **values: Any
) -> Delivery:
    """A delivery from a shop, that of the token or a new one, to a receiver in the city, with these windows."""
    token = token or TokenFactory.create()
    place = {"latitude": city.point.latitude, "longitude": city.point.longitude}
    PickupPointFactory.create(integrator=token.integrator, name=city.name, **place)
    shop = Place(point=city.point, address={}, contact_name="Shop", contact_phone="1133330000", window=pickup)
    payload = validated_payload(pickup=shop, dropoffs=[Place(point=city.point, address={}, window=dropoff)])
    delivery: Delivery = DeliveryFactory.create(payload=payload, token=token, **values)
    return delivery


IN_EACH_ZONE = pytest.mark.parametrize("city", [MANAUS, RIO_BRANCO, NORONHA], ids=lambda city: city.name)

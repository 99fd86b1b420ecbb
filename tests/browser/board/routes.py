"""Routes in every state on the dispatch board, and the clock of its page."""

from dataclasses import replace
from datetime import timedelta

from django.utils import timezone

from delivery.actions import deliveries, drivers
from delivery.geo.distance import Point
from delivery.models import VehicleType
from tests.browser import shop_history
from tests.factories import BY, DeliveryFactory, DriverFactory, TariffFactory, TokenFactory, validated_payload

LONG_NAME = "Farmácia São Judas Tadeu da Vila Mariana e Jardim Paulista 24 h"
PHARMACY = replace(
    shop_history.SHOP,
    point=Point(-23.57050, -46.64000),
    address={**shop_history.CITY, "street": "Rua Vergueiro", "number": "1000", "district": "Paraíso"},
    contact_name=LONG_NAME,
)
# What has happened on each route: minutes since its request, moves, and how many stops it has. Repeated for more.
ROUTES = [
    (2, "", 3), (27, "accept", 2), (31, "accept collect", 3), (12, "", 1), (38, "accept collect fail", 2),
    (9, "accept", 3), (6, "", 2), (44, "accept collect deliver", 3), (16, "accept", 1), (23, "accept collect", 2),
    (1, "", 1), (35, "accept collect cancel", 2),
]  # fmt: skip  # a table
ARGUMENTS = {
    "deliver": {"point": "B"},
    "fail": {"point": "B", "reason": "Ninguém no endereço"},
    "cancel": {"reason": "Pedido em duplicidade"},
}


def fill_board(token, count):
    """So many routes, of `token`'s shop and of one with a long name, and two free drivers. Returns the deliveries."""
    pharmacy = TokenFactory.create(integrator__name=LONG_NAME, integrator__allow_any_pickup=True)
    TariffFactory.create(vehicle_type=VehicleType.CAR)
    made = [_route([(token, shop_history.SHOP), (pharmacy, PHARMACY)][number % 2], number) for number in range(count)]
    for place in (Point(-23.5578, -46.6716), Point(-23.5512, -46.6447)):
        DriverFactory.create(at_point=place)
    return made


def _route(shop, number):
    token, pickup = shop
    minutes, moves, stops = ROUTES[number % len(ROUTES)]
    now = timezone.now()
    at = now - timedelta(minutes=minutes, seconds=7 * number % 60)
    dropoffs = shop_history.stops(*((3 * number + index) % 8 for index in range(stops)))
    vehicle = VehicleType.CAR if number % 5 == 4 else VehicleType.MOTORCYCLE
    payload = validated_payload(pickup=pickup, dropoffs=dropoffs, vehicle_type=vehicle)
    delivery = DeliveryFactory.create(token=token, payload=payload, at=at)
    for index, move in enumerate(moves.split(), start=1):
        arguments = ARGUMENTS.get(move, {})
        if move == "accept":
            arguments = {"driver": DriverFactory.create(vehicle_type=vehicle)}
        moved_at = at + index * timedelta(minutes=minutes) / 5
        delivery = getattr(deliveries, move)(delivery=delivery, by=BY, at=moved_at, **arguments)
    if delivery.driver is not None:
        halfway = Point(*((one + other) / 2 for one, other in zip(pickup.point, dropoffs[0].point, strict=True)))
        seen = now - timedelta(seconds=4 + 9 * (number % 12))
        drivers.set_position(driver=delivery.driver, point=halfway, by=BY, at=seen)
    return delivery


def pause(page):
    """Stop the page's clock."""
    page.clock.pause_at(timezone.now() + timedelta(seconds=5))


def wait_for_hold(page):
    """The end of the seconds in which a move can be undone."""
    page.clock.fast_forward(6_000)

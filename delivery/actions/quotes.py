"""The price of a delivery, for quotes and requests alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.conf import settings

from delivery import pricing
from delivery.actions import quote_ids
from delivery.errors import PickupNotLinked, PriceUnavailable
from delivery.geo import routing, routing_engines
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from delivery.models import Integrator, PickupPoint, Tariff, Token
from delivery.models.pickup_point import LARGEST_RADIUS_M, is_within_one
from delivery.payload import DeliveryRequest
from delivery.pricing import Quote


def quote(*, integrator: Integrator, payload: DeliveryRequest) -> tuple[Quote, bool]:
    """Price of a delivery, and whether the account may request deliveries from its pickup.

    Raises PriceUnavailable without an active tariff, or over its maximum distance or weight.
    """
    pickup = payload.pickup.point
    tariff = Tariff.in_force(vehicle_type=payload.vehicle_type, integrator=integrator, pickup=pickup)
    if tariff is None:
        raise _no_tariff(payload)
    return _price(tariff, payload), integrator.allow_any_pickup or is_within_one(pickup, tariff.circles)


def quote_for_request(*, token: Token, payload: DeliveryRequest, quote_id: str | None, at: datetime) -> Quote:
    """The price at which a delivery is requested: that of `quote_id`, or today's when None.

    Raises PickupNotLinked, PriceUnavailable, QuoteExpired or QuoteMismatch.
    """
    integrator, pickup = token.integrator, payload.pickup.point
    tariff = None
    if quote_id is None:
        tariff = Tariff.in_force(vehicle_type=payload.vehicle_type, integrator=integrator, pickup=pickup)
    is_linked = integrator.allow_any_pickup or (
        is_within_one(pickup, tariff.circles) if tariff else PickupPoint.covers(pickup, integrator=integrator)
    )
    if not is_linked:
        raise _not_linked(integrator, pickup)
    if quote_id is not None:
        return quote_ids.redeem(quote_id, token=token, payload=payload, at=at)
    if tariff is None:
        raise _no_tariff(payload)
    return _price(tariff, payload)


@dataclass(frozen=True)
class Explanation:
    """Why a delivery costs what it costs. `tariff` is the account's own, or everybody's."""

    tariff: Tariff
    trip: pricing.Trip
    fare: pricing.Fare


def explain(*, vehicle_type: str, integrator: Integrator | None, trip: pricing.Trip) -> Explanation:
    """The parts of the price of a trip, by the functions that price quotes, for an account or for everybody.

    Raises PriceUnavailable without an active tariff or over one of its maximums.
    """
    tariff = Tariff.objects.for_vehicle(vehicle_type, integrator=integrator and integrator.pk).first()
    if tariff is None:
        raise PriceUnavailable(f"No active tariff for {vehicle_type}.")
    return Explanation(tariff, trip, pricing.fare(tariff.terms, trip))


def trip_between(points: Sequence[Point], *, vehicle_type: str, returning: bool, weight_kg: Decimal) -> pricing.Trip:
    """The trip from the first point over all the others, and back to it if `returning`."""
    outbound, back = _legs(points, vehicle_type, returning=returning)
    return pricing.Trip(outbound_km=outbound, return_km=back, dropoffs=len(points) - 1, weight_kg=weight_kg)


def _no_tariff(payload: DeliveryRequest) -> PriceUnavailable:
    return PriceUnavailable(f"No active tariff for {payload.vehicle_type}.")


def _price(tariff: Tariff, payload: DeliveryRequest) -> Quote:
    trip = _trip(payload)
    return Quote(
        value=pricing.price(tariff.terms, trip),
        distance_km=trip.total_km,
        cancel_percent_accepted=tariff.cancel_percent_accepted,
        cancel_percent_collected=tariff.cancel_percent_collected,
    )


def _not_linked(integrator: Integrator, point: Point) -> PickupNotLinked:
    active = integrator.pickup_points.active()
    nearest = active.nearest(point)
    if nearest is None:
        return PickupNotLinked(
            "None of the account's %(count)s active pickup points lies within %(km)s km of pickup.address. The panel "
            "lists them on the account's page.",
            count=active.count(),
            km=LARGEST_RADIUS_M // 1000,
        )
    pickup, metres = nearest
    return PickupNotLinked(
        "pickup.address lies %(metres)s m from the nearest active pickup point, '%(name)s', which accepts at most "
        "%(radius)s m. The panel lists all of them on the account's page.",
        metres=round(metres),
        name=pickup.name,
        radius=pickup.radius_m,
    )


def _trip(payload: DeliveryRequest) -> pricing.Trip:
    points = [payload.pickup.point, *(dropoff.point for dropoff in payload.dropoffs)]
    outbound, back = _legs(points, payload.vehicle_type, returning=payload.mode is Mode.RETURN)
    return pricing.Trip(
        outbound_km=outbound,
        return_km=back,
        dropoffs=len(payload.dropoffs),
        weight_kg=payload.weight_kg,
        longest_side_cm=payload.longest_side_cm,
        litres=payload.litres,
    )


def _legs(points: Sequence[Point], vehicle: str, *, returning: bool) -> tuple[Decimal, Decimal]:
    """Kilometres from the first point to the last, and back to the first, 0 without a return."""
    engine = routing_engines.engine(settings.ROUTING_ENGINE, url=settings.ROUTING_URL, vehicle=vehicle)
    legs_of = routing.provider(engine, road_factor=settings.ROAD_FACTOR)
    legs = legs_of([*points, points[0]] if returning else list(points))
    count = len(points) - 1
    return sum(legs[:count], Decimal(0)), sum(legs[count:], Decimal(0))

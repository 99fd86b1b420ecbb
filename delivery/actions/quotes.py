"""The price of a delivery, for quotes and requests alike.

A Quote-Id is a signed text that holds a price and the trip it is for, so that quoting writes nothing.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.signing import BadSignature, Signer

from delivery import pricing
from delivery.actions import served
from delivery.errors import PickupNotLinked, PriceUnavailable, QuoteExpired, QuoteMismatch
from delivery.geo import arrivals, routing
from delivery.geo.arrivals import Service
from delivery.geo.distance import Point
from delivery.geo.routing import Leg
from delivery.hours import actions as service_hours
from delivery.lifecycle import Mode
from delivery.models import DispatchRules, Integrator, PickupPoint, Requester, Tariff
from delivery.models.integrator import LARGEST_RADIUS_M, is_within_one
from delivery.payload import DeliveryRequest
from delivery.pricing import Quote

LIFETIME = timedelta(minutes=10)
_LONGEST = 1000  # characters; an id has about 250
_MEASURES = ("height", "width", "length", "weight", "quantity")
# The mean distance of the points of a circle from its centre, as a share of the radius.
_MEAN_SHARE = 2 / 3
# Another salt for each form of the ids, so that those of another version are refused and not misread.
_signer = Signer(salt="delivery.quote.3")


def quote(*, token: Requester, payload: DeliveryRequest, at: datetime) -> tuple[Quote, bool]:
    """Price of a delivery, and whether the account may request deliveries from its pickup.

    Raises OutsideServiceArea, Closed, and PriceUnavailable without an active tariff, or over its maximum distance or
    weight.
    """
    served.check(payload.places)
    service_hours.check(token=token, payload=payload, at=at)
    integrator, pickup = token.integrator, payload.pickup.point
    tariff = Tariff.in_force(vehicle_type=payload.vehicle_type, token=token, pickup=pickup, start=payload.points[0])
    price = _price(tariff, payload)
    is_linked = integrator.allow_any_pickup or (tariff is not None and is_within_one(pickup, tariff.circles))
    return price, is_linked


def quote_for_request(*, token: Requester, payload: DeliveryRequest, quote_id: str | None, at: datetime) -> Quote:
    """The price at which a delivery is requested: that of `quote_id`, or today's when None.

    Raises OutsideServiceArea, Closed, PickupNotLinked, PriceUnavailable, QuoteExpired or QuoteMismatch.
    """
    served.check(payload.places)
    service_hours.check(token=token, payload=payload, at=at)
    integrator, pickup = token.integrator, payload.pickup.point
    tariff = None
    if quote_id is None:
        tariff = Tariff.in_force(vehicle_type=payload.vehicle_type, token=token, pickup=pickup, start=payload.points[0])
    is_linked = integrator.allow_any_pickup or (
        is_within_one(pickup, tariff.circles) if tariff else PickupPoint.covers(pickup, integrator=integrator)
    )
    if not is_linked:
        raise _not_linked(integrator, pickup)
    if quote_id is not None:
        return redeem(quote_id, token=token, payload=payload, at=at)
    return _price(tariff, payload)


def _legs(points: Sequence[Point], *, vehicle_type: str, returning: bool) -> list[Leg]:
    rules = DispatchRules.current()
    return routing.legs(
        [*points, points[0]] if returning else points,
        engine=routing.engine(settings.ROUTING_ENGINE, url=settings.ROUTING_URL, vehicle=vehicle_type),
        time_factor=rules.routing_time_factor[vehicle_type],
        road_factor=rules.road_factor,
        kmh=rules.speed_kmh[vehicle_type],
    )


def _price(tariff: Tariff | None, payload: DeliveryRequest) -> Quote:
    if tariff is None:
        raise PriceUnavailable("No active tariff for %(vehicle)s.", vehicle=payload.vehicle_type)
    dropoffs = len(payload.dropoffs)
    legs = _legs(payload.points, vehicle_type=payload.vehicle_type, returning=payload.mode is Mode.RETURN)
    lengths = [leg.kilometres for leg in legs]
    trip = pricing.Trip(
        outbound_km=sum(lengths[:dropoffs], Decimal(0)),
        return_km=sum(lengths[dropoffs:], Decimal(0)),
        dropoffs=dropoffs,
        weight_kg=payload.weight_kg,
        longest_side_cm=payload.longest_side_cm,
        litres=payload.litres,
    )
    return Quote(
        value=pricing.fare(tariff.terms, trip).value,
        distance_km=trip.total_km,
        cancel_percent_accepted=tariff.cancel_percent_accepted,
        cancel_percent_collected=tariff.cancel_percent_collected,
        retry_percent=tariff.retry_percent,
        return_percent=tariff.return_percent,
        seconds_until=_seconds_until(legs[:dropoffs], vehicle_type=payload.vehicle_type, driver_m=tariff.driver_m),
    )


def _seconds_until(outbound: Sequence[Leg], *, vehicle_type: str, driver_m: float | None) -> tuple[int, ...]:
    """When each of `DeliveryRequest.points` is reached, as `actions.arrivals` computes it for a driver setting out now.

    `driver_m`: metres from the nearest driver to the first one. None: of a driver somewhere within the dispatch radius,
    on average.
    """
    rules, to_pickup = DispatchRules.current(), leg_to_pickup(vehicle_type=vehicle_type, driver_m=driver_m)
    service = Service(pickup=rules.service_minutes_pickup, stop=rules.service_minutes_stop)
    waits = arrivals.waits(service, stops=len(outbound), is_collected=False)
    return tuple(map(round, arrivals.seconds_until([leg.seconds for leg in (to_pickup, *outbound)], waits)))


def leg_to_pickup(*, vehicle_type: str, driver_m: float | None) -> Leg:
    """The way to A of a driver who is `driver_m` metres from there. None: of one whose distance is not known."""
    rules = DispatchRules.current()
    away_m = rules.dispatch_radius_m * _MEAN_SHARE if driver_m is None else driver_m
    return routing.by_road(away_m, road_factor=rules.road_factor, kmh=rules.speed_kmh[vehicle_type])


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


def issue(quote: Quote, *, token: Requester, payload: DeliveryRequest, at: datetime) -> str:
    """The id of a quote made now. It is valid for LIFETIME, for the account and environment of the token."""
    figures = (
        quote.value, quote.distance_km, quote.cancel_percent_accepted, quote.cancel_percent_collected,
        quote.retry_percent, quote.return_percent,
    )  # fmt: skip  # in the order of Quote
    expires = (at + LIFETIME).timestamp()
    return _signer.sign_object([*_subject(token, payload), expires, quote.seconds_until, *map(str, figures)])


def redeem(quote_id: str, *, token: Requester, payload: DeliveryRequest, at: datetime) -> Quote:
    """The quote that was issued under this id. Raises QuoteExpired or QuoteMismatch."""
    try:
        account, trip, expires, seconds_until, *figures = _signer.unsign_object(quote_id[:_LONGEST])
    except BadSignature as error:
        raise QuoteMismatch("The header Quote-Id is not one that quotation-delivery has answered with.") from error
    own_account, own_trip = _subject(token, payload)
    if account != own_account:
        raise QuoteMismatch("The Quote-Id was issued to another account, or in the other environment.")
    if trip != own_trip:
        raise QuoteMismatch(
            "The Quote-Id is for other points, windows, packages, vehicleType or deliveryMode than this request. Quote "
            "it first."
        )
    if at.timestamp() >= expires:
        raise QuoteExpired("A quote is valid for 10 minutes. Quote again, and request with the new Quote-Id.")
    value, distance_km, accepted, collected, retry, way_back = map(Decimal, figures)
    return Quote(value, distance_km, accepted, collected, retry, way_back, tuple(seconds_until))


def _subject(token: Requester, payload: DeliveryRequest) -> tuple[str, str]:
    """What a quote is for: the account with its environment, and a digest of the trip."""
    trip: list[Any] = [
        payload.vehicle_type,
        payload.mode,
        [(point.latitude, point.longitude) for point in payload.points],
        [[item.get(measure) for measure in _MEASURES] for item in payload.packages],
        [str(moment) for window in payload.windows for moment in (window.ready_at, window.deadline_at)],
    ]
    digest = hashlib.sha256(json.dumps(trip).encode()).hexdigest()[:32]
    return f"{token.integrator_id.hex}/{token.environment}", digest

"""The demo goes on while `make run` runs: its invented drivers ride and deliver, and new deliveries are requested.

Moved are only deliveries that the demo has requested, by drivers of the demo who are on duty and have no phone of their
own. People can move the same routes: each step begins with what is in the database. Nothing goes on while the
account is suspended, or while somebody would be sent events of invented deliveries or alerts about them.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef

from common.accounts import Environment
from common.mail import outbox
from delivery import looks, page_updates
from delivery.actions import drivers, moves
from delivery.alerts.models import AlertChoice, EndpointAlerts
from delivery.errors import DeliveryError
from delivery.geo.distance import Point, metres
from delivery.lifecycle import HELD, IN_PROGRESS, RouteStatus
from delivery.models import Delivery, Driver, DriverDevice, Integrator, Transition
from delivery.models.delivery import DeliveryQuerySet
from dev.demo import data, day

# Seconds between two steps: while a page is open that shows the drivers, and else.
WATCHED, UNWATCHED = 5, 30
# Nothing is written any more so long after the last such page was open, or after the start, until one is opened.
RESTS_AFTER = timedelta(hours=2)
_METRES_PER_SECOND = 7
_AT_A_PLACE = timedelta(minutes=1)
_STANDING = timedelta(minutes=1)  # between two positions of a driver without a route
_BETWEEN_REQUESTS = timedelta(seconds=75)
_MOST_OPEN, _MOST_HELD = 14, 8
# What happens to a delivery is told by its id, so that it is the same after a new start.
_WAITS = [timedelta(minutes=minutes) for minutes in (1, 2, 3, 4, 5, 6, 8, 11)]  # for a driver
_ONE_IN_FAILS = 12
_NEXT = {RouteStatus.ACCEPTED: "collect", RouteStatus.COLLECTED: "deliver", RouteStatus.RETURNING: "return"}

_OF_DEMO = Exists(Transition.objects.filter(delivery=OuterRef("pk"), trigger="request", by=day.BY))


@dataclass(frozen=True)
class _Leg:
    """The way of a driver to the next place, in a straight line, and a while there. `to`: its label."""

    status: str
    to: str
    start: Point
    end: Point
    began: datetime

    @property
    def ride(self) -> timedelta:
        return timedelta(seconds=1 + metres(self.start, self.end) / _METRES_PER_SECOND)

    @property
    def ends(self) -> datetime:
        return self.began + self.ride + _AT_A_PLACE

    def place(self, at: datetime) -> Point:
        done = min((at - self.began) / self.ride, 1.0)
        return Point(*(start + (end - start) * done for start, end in zip(self.start, self.end, strict=True)))


class Life:
    """What goes on from `at` on."""

    def __init__(self, *, at: datetime) -> None:
        self._looked_at = at
        self._legs: dict[Any, _Leg] = {}  # by delivery

    def step(self, *, at: datetime) -> int:
        """Move everything to where it is at `at`. Returns after how many seconds the next step follows."""
        # An account of people may have the same name.
        seeded = Integrator.objects.filter(name=data.SHOP, tokens__created_by=data.BY)
        shop = seeded.filter(suspended_at=None).order_by("pk").first()
        if shop is None or _tells_somebody(shop):
            return UNWATCHED
        team = _team(at)
        pages = [page_updates.board(Environment.LIVE), page_updates.account(shop.pk, Environment.LIVE)]
        is_watched = bool(looks.watched({driver.pk: pages for driver in team}))
        if is_watched:
            self._looked_at = at
        if at - self._looked_at <= RESTS_AFTER:
            self._ride(shop, team, at)
            _accept(shop, team, at)
            # Closed at this hour, or a person has changed the prices, the area or the pickup points.
            with suppress(DeliveryError):
                _request(shop, at)
        return WATCHED if is_watched else UNWATCHED

    def _ride(self, shop: Integrator, team: list[Driver], at: datetime) -> None:
        """Take each driver with a route on, and tell where the others stand."""
        held = {each.driver_id: each for each in _own(shop).filter(driver__in=team, route_status__in=HELD).with_parts()}
        self._legs = {route.pk: self._legs[route.pk] for route in held.values() if route.pk in self._legs}
        for driver in team:
            point = driver.latest.point
            if route := held.get(driver.pk):
                # A person may have made the same move.
                with suppress(DeliveryError):
                    point = self._take_on(route, point, at)
            elif driver.latest.recorded_at > at - _STANDING:
                continue
            drivers.set_position(driver=driver, point=point, by=day.BY, at=at)

    def _take_on(self, route: Delivery, point: Point, at: datetime) -> Point:
        """Make the moves that are due on a route, each at its moment. Returns where the driver is."""
        leg = self._legs.get(route.pk)
        if leg is None or (leg.status, leg.to) != (route.route_status, route.next_place.label):
            leg = _leg(route, start=point, began=at)
        while leg.ends <= at:
            route = _move(route, at=leg.ends)
            if not route.is_held:
                return leg.end
            leg = _leg(route, start=leg.end, began=leg.ends)
        self._legs[route.pk] = leg
        return leg.place(at)


def _leg(route: Delivery, *, start: Point, began: datetime) -> _Leg:
    place = route.next_place
    return _Leg(route.route_status, place.label, start, place.point, began)


def _move(route: Delivery, *, at: datetime) -> Delivery:
    """The move that comes next. At a few stops nobody is there."""
    name = _NEXT[RouteStatus(route.route_status)]
    if name == "deliver" and route.next_place.label == "B" and route.pk.int % _ONE_IN_FAILS == 0:
        name = "fail"
    point = route.next_place.label if name in ("deliver", "fail") else ""
    fields = {"point": point, "code": "ABSENT", "reason": ""}
    return moves.perform(name, delivery=route, fields=fields, by=day.BY, at=at)


def _tells_somebody(shop: Integrator) -> bool:
    """Whether events or alerts of its deliveries leave the service: by a webhook, to a chat, or by e-mail."""
    endpoints = shop.endpoints.filter(environment=Environment.LIVE)
    if endpoints.exclude(url="").exists():
        return True
    if EndpointAlerts.objects.filter(endpoint__in=endpoints).exclude(url_ciphertext="").exists():
        return True
    declined = AlertChoice.objects.filter(
        membership=OuterRef("pk"), environment=Environment.LIVE, trouble=False, digest=False
    )
    mailed = shop.memberships.filter(~Exists(declined), user__is_active=True).exclude(user__email="")
    return outbox.is_configured() and mailed.exists()


def _team(at: datetime) -> list[Driver]:
    """The drivers of the demo with their latest positions.

    Without those whom people are on a phone, and those who hold a route that the demo has not requested.
    """
    phones = DriverDevice.objects.filter(driver=OuterRef("pk"), revoked_at=None, expires_at__gt=at)
    names = [name for name, _vehicle in data.DRIVERS]
    ours = Driver.objects.filter(name__in=names, phone__startswith=data.PHONES, environment=Environment.LIVE)
    working = ours.filter(active=True, on_duty=True, latest__isnull=False)
    others = Delivery.objects.filter(~_OF_DEMO, driver=OuterRef("pk"), route_status__in=HELD)
    return list(working.exclude(Exists(phones) | Exists(others)).select_related("latest").order_by("pk"))


def _own(shop: Integrator) -> DeliveryQuerySet:
    """The deliveries that the demo has requested."""
    found: DeliveryQuerySet = Delivery.objects.filter(integrator=shop, environment=Environment.LIVE)
    return found.filter(_OF_DEMO)


def _accept(shop: Integrator, team: list[Driver], at: datetime) -> None:
    """Give the offer that has waited for long enough to the nearest of the team, if there is one."""
    if _own(shop).filter(route_status__in=HELD).count() >= _MOST_HELD:
        return
    offers = _own(shop).filter(route_status=RouteStatus.AVAILABLE, offer_expires_at__gt=at).order_by("pk")
    for offer in offers.with_parts():
        waits_since = offer.offer_at or offer.created_at
        if at < waits_since + _WAITS[offer.pk.int % len(_WAITS)]:
            continue
        driver = drivers.eligible(offer, at=at).filter(pk__in=[each.pk for each in team]).first()
        if driver is not None:
            with suppress(DeliveryError):  # a person has given it to somebody
                moves.perform("accept", delivery=offer, fields={"driver": str(driver.pk)}, by=day.BY, at=at)
            return


def _request(shop: Integrator, at: datetime) -> None:
    """Request another delivery, unless enough are open or the last one is of just now."""
    token = shop.tokens.filter(environment=Environment.LIVE).valid(at=at).order_by("pk").first()
    newest = _own(shop).order_by("-created_at").first()
    if token is None or (newest and newest.created_at > at - _BETWEEN_REQUESTS):
        return
    number = Delivery.objects.filter(integrator=shop, environment=Environment.LIVE).count()
    if _own(shop).filter(route_status=RouteStatus.SCHEDULED).count() < len(day.SCHEDULED):
        day.schedule(token, number=number, hours=day.SCHEDULED[-1], at=at)
    elif _own(shop).filter(route_status__in=IN_PROGRESS).count() < _MOST_OPEN:
        _name, vehicle = data.DRIVERS[number % len(data.DRIVERS)]
        day.request(token, vehicle, number=number, count=1 + number % 2, at=at)

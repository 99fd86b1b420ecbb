"""What the receiver of one stop is shown: nothing about other stops but how many of them come first."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any

from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.brazil import formats
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery import stop_details
from delivery.arrival_times import ArrivalTime
from delivery.geo.distance import metres
from delivery.lifecycle import COLLECTIONS, Mode, RouteStatus, Status, Trigger
from delivery.models import Delivery, DispatchRules, Driver, LatestPosition, Stop, Transition
from delivery.stop_details import PinState, StopDetails
from delivery.words import text_of_simulator

# An older position says little about where the driver is.
_POSITION_SHOWN = timedelta(minutes=15)
# Up to so many metres a distance is written in metres, in steps that a phone's position is exact to.
_METRES_UNTIL, _METRES_STEP = 975, 50


class Step(IntEnum):
    """How far the delivery is, as the page's line of progress has it."""

    PREPARED = 1
    TO_SHOP = 2
    TO_RECEIVER = 3
    COLLECTED = 4  # in mode REVERSE: the driver has been there and goes to the shop
    CLOSED = 5


@dataclass(frozen=True)
class StopState:
    """`driver` and `position` are None unless they may be shown now; `closed_at` is when the stop was closed."""

    stop: Stop
    details: StopDetails
    step: Step
    driver: Driver | None
    position: LatestPosition | None
    is_old: bool  # the position
    stops_before: int
    closed_at: datetime | None
    was_collected: bool  # in mode REVERSE, before a cancellation
    planned: str  # from when and until when the driver comes, if the shop has asked for it

    @property
    def delivery(self) -> Delivery:
        return self.stop.delivery

    @property
    def is_reverse(self) -> bool:
        """Whether the driver collects here, so that the receiver of the page is the sender."""
        return self.delivery.mode == Mode.REVERSE

    @property
    def is_ahead(self) -> bool:
        """Whether the driver has still to come."""
        return self.stop.is_ahead

    @property
    def is_under_way(self) -> bool:
        """Whether the driver has the goods, or comes to collect, and this stop is open.

        Only then are the driver's place and phone shown.
        """
        return self.step is Step.TO_RECEIVER

    @property
    def is_closed(self) -> bool:
        return self.step is Step.CLOSED

    @property
    def is_delivered(self) -> bool:
        return self.stop.status == Status.DELIVERED

    @property
    def has_failed(self) -> bool:
        return self.is_closed and not self.is_delivered and not self.was_collected

    @property
    def pin(self) -> str:
        """The PIN to tell the driver; empty when none is asked for (any more)."""
        return "" if not self.is_ahead or self.details.pin_state is PinState.LOCKED else self.details.pin

    @property
    def arrival(self) -> ArrivalTime | None:
        return self.details.arrival if self.is_ahead else None

    @property
    def distance(self) -> str:
        """How far the driver is, in a straight line; empty unless that is known of this moment."""
        if self.position is None or self.is_old or not self.is_under_way:
            return ""
        away = metres(self.position.point, self.stop.point)
        if away < _METRES_UNTIL:
            rounded = max(_METRES_STEP, round(away / _METRES_STEP) * _METRES_STEP)
            return _("%(distance)s m from you") % {"distance": rounded}
        return _("%(distance)s km from you") % {"distance": number_format(round(away / 1000, 1), 1)}

    @property
    def first_name(self) -> str:
        """The driver's first name, because the whole one is private; empty for a simulated driver."""
        if self.driver is None or self.driver.simulated_for_id:
            return ""
        return next(iter(self.driver.name.split()), "")

    @property
    def sentence(self) -> str:
        """What happens now."""
        driver = self.first_name or _("The driver")
        if self.is_reverse:
            return self._sentence_in_reverse(driver)
        match self.step:
            case Step.PREPARED if self.delivery.is_scheduled:
                return _("Your delivery is scheduled.")
            case Step.PREPARED:
                return _("The shop is preparing your order.")
            case Step.TO_SHOP:
                return _("%(driver)s is on the way to the shop.") % {"driver": driver}
            case Step.TO_RECEIVER if self.stops_before:
                text = ngettext(
                    "%(driver)s has your order; %(count)s stop comes before yours.",
                    "%(driver)s has your order; %(count)s stops come before yours.",
                    self.stops_before,
                )
                return text % {"driver": driver, "count": self.stops_before}
            case Step.TO_RECEIVER:
                return _("%(driver)s is on the way to you.") % {"driver": driver}
            case Step.COLLECTED | Step.CLOSED:
                return _("Your order was delivered.") if self.is_delivered else _("Your order was not delivered.")

    def _sentence_in_reverse(self, driver: str) -> str:
        match Status(self.stop.status):
            case Status.PENDING if self.delivery.is_scheduled:
                return _("The pickup is scheduled.")
            case Status.PENDING:
                return _("A driver is being looked for.")
            case Status.ACCEPT if self.stops_before:
                text = ngettext(
                    "%(driver)s comes to collect; %(count)s stop comes before yours.",
                    "%(driver)s comes to collect; %(count)s stops come before yours.",
                    self.stops_before,
                )
                return text % {"driver": driver, "count": self.stops_before}
            case Status.ACCEPT:
                return _("%(driver)s is on the way to you, to collect.") % {"driver": driver}
            case Status.COLLECTED:
                return _("%(driver)s has collected it and brings it to the shop.") % {"driver": driver}
            case Status.FAILED if not self.was_collected:
                return _("It was not collected.")
            case Status.FAILED if self.delivery.is_held:
                return _("What you sent goes to the shop.")
            case Status.DELIVERED | Status.FAILED:
                return _("What you sent has arrived at the shop.")

    @property
    def progress(self) -> list[tuple[Step, str]]:
        """The steps with their names, in order, without those that were left out by a cancellation or expiry."""
        if self.is_reverse:
            is_missing = self.stop.status == Status.FAILED and not self.was_collected
            names = [
                (Step.PREPARED, _("Requested")),
                (Step.TO_RECEIVER, _("On the way")),
                (Step.COLLECTED, _("Collected")),
                (Step.CLOSED, _("Not collected") if is_missing else _("At the shop")),
            ]
            never_began = {Step.TO_RECEIVER} if is_missing and not self.delivery.accepted_at else set()
            without = never_began | ({Step.COLLECTED} if is_missing else set())
            return [(step, name) for step, name in names if step not in without]
        steps = [
            (Step.PREPARED, _("Preparing")),
            (Step.TO_SHOP, _("To the shop")),
            (Step.TO_RECEIVER, _("On the way")),
            (Step.CLOSED, _("Not delivered") if self.stop.status == Status.FAILED else _("Delivered")),
        ]
        left_out: set[Step] = set()
        if self.delivery.route_status in (RouteStatus.EXPIRED, RouteStatus.CANCELLED):  # before the pickup
            left_out = {Step.TO_RECEIVER} if self.delivery.accepted_at else {Step.TO_SHOP, Step.TO_RECEIVER}
        return [(step, name) for step, name in steps if step not in left_out]

    @property
    def reason(self) -> str:
        """Why it was not delivered, or that it was cancelled on its way to the shop; empty otherwise."""
        if not (self.has_failed or self.was_collected):
            return ""
        if self.stop.failure:
            return text_of_simulator(self.stop.failure)
        if self.delivery.route_status == RouteStatus.EXPIRED:
            return _("No driver took it.")
        return _("The pickup was cancelled.") if self.is_reverse else _("The delivery was cancelled.")

    @property
    def next_step(self) -> str:
        """What happens with an order that was not delivered, and what the receiver can do; empty otherwise."""
        if not self.reason:
            return ""
        if self.is_reverse:
            return _("Ask %(shop)s what happens next.") % {"shop": self.delivery.contact_name}
        if self.delivery.route_status == RouteStatus.FINISHED:
            text = _("Your order is back at the shop. Ask %(shop)s for a new delivery, or to collect it there.")
        elif self.delivery.is_held:
            text = _("Your order goes back to the shop. Ask %(shop)s for a new delivery, or to collect it there.")
        else:
            text = _("Your order is still at the shop. Ask %(shop)s what happens next.")
        return text % {"shop": self.delivery.contact_name}

    @property
    def attempt(self) -> str:
        """That the driver has been there and comes again; empty otherwise."""
        if self.stop.tried_at is None or not self.is_ahead:
            return ""
        at = f"{timezone.localtime(self.stop.tried_at):%H:%M}"
        values = {"time": at, "reason": text_of_simulator(self.stop.failure)}
        return _("The driver was there at %(time)s (%(reason)s), and comes again after the other stops.") % values

    @property
    def places(self) -> dict[str, Any] | None:
        """What the map shows, in decimal degrees; None: no map."""
        if not self.is_under_way:
            return None
        found = self.position
        return {
            "stop": {"lat": self.stop.latitude, "lng": self.stop.longitude},
            "driver": {"lat": found.latitude, "lng": found.longitude, "name": self.first_name} if found else None,
        }


def read(stop: Stop, *, at: datetime) -> StopState:
    """The state of a stop that was read with its delivery and driver."""
    was_collected = _was_collected(stop)
    step = Step.COLLECTED if was_collected and stop.delivery.is_held else _step(stop)
    is_under_way = step is Step.TO_RECEIVER
    driver = stop.delivery.driver if step in (Step.TO_SHOP, Step.TO_RECEIVER) else None
    position = None
    if driver and is_under_way:
        position = _POSITION.first(driver=driver.pk, since=at - _POSITION_SHOWN)
    return StopState(
        stop=stop,
        details=stop_details.read([stop], at=at)[stop.pk],
        step=step,
        driver=driver,
        position=position,
        is_old=position is not None and position.recorded_at < at - DispatchRules.current().position_fresh,
        stops_before=_stops_before(stop) if is_under_way else 0,
        closed_at=_closed_at(stop, was_collected=was_collected) if step is Step.CLOSED else None,
        was_collected=was_collected,
        planned=formats.window(stop.ready_at or stop.delivery.scheduled_for, stop.deadline_at, at=at),
    )


_POSITION = CompiledQuery(
    lambda: LatestPosition.objects.filter(pk=Parameter("driver"), recorded_at__gte=Parameter("since")).order_by()[:1]
)


def _was_collected(stop: Stop) -> bool:
    if stop.delivery.mode != Mode.REVERSE or stop.delivery.cancelled_at is None:
        return False
    return Transition.objects.filter(delivery=stop.delivery_id, point=stop.label, trigger__in=COLLECTIONS).exists()


def _stops_before(stop: Stop) -> int:
    ahead = stop.delivery.stops_ahead
    return ahead.index(stop) if stop in ahead else 0  # closed since it was read


def _step(stop: Stop) -> Step:
    if stop.delivery.mode == Mode.REVERSE:
        return _IN_REVERSE[Status(stop.status)]
    match Status(stop.status):
        case Status.PENDING:
            return Step.PREPARED
        case Status.ACCEPT:
            return Step.TO_SHOP
        case Status.COLLECTED:
            return Step.TO_RECEIVER
        case Status.DELIVERED | Status.FAILED:
            return Step.CLOSED


_IN_REVERSE = {
    Status.PENDING: Step.PREPARED,
    Status.ACCEPT: Step.TO_RECEIVER,
    Status.COLLECTED: Step.COLLECTED,
    Status.DELIVERED: Step.CLOSED,
    Status.FAILED: Step.CLOSED,
}


def _closed_at(stop: Stop, *, was_collected: bool) -> datetime | None:
    """When the driver closed the stop, or when the whole delivery was cancelled or expired, or everything was at A."""
    changes = Transition.objects.filter(delivery=stop.delivery_id)
    at_stop = [Trigger.DELIVER, Trigger.FAIL, Trigger.RECALL]
    of_stop = changes.filter(point=stop.label, trigger__in=at_stop).first()
    of_all = changes.filter(trigger__in=[Trigger.CANCEL, Trigger.EXPIRE, Trigger.RETURN])
    last = of_stop or (of_all.last() if was_collected else of_all.first())
    return last.happened_at if last else None

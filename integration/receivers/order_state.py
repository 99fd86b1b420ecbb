"""What the receiver of an order is shown: the least that says where it is. No street, no name, no free text."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from django.utils.translation import gettext as _
from django_stubs_ext import StrPromise

from common.accounts import Environment
from integration import lifecycle, words
from integration.lifecycle import Reason, Status
from integration.models import Order, StatusLog


class Step(IntEnum):
    """How far the order is, as the page's line of progress has it."""

    PREPARED = 1
    ON_THE_WAY = 2
    OUT_FOR_DELIVERY = 3
    CLOSED = 4


_STEPS = {
    Status.PENDING: Step.PREPARED,
    Status.COLLECTED: Step.ON_THE_WAY,
    Status.IN_TRANSIT: Step.ON_THE_WAY,
    Status.OUT_FOR_DELIVERY: Step.OUT_FOR_DELIVERY,
    Status.DELIVERY_FAILED: Step.OUT_FOR_DELIVERY,
    Status.DELIVERED: Step.CLOSED,
    Status.RETURNED: Step.CLOSED,
    Status.CANCELLED: Step.CLOSED,
}
_FAILED = (Status.DELIVERY_FAILED, Status.RETURNED, Status.CANCELLED)


@dataclass(frozen=True)
class Event:
    """A change of the status. `reason`: why the order was not delivered, empty if that is not known."""

    name: StrPromise
    reason: StrPromise | str
    at: datetime


@dataclass(frozen=True)
class OrderState:
    """Of an order; `shop` is the name of its seller."""

    order: Order
    shop: str

    @property
    def status(self) -> Status:
        return Status(self.order.status)

    @property
    def step(self) -> Step:
        return _STEPS[self.status]

    @property
    def is_closed(self) -> bool:
        return self.status in lifecycle.CLOSED

    @property
    def has_failed(self) -> bool:
        return self.status in _FAILED

    @property
    def is_test(self) -> bool:
        return self.order.environment != Environment.LIVE

    @property
    def sentence(self) -> str:
        """What happens now."""
        match self.status:
            case Status.PENDING:
                return _("The shop is preparing your order.")
            case Status.COLLECTED | Status.IN_TRANSIT:
                return _("Your order is on its way.")
            case Status.OUT_FOR_DELIVERY:
                return _("Your order is out for delivery.")
            case Status.DELIVERED:
                return _("Your order was delivered.")
            case Status.DELIVERY_FAILED:
                return _("Your order could not be delivered.")
            case Status.RETURNED:
                return _("Your order was returned to the shop.")
            case Status.CANCELLED:
                return _("Your order was cancelled.")

    @property
    def next_step(self) -> str:
        """What happens next, and what the receiver can do."""
        match self.status:
            case Status.PENDING:
                text = _("Next the carrier collects it.")
            case Status.COLLECTED | Status.IN_TRANSIT:
                text = _("Next it goes out for delivery.")
            case Status.OUT_FOR_DELIVERY:
                text = _("Somebody should be there to receive it.")
            case Status.DELIVERED:
                text = _("If you do not have it, ask %(shop)s.")
            case Status.DELIVERY_FAILED:
                text = _("The carrier tries again, or takes it back. If the address is wrong, tell %(shop)s.")
            case Status.RETURNED | Status.CANCELLED:
                text = _("Ask %(shop)s what happens next.")
        return text % {"shop": self.shop}

    @property
    def progress(self) -> list[tuple[Step, StrPromise | str]]:
        """The steps with their names, in order: of an order that came back or was cancelled, those that it had."""
        third = self.status if self.status is Status.DELIVERY_FAILED else Status.OUT_FOR_DELIVERY
        last = self.status if self.is_closed else Status.DELIVERED
        steps: list[tuple[Step, StrPromise | str]] = [
            (Step.PREPARED, _("Preparing")),
            (Step.ON_THE_WAY, _("On the way")),
            (Step.OUT_FOR_DELIVERY, words.STATUSES[third]),
            (Step.CLOSED, words.STATUSES[last]),
        ]
        if not (self.is_closed and self.has_failed):
            return steps
        reached = {_STEPS[Status(entry.status)] for entry in self.order.status_log.all()}
        return [(step, name) for step, name in steps if step in reached]

    @property
    def city(self) -> str:
        address = self.order.receiver["address"]
        return f"{address['city']}/{address['state']}"

    @property
    def events(self) -> list[Event]:
        """What has happened, newest first."""
        return [_event(entry) for entry in reversed(list(self.order.status_log.all()))]

    @property
    def reason(self) -> StrPromise | str:
        """Why it was not delivered, as far as it is known; empty otherwise."""
        return self.events[0].reason


def _event(entry: StatusLog) -> Event:
    reason = words.REASONS[Reason(entry.reason_code)] if entry.reason_code else ""
    return Event(words.STATUSES[entry.status], reason, entry.occurred_at)

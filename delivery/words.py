"""What pages call statuses, triggers and modes, whose codes are the API's."""

from django.utils.translation import gettext, gettext_noop, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from delivery import simulation_steps as steps
from delivery.lifecycle import Ending, FailureCode, Mode, OnFailure, RouteStatus, Status, Trigger
from delivery.pricing import Charge

STATUSES: dict[str, StrPromise] = {
    Status.PENDING: _("Waiting for a driver"),
    Status.ACCEPT: _("Driver assigned"),
    Status.COLLECTED: _("On the way"),
    Status.DELIVERED: _("Delivered"),
    Status.FAILED: _("Not delivered"),
}
ROUTE_STATUSES: dict[str, StrPromise] = {
    RouteStatus.SCHEDULED: pgettext_lazy("route", "Scheduled"),
    RouteStatus.AVAILABLE: _("Waiting for a driver"),
    RouteStatus.ACCEPTED: _("Driver assigned"),
    RouteStatus.COLLECTED: _("On the way"),
    RouteStatus.RETURNING: _("Returning"),
    RouteStatus.FINISHED: _("Finished"),
    RouteStatus.CANCELLED: _("Cancelled"),
    RouteStatus.EXPIRED: _("Offer expired"),
}
# Of a status' badge, as `common.columns.State` has it.
COLOURS: dict[str, str] = {
    Status.PENDING: "warn",
    Status.ACCEPT: "info",
    Status.COLLECTED: "info",
    Status.DELIVERED: "good",
    Status.FAILED: "bad",
    RouteStatus.SCHEDULED: "info",
    RouteStatus.AVAILABLE: "warn",
    RouteStatus.ACCEPTED: "info",
    RouteStatus.RETURNING: "warn",
    RouteStatus.FINISHED: "good",
    RouteStatus.CANCELLED: "bad",
    RouteStatus.EXPIRED: "bad",
}
ENDINGS: dict[str, StrPromise] = {
    Ending.DELIVERED: _("Delivered"),
    Ending.NOT_DELIVERED: _("Not delivered"),
    Ending.CANCELLED: _("Cancelled"),
    Ending.EXPIRED: _("Offer expired"),
}
CHARGES: dict[str, StrPromise] = {
    Charge.PRICE: _("Price of the route"),
    Charge.RETRY: _("Second attempts"),
    Charge.RETURN: _("Way back after a failure"),
    Charge.CANCEL_ACCEPTED: _("Cancelled after acceptance"),
    Charge.CANCEL_COLLECTED: _("Cancelled after pickup"),
}
MODES: dict[str, StrPromise] = {
    Mode.DEFAULT: _("From A to the points"),
    Mode.RETURN: _("From A to the points, and back to A"),
    Mode.REVERSE: _("From the points to A"),
}
POLICIES: dict[str, StrPromise] = {
    OnFailure.RETURN: _("Back to A"),
    OnFailure.RETRY: _("One more attempt"),
    OnFailure.LEAVE: _("May be left at the door"),
}
# Of the orders of mode REVERSE.
PICKUPS: dict[str, StrPromise] = {
    Status.PENDING: _("Waiting for a driver"),
    Status.ACCEPT: _("To collect"),
    Status.COLLECTED: _("Collected"),
    Status.DELIVERED: _("Delivered at A"),
    Status.FAILED: _("Not collected"),
}
# The account's answer to a failure.
ANSWERS: dict[str, StrPromise] = {
    OnFailure.RETURN: _("Bring it back"),
    OnFailure.RETRY: _("Try again"),
    OnFailure.LEAVE: _("Leave it at the door"),
}
TRIGGERS: dict[str, StrPromise] = {
    "request": _("Requested"),
    Trigger.OFFER: _("Offered to drivers"),
    Trigger.ACCEPT: _("Driver assigned"),
    Trigger.RELEASE: _("Driver released, offered again"),
    Trigger.REASSIGN: _("Assigned to another driver"),
    Trigger.COLLECT: _("Collected at A"),
    Trigger.DELIVER: _("Delivered at"),
    Trigger.ATTEMPT: _("First attempt failed at"),
    Trigger.FAIL: _("Not delivered at"),
    Trigger.RECALL: _("No second attempt at"),
    Trigger.RETURN: _("Returned to A"),
    Trigger.CANCEL: _("Cancelled"),
    Trigger.GOODS_OUT: _("Collected before the cancellation at A"),
    Trigger.CHARGE: _("Charged as cancelled after pickup"),
    Trigger.EXPIRE: _("Offer expired"),
    "note": _("Note of the receiver at"),
    "change": _("Changed by the shop at"),
}
FAILURES: dict[str, StrPromise] = {
    FailureCode.ABSENT: _("Nobody there"),
    FailureCode.REFUSED: _("Refused at the door"),
    FailureCode.ADDRESS_NOT_FOUND: _("Address not found"),
    FailureCode.ADDRESS_INCOMPLETE: _("Address incomplete"),
    FailureCode.CLOSED: _("Place closed"),
    FailureCode.DAMAGED: _("Goods damaged"),
    FailureCode.WRONG_ITEM: _("Wrong item"),
    FailureCode.UNSAFE: _("Not a safe place"),
    FailureCode.PAYMENT: _("Problem with the payment"),
    FailureCode.VEHICLE: _("Vehicle broke down"),
    FailureCode.OTHER: _("Another reason"),
}
# Codes of the API that refusals and the choices of models contain. The API keeps them, pages translate them.
CODES = {
    gettext_noop("offer"),
    gettext_noop("accept"),
    gettext_noop("release"),
    gettext_noop("reassign"),
    gettext_noop("collect"),
    gettext_noop("deliver"),
    gettext_noop("attempt"),
    gettext_noop("fail"),
    gettext_noop("recall"),
    gettext_noop("return"),
    gettext_noop("cancel"),
    gettext_noop("goods_out"),
    gettext_noop("charge"),
    gettext_noop("PENDING"),
    gettext_noop("ACCEPT"),
    gettext_noop("DELIVERED"),
    gettext_noop("FAILED"),
    gettext_noop("DEFAULT"),
    gettext_noop("RETURN"),
    gettext_noop("REVERSE"),
    gettext_noop("SCHEDULED"),
    gettext_noop("AVAILABLE"),
    gettext_noop("ACCEPTED"),
    gettext_noop("COLLECTED"),
    gettext_noop("RETURNING"),
    gettext_noop("FINISHED"),
    gettext_noop("CANCELLED"),
    gettext_noop("EXPIRED"),
    gettext_noop("MOTORCYCLE"),
    gettext_noop("CAR"),
    gettext_noop("live"),
    gettext_noop("sandbox"),
}


# Of transitions that differ in mode REVERSE.
_IN_REVERSE: dict[str, StrPromise] = {
    Trigger.COLLECT: _("Collected at"),
    Trigger.GOODS_OUT: _("Collected before the cancellation at"),
    Trigger.FAIL: _("Not collected at"),
    Trigger.RETURN: _("Delivered at A"),
    "note": _("Note of the sender at"),
}


def change(trigger: str, point: str, mode: str) -> str:
    """What the history calls a change of a delivery, with the point where it has one."""
    names = {**TRIGGERS, **_IN_REVERSE} if mode == Mode.REVERSE else TRIGGERS
    return f"{names.get(trigger, trigger)} {point}".strip()


def whole(status: str, route_status: str, mode: str, *, is_cancelled: bool, failed: int = 0, stops: int = 0) -> str:
    """What pages call the status of a delivery: that its offer comes later, where its goods go, and what failed.

    `failed`: at how many of its `stops` a driver has failed.
    """
    if route_status in (RouteStatus.SCHEDULED, RouteStatus.EXPIRED):
        return str(ROUTE_STATUSES[route_status])
    outcome = _failed(failed, stops, mode) if failed and not is_cancelled else ""
    if route_status == RouteStatus.RETURNING:
        way = gettext("On the way to A") if mode == Mode.REVERSE else gettext("Returning to the shop")
        return ", ".join(filter(None, (way, gettext("cancelled") if is_cancelled else outcome)))
    if is_cancelled:
        return str(ROUTE_STATUSES[RouteStatus.CANCELLED])
    if route_status == RouteStatus.FINISHED and outcome and status != Status.FAILED:
        return outcome
    has_failed = status == Status.FAILED and mode == Mode.REVERSE
    name = str(PICKUPS[status] if has_failed else STATUSES[status])
    return f"{name}, {outcome}" if outcome and route_status != RouteStatus.FINISHED else name


def _failed(failed: int, stops: int, mode: str) -> str:
    """At how many of its stops a driver has failed, such as `1 of 2 not delivered`."""
    if mode == Mode.REVERSE:
        if failed == stops:
            return gettext("not collected")
        text = ngettext("%(failed)s of %(total)s not collected", "%(failed)s of %(total)s not collected", failed)
    else:
        if failed == stops:
            return gettext("not delivered")
        text = ngettext("%(failed)s of %(total)s not delivered", "%(failed)s of %(total)s not delivered", failed)
    return text % {"failed": failed, "total": stops}


def ending(ending: str, mode: str, *, failed: int, stops: int) -> str:
    """How a delivery ended, and of one that was delivered in part at how many of its `stops` it `failed`."""
    is_part = ending == Ending.NOT_DELIVERED and 0 < failed < stops
    return _failed(failed, stops, mode) if is_part else str(ENDINGS[ending])


def failure(code: str, text: str) -> str:
    """Why a stop failed: the name of the code in the active language, and what was written beside it.

    `text` alone for OTHER and without a code.
    """
    name = "" if code in ("", FailureCode.OTHER) else str(FAILURES.get(code, code))
    return ": ".join(filter(None, (name, text)))


# Texts of `delivery.simulation_steps`, which imports no Django.
_OF_SIMULATOR = {
    steps.DRIVER_NAME, steps.FAILURE_REASON,
    gettext_noop("Simulated failure: nobody received the order."),  # of version 0.2.0
}  # fmt: skip  # texts
gettext_noop("Simulated driver")
gettext_noop("Simulated failure: nobody was there.")


def text_of_simulator(value: str) -> str:
    """A driver's name or the reason of a failure: in the reader's language if the simulator has written it."""
    return gettext(value) if value in _OF_SIMULATOR else value

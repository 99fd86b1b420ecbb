"""What pages call statuses, triggers and modes, whose codes are the API's, and how they write hours of service."""

from datetime import datetime

from django.template.defaultfilters import date
from django.utils.formats import get_format
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from delivery.hours import Day, Timetable
from delivery.lifecycle import Ending, FailureCode, Mode, RouteStatus, Status, Trigger

STATUSES: dict[str, StrPromise] = {
    Status.PENDING: _("Waiting for a driver"),
    Status.ACCEPT: _("Driver assigned"),
    Status.COLLECTED: _("On the way"),
    Status.DELIVERED: _("Delivered"),
    Status.FAILED: _("Not delivered"),
}
ROUTE_STATUSES: dict[str, StrPromise] = {
    RouteStatus.AVAILABLE: _("Waiting for a driver"),
    RouteStatus.ACCEPTED: _("Driver assigned"),
    RouteStatus.COLLECTED: _("On the way"),
    RouteStatus.RETURNING: _("Returning"),
    RouteStatus.FINISHED: _("Finished"),
    RouteStatus.CANCELLED: _("Cancelled"),
    RouteStatus.EXPIRED: _("Offer expired"),
}
ENDINGS: dict[str, StrPromise] = {
    Ending.DELIVERED: _("Delivered"),
    Ending.NOT_DELIVERED: _("Not delivered"),
    Ending.CANCELLED: _("Cancelled"),
    Ending.EXPIRED: _("Offer expired"),
}
MODES: dict[str, StrPromise] = {
    Mode.DEFAULT: _("Ends at the last point"),
    Mode.RETURN: _("Ends at A"),
}
TRIGGERS: dict[str, StrPromise] = {
    "request": _("Requested"),
    Trigger.ACCEPT: _("Driver assigned"),
    Trigger.RELEASE: _("Driver released, offered again"),
    Trigger.REASSIGN: _("Assigned to another driver"),
    Trigger.COLLECT: _("Collected at A"),
    Trigger.DELIVER: _("Delivered at"),
    Trigger.FAIL: _("Not delivered at"),
    Trigger.RETURN: _("Returned to A"),
    Trigger.CANCEL: _("Cancelled"),
    Trigger.EXPIRE: _("Offer expired"),
    "note": _("Note of the receiver at"),
}
FAILURES: dict[str, StrPromise] = {
    FailureCode.ABSENT: _("Nobody there"),
    FailureCode.REFUSED: _("Refused by the receiver"),
    FailureCode.ADDRESS_NOT_FOUND: _("Address not found"),
    FailureCode.ADDRESS_INCOMPLETE: _("Address incomplete"),
    FailureCode.CLOSED: _("Place closed"),
    FailureCode.DAMAGED: _("Goods damaged"),
    FailureCode.WRONG_ITEM: _("Wrong item"),
    FailureCode.UNSAFE: _("Not safe to deliver"),
    FailureCode.PAYMENT: _("Problem with the payment"),
    FailureCode.VEHICLE: _("Vehicle broke down"),
    FailureCode.OTHER: _("Another reason"),
}
# Codes of the API that refusals and the choices of models contain. The API keeps them, pages translate them.
CODES = {
    gettext_noop("accept"),
    gettext_noop("release"),
    gettext_noop("reassign"),
    gettext_noop("collect"),
    gettext_noop("deliver"),
    gettext_noop("fail"),
    gettext_noop("return"),
    gettext_noop("cancel"),
    gettext_noop("PENDING"),
    gettext_noop("ACCEPT"),
    gettext_noop("DELIVERED"),
    gettext_noop("FAILED"),
    gettext_noop("DEFAULT"),
    gettext_noop("RETURN"),
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


def failure(code: str, text: str) -> str:
    """Why a stop failed: the name of the code in the active language, and what was written beside it.

    `text` alone for OTHER and without a code.
    """
    name = "" if code in ("", FailureCode.OTHER) else str(FAILURES.get(code, code))
    return ": ".join(filter(None, (name, text)))


def week_of(timetable: Timetable, *, at: datetime, days: int) -> list[tuple[str, str]]:
    """Name and hours of so many days from that of `at` on."""
    return [
        (date(day, f"D {get_format('SHORT_DATE_FORMAT')}"), _hours_of(hours)) for day, hours in timetable.days(at, days)
    ]


def _hours_of(day: Day) -> str:
    text = ", ".join(str(span).replace("-", "\N{EN DASH}") for span in day.spans) or gettext("closed")
    reason = gettext("national holiday") if day.is_holiday else day.name
    return f"{text} ({reason})" if reason else text

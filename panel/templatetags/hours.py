"""Hours of service on pages of an account, from the page's `account` and `environment`."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django import template

from common import clock
from common.brazil.formats import opening
from delivery.hours.models import ServiceHours
from delivery.hours.words import week_of
from delivery.models import Environment

register = template.Library()
_DAYS = 7


@dataclass(frozen=True)
class Hours:
    """`row` is the account's own, or of the installation."""

    row: ServiceHours
    at: datetime

    @property
    def week(self) -> list[tuple[str, str]]:
        return week_of(self.row.timetable, at=self.at, days=_DAYS)

    @cached_property
    def is_open(self) -> bool:
        return self._opens_at == self.at

    @property
    def opens(self) -> str:
        """When it opens, for people; empty if it does not open within 60 days."""
        return opening(self._opens_at, self.row.timetable.zone) if self._opens_at else ""

    @cached_property
    def _opens_at(self) -> datetime | None:
        return self.row.timetable.opens_at(self.at)


@register.inclusion_tag("panel/hours.html", takes_context=True)
def hours_of_service(context: dict[str, Any]) -> dict[str, Any]:
    """Those of the next seven days, if any hold."""
    return {"hours": _in_force(context)}


@register.inclusion_tag("panel/closed.html", takes_context=True)
def closed_now(context: dict[str, Any]) -> dict[str, Any]:
    """Before a request: whether they are over now."""
    return {"hours": _in_force(context)}


def _in_force(context: dict[str, Any]) -> Hours | None:
    """None where the account is open at every hour."""
    if context["environment"] == Environment.SANDBOX:
        return None
    row = ServiceHours.in_force().of(context["account"].pk)
    return Hours(row, clock.now()) if row else None

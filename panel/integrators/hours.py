"""The hours of service that hold for an account, as its pages show them."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from common.brazil.formats import opening
from delivery.hours.models import ServiceHours
from delivery.hours.words import week_of
from delivery.models import Environment, Integrator

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


def of_account(account: Integrator, environment: str, *, at: datetime) -> Hours | None:
    """Those that hold for the account; None where it is open at every hour."""
    if environment == Environment.SANDBOX:
        return None
    row = ServiceHours.in_force().of(account.pk)
    return Hours(row, at) if row else None

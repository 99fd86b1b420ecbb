"""The hours of service that hold for an account's pickup points, as its pages show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from common.brazil.formats import opening
from delivery.models import Environment, Integrator, PickupPoint, ServiceHours
from delivery.words import week_of

_DAYS = 7


@dataclass(frozen=True)
class Hours:
    """Hours that hold for some of the pickup points. `row` is the account's own, of a city, or of the installation."""

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


def of_account(account: Integrator, environment: str, points: Iterable[PickupPoint], *, at: datetime) -> list[Hours]:
    """Those of each pickup point once; without one those of the account. None where it is open at every hour."""
    if environment == Environment.SANDBOX:
        return []
    in_force = ServiceHours.in_force()
    elsewhere = in_force.accounts.get(account.pk, in_force.general)
    rows = [in_force.of(account.pk, each.point) for each in points] or [elsewhere]
    return [Hours(row, at) for row in dict.fromkeys(rows) if row is not None]

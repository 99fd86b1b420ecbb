"""Hours of service: when deliveries are picked up, for the installation or for an account."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common.brazil.zones import ZONES
from common.cached import Cached
from common.fields import not_personal, one_of
from common.postgresql.row_history import history_of
from delivery.hours import timetable as hours
from delivery.hours.timetable import InvalidDayOff, InvalidSpan, SpansOverlap, Timetable
from delivery.models.integrator import Integrator

# A process reads the rows at most once in so many seconds.
CACHED_SECONDS = 5.0
MOST_ROWS = 1_000
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ALWAYS = "00:00-24:00"

# What `hours.write_spans` and `hours.write_days_off` write, as PostgreSQL's regular expressions.
_SPAN = "([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)"
_SPANS = f"{_SPAN}(, {_SPAN})*"
_DAY_OFF = rf"[0-9]{{4}}-[01][0-9]-[0-3][0-9]( {_SPANS})? [^\n]+"
_DAYS_OFF = rf"^({_DAY_OFF}(\n{_DAY_OFF})*)?$"


def _of_weekday(name: Any) -> Any:
    return not_personal(models.CharField(name, max_length=100, blank=True, default=ALWAYS))


class ServiceHours(models.Model):
    """Hours of one account, or, without one, of the installation."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.CASCADE,
        related_name="service_hours",
        null=True,
        blank=True,
        db_index=False,  # an index begins with this column
        help_text=_("Whose deliveries these hours are for. Empty: everybody without hours of their own."),
    )
    time_zone = models.CharField(
        _("time zone"), max_length=30, blank=True, choices=ZONES, help_text=_("Empty: that of the service.")
    )
    monday = _of_weekday(_("Monday"))
    tuesday = _of_weekday(_("Tuesday"))
    wednesday = _of_weekday(_("Wednesday"))
    thursday = _of_weekday(_("Thursday"))
    friday = _of_weekday(_("Friday"))
    saturday = _of_weekday(_("Saturday"))
    sunday = _of_weekday(_("Sunday"))
    closed_on_holidays = models.BooleanField(
        _("closed on national holidays"),
        default=False,
        help_text=_("Those of Brazil by law. A day off of the same date has its own hours."),
    )
    days_off = not_personal(
        models.CharField(
            _("days off"),
            max_length=5000,
            blank=True,
            help_text=_(
                "A line for each: date, the hours of that day if there are any, and a name, such as "
                "'24/12/2026 08:00-12:00 Christmas Eve'."
            ),
        )
    )

    class Meta:
        verbose_name = _("hours of service")
        verbose_name_plural = pgettext_lazy("plural", "hours of service")
        ordering = ["integrator__name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["integrator"],
                name="service_hours_one_of_a_scope",
                nulls_distinct=False,
                violation_error_message=_("There are hours of this account or the installation already."),
            ),
            one_of("service_hours_time_zone", "time_zone", ["", *(zone for zone, _name in ZONES)]),
            models.CheckConstraint(
                name="service_hours_spans",
                condition=Q(**{f"{day}__regex": f"^({_SPANS})?$" for day in WEEKDAYS}),
            ),
            models.CheckConstraint(
                name="service_hours_some_day",
                condition=~Q(**dict.fromkeys(WEEKDAYS, "")),
                violation_error_message=_("Fill in the hours of at least one day."),
            ),
            models.CheckConstraint(
                name="service_hours_days_off",
                condition=Q(days_off__regex=_DAYS_OFF),
            ),
        ]

    def __str__(self) -> str:
        return str(self.integrator) if self.integrator_id else capfirst(gettext("installation"))

    def clean(self) -> None:
        """Write hours and days off as the database accepts them."""
        errors = {}
        for name in (*WEEKDAYS, "days_off"):
            text = getattr(self, name)
            try:
                setattr(self, name, _days_off(text) if name == "days_off" else _spans(text))
            except (InvalidSpan, SpansOverlap, InvalidDayOff) as error:
                errors[name] = _fault(error)
        if errors:
            raise ValidationError(errors)
        # Every process keeps all rows in memory.
        if self._state.adding and ServiceHours.objects.count() >= MOST_ROWS:
            raise ValidationError(_("There may be no more than %(most)s of them."), params={"most": MOST_ROWS})

    @cached_property
    def timetable(self) -> Timetable:
        return Timetable(
            zone=ZoneInfo(self.time_zone or settings.TIME_ZONE),
            week=[hours.parse_spans(getattr(self, day)) for day in WEEKDAYS],
            days_off=hours.parse_days_off(self.days_off),
            closed_on_holidays=self.closed_on_holidays,
        )

    @staticmethod
    def in_force() -> "InForce":
        """All hours of service, at most five seconds old."""
        return _CACHED.get()

    @staticmethod
    def forget_in_force() -> None:
        """Have the next `in_force` of this process read the rows."""
        _CACHED.forget()


def _spans(text: str) -> str:
    return hours.write_spans(hours.parse_spans(text))


def _days_off(text: str) -> str:
    return hours.write_days_off(hours.parse_days_off(text))


def _fault(error: ValueError) -> str:
    if isinstance(error, InvalidSpan):
        return gettext("'%(part)s' is no span such as 08:00-12:00 or 22:00-02:00.") % {"part": error}
    if isinstance(error, InvalidDayOff):
        text = gettext(
            "'%(line)s' is no date with a name of at most 60 characters, its date occurs twice, or there are over 100."
        )
        return text % {"line": error}
    return gettext("The spans overlap, or there are more than six.")


@dataclass(frozen=True)
class InForce:
    """All hours of service."""

    general: ServiceHours | None = None
    accounts: dict[UUID, ServiceHours] = field(default_factory=dict)

    def of(self, integrator: UUID) -> ServiceHours | None:
        """The account's own hours, else those of the installation, else None."""
        return self.accounts.get(integrator, self.general)

    def opens_at(self, integrator: UUID, *, at: datetime) -> datetime | None:
        """The first moment from `at` on at which something is picked up: `at` without hours of service."""
        found = self.of(integrator)
        return found.timetable.opens_at(at) if found else at


def _read() -> InForce:
    rows = list(ServiceHours.objects.order_by("id"))
    return InForce(
        general=next((row for row in rows if not row.integrator_id), None),
        accounts={row.integrator_id: row for row in rows if row.integrator_id},
    )


_CACHED = Cached(_read, seconds=CACHED_SECONDS)


ServiceHoursChange: Any = history_of(
    ServiceHours,
    "ServiceHoursChange",
    verbose_name=_("change of the hours of service"),
    verbose_name_plural=_("changes of the hours of service"),
)

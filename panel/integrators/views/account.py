"""Pages of an account: its overview and its audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import npgettext, pgettext

from common import clock
from common.pages.page_updates import stream
from common.pages.periods import Period
from common.pages.plots import Chart, Series
from common.postgresql.replica import may_be_old
from delivery import reports
from delivery.lifecycle import Status
from delivery.models import AuditEntry, WebhookAttempt
from panel import attention
from panel.base import AccountView
from panel.filters import CALLED_OFF, LATE, UNDER_WAY, ActivityFilter, listed

_HOURS = 24
_HOUR = timedelta(hours=1)
_MOST_PICKUP_POINTS = 200


class Overview(AccountView):
    """Today's deliveries, those of the last hours as a chart, what needs attention, and what requests depend on."""

    is_live = True

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        midnight, since = clock.midnight(now), _first_hour(now)
        by_hour = list(self.deliveries.by_hour(since=min(midnight, since)))
        today = [row for row in by_hour if row["hour"] >= midnight]
        points = list(self.account.pickup_points.active()[:_MOST_PICKUP_POINTS])
        return self.page(
            "panel/overview.html",
            tiles=_tiles(today, self.deliveries.progress(at=now), midnight=midnight),
            chart=_chart_of_deliveries(by_hour, since=since),
            notices=attention.notices(self.account, self.environment, self.endpoints, at=now),
            steps=attention.first_steps(self.account, self.environment, self.endpoints[0], at=now),
            pickup_points=points,
        )


class Money(AccountView):
    """What the account owes for today and for this month. A fragment that the page loads after itself."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        today = timezone.localdate()
        month = Period.month_of(today)
        lines = reports.of_days(self.deliveries, month)
        columns = [
            (_("Today"), Period(today, today), reports.total(line for line in lines if line.of == today)),
            (_("This month"), month, reports.total(lines)),
        ]
        return self.page("panel/money.html", columns=columns)


class Plot(AccountView):
    """Webhooks of the last day. A fragment that the page loads after itself, because it counts many rows."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        since = _first_hour(clock.now())
        found = {row["hour"]: row for row in WebhookAttempt.objects.by_hour(self.endpoints, since=since)}
        rows = [(hour, found.get(hour)) for hour in _hours(since)]
        attempts = [(_name(hour), _results(row)) for hour, row in rows]
        slowest = [(_name(hour), [row and round(row["p95"])]) for hour, row in rows]
        heading = _("Hour")
        received, failed = Series(_("Received (2xx)"), "good"), Series(_("Failed"), "bad")
        p95 = Series(_("95 of 100 attempts were faster"), "info")
        return self.page(
            "panel/plot.html",
            attempts=Chart.of(_("Attempts"), heading=heading, series=[received, failed], rows=attempts),
            slowest=Chart.of(
                _("Response time"),
                heading=heading,
                series=[p95],
                rows=slowest,
                shown=lambda value: f"{localize(value)} ms",
                has_totals=False,
            ),
        )


def _results(row: Mapping[str, Any] | None) -> list[int]:
    """How many attempts of an hour were received, and how many failed."""
    return [row["successes"], row["total"] - row["successes"]] if row else [0, 0]


@dataclass(frozen=True)
class Tile:
    """A number with a link to the list of what it counts. `look` is the colour of its badge."""

    count: int
    name: Any
    look: str
    query: dict[str, str]

    @property
    def address(self) -> str:
        return f"?{urlencode(self.query)}"


def _tiles(today: Sequence[Mapping[str, int]], progress: Mapping[str, int], *, midnight: datetime) -> list[Tile]:
    """`today`: rows of `DeliveryQuerySet.by_hour`; `progress`: see there too."""
    since = {"since": f"{midnight:%Y-%m-%dT%H:%M}"}
    late = progress["late"]
    requested, delivered, failed, called_off = (
        sum(row[name] for row in today) for name in ("requested", "delivered", "failed", "called_off")
    )
    return [
        Tile(requested, _("Requested today"), "", since),
        Tile(progress["under_way"], _("Under way"), "info", {"status": UNDER_WAY}),
        Tile(late, pgettext("deliveries", "Late"), "warn" if late else "", {"status": LATE}),
        Tile(delivered, _("Delivered today"), "good", {**since, "status": Status.DELIVERED}),
        Tile(failed, _("Not delivered today"), "bad" if failed else "", {**since, "status": Status.FAILED}),
        Tile(called_off, _("Cancelled or expired today"), "", {**since, "status": CALLED_OFF}),
    ]


def _chart_of_deliveries(rows: Sequence[Mapping[str, Any]], *, since: datetime) -> Chart:
    found = {row["hour"]: row for row in rows}
    rows_of_chart = [(_name(hour), _outcomes(found.get(hour))) for hour in _hours(since)]
    return Chart.of(
        _("Deliveries of the last 24 hours, by the hour of the request"),
        heading=_("Hour"),
        series=[
            Series(npgettext("deliveries", "Delivered", "Delivered", 2), "good"),
            Series(_("Under way"), "info"),
            Series(pgettext("deliveries", "Scheduled"), "warn"),
            Series(npgettext("deliveries", "Not delivered", "Not delivered", 2), "bad"),
            Series(_("Cancelled or expired"), "none"),
        ],
        rows=rows_of_chart,
    )


def _outcomes(row: Mapping[str, Any] | None) -> list[int]:
    """What has become of the requests of an hour, in the order of the chart's series."""
    if row is None:
        return [0] * 5
    delivered, scheduled, failed, called_off = (
        row[name] for name in ("delivered", "scheduled", "failed", "called_off")
    )
    under_way = row["requested"] - delivered - scheduled - failed - called_off
    return [delivered, under_way, scheduled, failed, called_off]


def _first_hour(at: datetime) -> datetime:
    return timezone.localtime(at).replace(minute=0, second=0, microsecond=0) - (_HOURS - 1) * _HOUR


def _hours(since: datetime) -> list[datetime]:
    return [since + number * _HOUR for number in range(_HOURS)]


def _name(hour: datetime) -> str:
    """The hour as the axis shows it."""
    return f"{timezone.localtime(hour):%H:%M}"


class Updates(AccountView):
    """A stream of what changes (`config.server.page_streams`): the account's deliveries and webhooks."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return stream(request, *self.topics, user=str(request.user.pk))


class Activity(AccountView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        entries = AuditEntry.objects.filter(integrator=self.account, environment=self.environment)
        return self.page("panel/activity.html", **listed(ActivityFilter, request.GET, entries))

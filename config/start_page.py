"""The admin's first page: what needs somebody, each line with a link to where it is dealt with. Unfold calls `context`.

Every query but one reads a small table or the routes in progress, whatever the number of deliveries is. That of the
plot reads the index entries of two weeks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDay
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from common import clock
from common.brazil.formats import age
from common.pages.plots import Chart, Series
from common.webhooks.models import Endpoint
from delivery.lifecycle import RouteStatus
from delivery.models import (
    Delivery,
    Environment,
    Integrator,
    OffBecause,
    RefusedDeliveryCallCount,
    TariffChange,
    Token,
    WebhookEndpoint,
)
from integration.models import FreightParametersChange, FreightPriceChange, RefusedSellerCallCount, Seller
from integration.models import WebhookEndpoint as EndpointOfSeller

_MOST_LINES = 6
_DAYS = 14
_NEW_SINCE = timedelta(days=14)
_SILENT_SINCE = timedelta(days=7)
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Line:
    """Something to look at: whose or what it is, what about it, and where one acts."""

    name: str
    fact: str
    url: str
    is_grave: bool = False


@dataclass(frozen=True)
class Section:
    """What was found, under a title. The first lines are shown; all are at `all_url`.

    With `has_figures` the facts are numbers, which are shown large.
    """

    title: str
    found: list[Line]
    empty: str
    all_url: str
    has_figures: bool = False

    @property
    def lines(self) -> list[Line]:
        return self.found[:_MOST_LINES]

    @property
    def has_more(self) -> bool:
        return len(self.found) > _MOST_LINES


def context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The admin's context with the sections that this user may see."""
    now, user = clock.now(), request.user
    sections = []
    if user.has_perm("delivery.dispatch_delivery"):
        sections.append(_routes(at=now))
    if user.has_perm("delivery.change_integrator"):
        sections += [_endpoints(at=now), _without_url(at=now), _refused_calls(at=now)]
        sections += [_price_changes(at=now), _new_accounts(at=now), _silent_accounts(at=now)]
    has_volume = user.has_perm("delivery.view_delivery")
    in_order = [section for section in sections if not section.found]
    return {**context, "sections": sections, "in_order": in_order, "volume": _volume(at=now) if has_volume else None}


def _routes(*, at: datetime) -> Section:
    board = reverse("panel:board")
    in_progress = Delivery.objects.in_progress(Environment.LIVE)
    counts = in_progress.aggregate(
        waiting=Count("pk", filter=Q(route_status=RouteStatus.AVAILABLE)),
        held=Count("pk", filter=~Q(route_status=RouteStatus.AVAILABLE)),
    )
    late = Delivery.objects.late(Environment.LIVE, at=at).count()
    lines = [
        Line(_("Late"), str(late), f"{board}?tab=late", is_grave=late > 0),
        Line(_("Waiting for a driver"), str(counts["waiting"]), f"{board}?tab=waiting"),
        Line(_("With a driver"), str(counts["held"]), board),
    ]
    return Section(_("Routes now"), lines, empty="", all_url=board, has_figures=True)


def _endpoints(*, at: datetime) -> Section:
    """Those of accounts, then those of sellers, that are off or failing, the longest first.

    Switched off by hand: on purpose, so left out.
    """
    lines = []
    for endpoint in chain(*(_failing(model)[: _MOST_LINES + 1] for model in (WebhookEndpoint, EndpointOfSeller))):
        fact = str(endpoint.get_off_because_display())
        if endpoint.enabled and not endpoint.failures:
            fact = _("events are retried")
        elif endpoint.enabled:
            since = age(endpoint.failing_since or at, at=at)
            fact = _("%(count)s failures in a row, the first %(age)s") % {"count": endpoint.failures, "age": since}
        page = "panel:webhook" if isinstance(endpoint, WebhookEndpoint) else "panel:seller_webhook"
        url = reverse(page, args=endpoint.url_arguments)
        lines.append(Line(str(endpoint), fact, url, is_grave=endpoint.environment == Environment.LIVE))
    listed = reverse("admin:delivery_webhookendpoint_changelist")
    return Section(_("Failing webhooks"), lines, empty=_("Every webhook endpoint answers."), all_url=listed)


def _failing(model: type[Endpoint]) -> QuerySet[Any]:
    endpoints: Any = model._default_manager
    found: QuerySet[Any] = (
        endpoints.exclude(url="")
        .filter(Q(enabled=False) | Q(pk__in=endpoints.all().failing().order_by().values("pk")))
        .exclude(off_because=OffBecause.STAFF)
        .select_related(model.OWNER)
        .order_by(F("failing_since").asc(nulls_last=True), "pk")
    )
    return found


def _without_url(*, at: datetime) -> Section:
    """Live endpoints of accounts that could call: what happens to their deliveries is sent to nobody."""
    can_call = Token.objects.valid(at=at).filter(integrator=OuterRef("integrator"), environment=Environment.LIVE)
    found = (
        WebhookEndpoint.objects.first_ones()
        .filter(Exists(can_call), url="", environment=Environment.LIVE)
        .filter(integrator__suspended_at=None)
        .select_related("integrator")
        .order_by("integrator__name")[: _MOST_LINES + 1]
    )
    lines = [
        Line(each.integrator.name, _("no URL"), reverse("panel:webhook", args=[each.integrator_id, each.environment]))
        for each in found
    ]
    listed = reverse("admin:delivery_webhookendpoint_changelist")
    return Section(_("Webhooks without a URL"), lines, empty=_("Every account with a token has one."), all_url=listed)


def _refused_calls(*, at: datetime) -> Section:
    """The accounts and sellers with most refused calls in 24 hours."""
    of_deliveries = RefusedDeliveryCallCount.objects.filter(hour__gte=at - _DAY, environment=Environment.LIVE)
    of_orders = RefusedSellerCallCount.objects.filter(hour__gte=at - _DAY, environment=Environment.LIVE)
    found = [
        (count, name, reverse("panel:refused_calls", args=[pk, Environment.LIVE]))
        for pk, name, count in _most(of_deliveries, "integrator")
    ]
    found += [
        (count, name, reverse("panel:seller_refused_calls", args=[pk, Environment.LIVE]))
        for pk, name, count in _most(of_orders, "seller")
    ]
    lines = [Line(name, str(count), url) for count, name, url in sorted(found, reverse=True)]
    return Section(
        _("Refused calls in 24 hours"), lines, empty=_("No call was refused."), all_url=reverse("panel:home")
    )


def _most(counts: QuerySet[Any], account: str) -> Iterable[tuple[Any, str, int]]:
    """Id, name and number of refused calls of the accounts with most of them."""
    named = counts.order_by().values_list(account, f"{account}__name")
    totals = named.annotate(total=Sum("refused")).filter(total__gt=0)
    most: Iterable[tuple[Any, str, int]] = totals.order_by("-total")[: _MOST_LINES + 1]
    return most


def _price_changes(*, at: datetime) -> Section:
    today = clock.midnight(at)
    counts = [
        (_("Delivery tariffs"), TariffChange, "admin:delivery_tariffchange_changelist"),
        (_("Freight table"), FreightPriceChange, "admin:integration_freightpricechange_changelist"),
        (_("Freight parameters"), FreightParametersChange, "admin:integration_freightparameterschange_changelist"),
    ]
    by_migrations = Q(pgh_label="added", pgh_context__isnull=True)
    lines = [
        Line(name, str(count), reverse(url))
        for name, model, url in counts
        if (count := model.objects.filter(~by_migrations, pgh_created_at__gte=today).count())
    ]
    return Section(_("Prices changed today"), lines, empty=_("None."), all_url="")


def _new_accounts(*, at: datetime) -> Section:
    found = []
    for model, page, arguments in (
        (Integrator, "panel:setup", [Environment.SANDBOX]),
        (Seller, "panel:seller_sheet", [Environment.SANDBOX]),
    ):
        new = model.objects.filter(created_at__gte=at - _NEW_SINCE).order_by("-created_at")[: _MOST_LINES + 1]
        found += [(each.created_at, each.name, reverse(page, args=[each.pk, *arguments])) for each in new]
    lines = []
    for since, name, url in sorted(found, reverse=True):
        is_today = timezone.localdate(since) == timezone.localdate(at)
        lines.append(Line(name, _("today") if is_today else age(since, at=at), url))
    return Section(_("New accounts"), lines, empty=_("None in the last two weeks."), all_url=reverse("panel:home"))


def _silent_accounts(*, at: datetime) -> Section:
    """Accounts that have called and do not any more, those first that have been silent for the shortest time.

    Read from the last use of their live tokens and keys: the latest delivery of each account would take a look-up each,
    for which PostgreSQL may walk the index of all accounts' deliveries.
    """
    of_live_tokens = Max("tokens__last_used_at", filter=Q(tokens__environment=Environment.LIVE))
    of_live_keys = Max("keys__last_used_at", filter=Q(keys__environment=Environment.LIVE))
    found = []
    for model, latest_use, page, arguments in (
        (Integrator, of_live_tokens, "panel:overview", [Environment.LIVE]),
        (Seller, of_live_keys, "panel:seller", [Environment.LIVE]),
    ):
        accounts = model.objects.annotate(latest=latest_use).filter(suspended_at=None, latest__lt=at - _SILENT_SINCE)
        silent = accounts.order_by("-latest")[: _MOST_LINES + 1]
        found += [(each.latest, each.name, reverse(page, args=[each.pk, *arguments])) for each in silent]
    lines = [
        Line(name, _("the last call %(age)s") % {"age": age(latest, at=at)}, url)
        for latest, name, url in sorted(found, reverse=True)
    ]
    return Section(
        _("Silent for a week"),
        lines,
        empty=_("Every account that has called still does."),
        all_url=reverse("panel:home"),
    )


def _volume(*, at: datetime) -> Chart:
    since = clock.midnight(at) - timedelta(days=_DAYS - 1)
    rows = (
        Delivery.objects.filter(environment=Environment.LIVE, created_at__gte=since)
        .order_by()
        .annotate(day=TruncDay("created_at"))
        .values_list("day")
        .annotate(count=Count("*"))
    )
    counts = {timezone.localtime(day).date(): count for day, count in rows}
    today = timezone.localdate(at)
    days = [today - timedelta(days=number) for number in reversed(range(_DAYS))]
    day_format = pgettext("format of a day without its year", "j M")
    return Chart.of(
        _("Live deliveries by day"),
        heading=_("Day"),
        series=[Series(_("Deliveries"), "good")],
        rows=[(date_format(day, day_format), [counts.get(day, 0)]) for day in days],
    )

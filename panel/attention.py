"""Notices of an account's overview: what needs attention, with a link to the page where it can be solved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, Sum
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.webhooks.models import FAILING, Endpoint, EventState
from common.webhooks.outbox import outbox_of
from delivery.lifecycle import RouteStatus
from delivery.models import (
    Delivery,
    Integrator,
    RefusedDeliveryCallCount,
    WebhookEndpoint,
)
from delivery.models.delivery import OFFERED_AT
from panel.filters import LATE

_LONG_WAIT = timedelta(minutes=10)
_DEAD_EVENTS_SINCE = timedelta(days=7)
_REFUSED_SINCE = timedelta(hours=24)


@dataclass(frozen=True)
class Notice:
    """`page` is the URL name of a page of the panel, `query` its query string.

    `number` is that of the endpoint which the page is about, `is_grave` means that calls are refused or events not sent
    now.
    """

    text: str
    page: str
    link: str
    query: str = ""
    is_grave: bool = False
    number: int = 1


@dataclass(frozen=True)
class Step:
    """What a new account has to do first. `address`: of the page where it is done, or told."""

    text: str
    address: str
    link: str
    is_done: bool = False


def first_steps(account: Integrator, environment: str, endpoint: WebhookEndpoint, *, at: datetime) -> list[Step]:
    """The steps until the first delivery; empty once there is one, and while the account is suspended."""
    if account.suspended_at is not None or Delivery.objects.within(account, environment).exists():
        return []
    has_token = account.tokens.filter(environment=environment).valid(at=at).exists()
    tokens, webhook = (reverse(f"panel:{page}", args=[account.pk, environment]) for page in ("tokens", "webhook"))
    connect = reverse("panel:connections", args=[account.pk, environment])
    without_program = Step(
        _("Without a program: connect a shop of WooCommerce, Shopify or Yampi"),
        connect,
        _("Connect a shop"),
        is_done=is_connected(account, environment),
    )
    if without_program.is_done:
        orders = reverse("panel:drafts", args=[account.pk, environment])
        return [without_program, Step(_("Request the first delivery"), orders, _("Orders of the shop"))]
    return [
        without_program,
        Step(_("With a program: issue a token, which every call carries"), tokens, _("Issue a token"), has_token),
        Step(_("Set the webhook URL, to be told of every change"), webhook, _("Set the URL"), bool(endpoint.url)),
        Step(_("Request the first delivery"), reverse("documentation:page", args=["quickstart"]), _("Quickstart")),
    ]


def is_connected(account: Integrator, environment: str) -> bool:
    """Whether a shop of the account is connected."""
    return account.connections.filter(environment=environment, removed_at=None).exists()


def notices(
    account: Integrator, environment: str, endpoints: Sequence[WebhookEndpoint], *, at: datetime
) -> list[Notice]:
    """The notices that apply at `at`, the grave ones first. A suspended account is asked for nothing it cannot do."""
    found = [
        *of_webhooks(endpoints, at=at),
        *_of_deliveries(account, environment, at=at),
        *_of_calls(account, environment, at=at),
        *(_of_set_up(account, environment, endpoints[0], at=at) if account.suspended_at is None else []),
    ]
    return sorted(found, key=lambda notice: not notice.is_grave)


def of_webhooks(endpoints: Sequence[Endpoint], *, at: datetime) -> list[Notice]:
    all_events: Any = outbox_of(type(endpoints[0])).events._default_manager
    recent = all_events.filter(endpoint__in=endpoints, created_at__gte=at - _DEAD_EVENTS_SINCE)
    failing = _counts(recent.in_state(FAILING))
    dead = _counts(recent.in_state(EventState.DEAD))
    return [
        replace(notice, text=_named(endpoint, notice.text), number=endpoint.number or 1)
        for endpoint in endpoints
        for notice in _of_webhook(endpoint, failing.get(endpoint.pk, 0), dead.get(endpoint.pk, 0))
    ]


def _counts(events: Any) -> dict[int, int]:
    """How many there are, by endpoint."""
    return dict(events.order_by().values_list("endpoint").annotate(Count("pk")))


def _named(endpoint: Endpoint, text: str) -> str:
    """The text of a notice, which names a further endpoint."""
    return text if endpoint.number == 1 else f"{endpoint.host}: {text}"


def _of_webhook(endpoint: Endpoint, failing: int, dead: int) -> list[Notice]:
    """`failing` and `dead`: how many of its events of the last days are in that state."""
    found = []
    if endpoint.url and not endpoint.enabled:
        text = _("Webhooks are off. Events are kept, and sent when you resume.")
        found.append(Notice(text, "webhook", _("Look and resume"), is_grave=True))
    elif endpoint.url and endpoint.breaker_state.is_open:
        text = _("The webhook failed %(count)s times in a row; it is tried again by itself.") % {
            "count": endpoint.failures
        }
        found.append(Notice(text, "webhook", _("See why"), is_grave=True))
    if failing and not found:
        text = ngettext(
            "%(count)s event failed at its last attempt; it is tried again by itself.",
            "%(count)s events failed at their last attempts; they are tried again by themselves.",
            failing,
        ) % {"count": failing}
        found.append(Notice(text, "events", _("See why"), "?state=failing"))
    if dead:
        text = ngettext(
            "%(count)s event of the last seven days failed and is not retried any more.",
            "%(count)s events of the last seven days failed and are not retried any more.",
            dead,
        ) % {"count": dead}
        found.append(Notice(text, "events", _("See and recover"), "?state=dead", is_grave=True))
    return found


def _of_deliveries(account: Integrator, environment: str, *, at: datetime) -> list[Notice]:
    deliveries = Delivery.objects.within(account, environment)
    found = []
    if late := deliveries.overdue(at=at).count():
        text = ngettext("%(count)s delivery is late.", "%(count)s deliveries are late.", late) % {"count": late}
        found.append(Notice(text, "deliveries", _("See them"), f"?status={LATE}", is_grave=True))
    offered = deliveries.filter(route_status=RouteStatus.AVAILABLE, offer_expires_at__gt=at)
    waiting = offered.alias(offered=OFFERED_AT).filter(offered__lte=at - _LONG_WAIT).count()
    if waiting:
        text = ngettext(
            "%(count)s delivery has been waiting for a driver for more than ten minutes.",
            "%(count)s deliveries have been waiting for a driver for more than ten minutes.",
            waiting,
        ) % {"count": waiting}
        found.append(Notice(text, "deliveries", _("See them"), "?status=PENDING"))
    return found


def _of_calls(account: Integrator, environment: str, *, at: datetime) -> list[Notice]:
    counts = RefusedDeliveryCallCount.objects.filter(
        integrator=account, environment=environment, hour__gte=at - _REFUSED_SINCE
    )
    refused = counts.aggregate(total=Sum("refused"))["total"]
    if not refused:
        return []
    text = ngettext(
        "%(count)s call of the last 24 hours was refused.",
        "%(count)s calls of the last 24 hours were refused.",
        refused,
    ) % {"count": refused}
    return [Notice(text, "refused_calls", _("See why"))]


def _of_set_up(account: Integrator, environment: str, endpoint: WebhookEndpoint, *, at: datetime) -> list[Notice]:
    """An account without a token whose shop is connected calls nothing, and misses neither token nor URL."""
    found = []
    tokens = account.tokens.filter(environment=environment).valid(at=at)
    has_token = tokens.exists()
    calls = has_token or not is_connected(account, environment)
    if calls and not endpoint.url:
        found.append(Notice(_("No webhook URL is set, so no events are sent."), "webhook", _("Set the URL")))
    if calls and not has_token:
        found.append(Notice(_("No valid token: every call is refused."), "tokens", _("Issue a token"), is_grave=True))
    elif has_token and not tokens.filter(Q(expires_at=None) | Q(expires_at__gt=at + timedelta(days=1))).exists():
        text = _("Every token ends within a day.")
        found.append(Notice(text, "tokens", _("Issue a token"), is_grave=True))
    if not account.allow_any_pickup and not account.pickup_points.active().exists():
        text = _("The account has no pickup point in use, so requests are refused.")
        found.append(Notice(text, "pickup_points", _("Pickup points")))
    return found

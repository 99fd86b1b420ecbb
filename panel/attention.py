"""Notices of an account's overview: what needs attention, with a link to the page where it can be solved."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, EventState, Integrator, WebhookEndpoint, WebhookEvent

_LONG_WAIT = timedelta(minutes=10)
_DEAD_EVENTS_SINCE = timedelta(days=7)


@dataclass(frozen=True)
class Notice:
    """`page` is the URL name of a page of the panel, `query` its query string.

    `is_grave` means that calls are refused or events not sent now.
    """

    text: str
    page: str
    link: str
    query: str = ""
    is_grave: bool = False


def notices(account: Integrator, environment: str, endpoint: WebhookEndpoint, *, at: datetime) -> list[Notice]:
    """The notices that apply at `at`, the grave ones first."""
    found = [
        *_of_webhooks(endpoint, at=at),
        *_of_deliveries(account, environment, at=at),
        *_of_set_up(account, environment, at=at),
    ]
    return sorted(found, key=lambda notice: not notice.is_grave)


def _of_webhooks(endpoint: WebhookEndpoint, *, at: datetime) -> list[Notice]:
    found = []
    if not endpoint.url:
        found.append(Notice(_("No webhook URL is set, so no events are sent."), "webhook", _("Set the URL")))
    elif not endpoint.enabled:
        text = _("Webhooks are off: %(why)s. Events are kept and sent when you resume.") % {
            "why": endpoint.get_off_because_display()
        }
        found.append(Notice(text, "webhook", _("Look and resume"), is_grave=True))
    elif endpoint.breaker_state.is_open:
        text = _("The endpoint failed %(count)s times in a row; it is tried again by itself.") % {
            "count": endpoint.failures
        }
        found.append(Notice(text, "webhook", _("See why"), is_grave=True))
    recent = WebhookEvent.objects.filter(endpoint=endpoint, created_at__gte=at - _DEAD_EVENTS_SINCE)
    given_up = recent.filter(WebhookEvent.in_state(EventState.DEAD)).count()
    if given_up:
        text = ngettext(
            "%(count)s event of the last seven days was given up.",
            "%(count)s events of the last seven days were given up.",
            given_up,
        ) % {"count": given_up}
        found.append(Notice(text, "events", _("Send again"), "?state=dead", is_grave=True))
    return found


def _of_deliveries(account: Integrator, environment: str, *, at: datetime) -> list[Notice]:
    waiting = (
        Delivery.objects.within(account, environment)
        .filter(route_status=RouteStatus.AVAILABLE, created_at__lte=at - _LONG_WAIT, offer_expires_at__gt=at)
        .count()
    )
    if not waiting:
        return []
    text = ngettext(
        "%(count)s delivery has been waiting for a driver for more than ten minutes.",
        "%(count)s deliveries have been waiting for a driver for more than ten minutes.",
        waiting,
    ) % {"count": waiting}
    return [Notice(text, "deliveries", _("See them"), "?status=PENDING")]


def _of_set_up(account: Integrator, environment: str, *, at: datetime) -> list[Notice]:
    found = []
    tokens = account.tokens.filter(environment=environment).valid(at=at)
    if not tokens.exists():
        found.append(Notice(_("No valid token: every call is refused."), "tokens", _("Issue a token"), is_grave=True))
    elif not tokens.filter(Q(expires_at=None) | Q(expires_at__gt=at + timedelta(days=1))).exists():
        text = _("Every token ends within a day.")
        found.append(Notice(text, "tokens", _("Issue a token"), is_grave=True))
    if not account.allow_any_pickup and not account.pickup_points.active().exists():
        text = _(
            "The account has no pickup point, so requests are refused. Ask an administrator of this service to add one."
        )
        found.append(Notice(text, "quickstart", _("What a request needs")))
    return found

"""Template tags and filters of the panel."""

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.template.defaultfilters import date, floatformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, npgettext
from django.utils.translation import gettext_lazy as _

from delivery import simulator
from delivery.lifecycle import RouteStatus, Status, Trigger
from delivery.models import EventState

register = template.Library()

_OF_SIMULATOR = {simulator.DRIVER_NAME, simulator.FAILURE_REASON}

# Text and colour of each status.
_BADGES: dict[str, tuple[Any, str]] = {
    Status.PENDING: (_("Waiting for a driver"), "warn"),
    Status.ACCEPT: (_("Driver assigned"), "info"),
    Status.COLLECTED: (_("In transit"), "info"),
    Status.DELIVERED: (_("Delivered"), "good"),
    Status.FAILED: (_("Failed"), "bad"),
    RouteStatus.AVAILABLE: (_("Offered"), "warn"),
    RouteStatus.ACCEPTED: (_("On the way to A"), "info"),
    RouteStatus.RETURNING: (_("Returning to A"), "warn"),
    RouteStatus.FINISHED: (_("Finished"), "good"),
    RouteStatus.CANCELLED: (_("Cancelled"), "bad"),
    RouteStatus.EXPIRED: (_("Offer expired"), "bad"),
    EventState.PENDING: (_("Waiting"), "warn"),
    EventState.SENT: (_("Received"), "good"),
    EventState.DEAD: (_("Failed, no more retries"), "bad"),
    EventState.UNADDRESSED: (_("No URL was set"), ""),
}


@register.filter
def status_name(value: str) -> Any:
    """The text for a status in the reader's language; an unknown status itself."""
    return _BADGES.get(value, (value, ""))[0]


_TRIGGERS: dict[str, Any] = {
    "request": _("Requested"),
    Trigger.ACCEPT: _("Accepted by a driver"),
    Trigger.COLLECT: _("Collected at A"),
    Trigger.DELIVER: _("Delivered at"),
    Trigger.FAIL: _("Failed at"),
    Trigger.RETURN: _("Returned to A"),
    Trigger.CANCEL: _("Cancelled"),
    Trigger.EXPIRE: _("Offer expired"),
}


@register.filter
def trigger_name(value: str) -> Any:
    """The text for the trigger of a transition."""
    return _TRIGGERS.get(value, value)


_ERRORS: dict[str, Any] = {
    "timeout": _("Your server did not answer within 15 seconds. Answer first and process the event afterwards."),
    "dns": _("The host name could not be resolved. Check its spelling."),
    "tls": _("The TLS certificate is not valid: it is expired, self-signed or issued for another host."),
    "connect": _("The connection was refused or timed out."),
    "invalid_url": _("The URL cannot be used."),
    "protocol": _("The connection was interrupted, or the response was not valid HTTP."),
    "address_refused": _("The host name resolves to an address that is not on the public internet."),
    "internal": _("An error occurred on our side and was logged."),
}


@register.filter
def error_name(value: str) -> Any:
    """What the error class of an attempt means, and what to do about it."""
    return _ERRORS.get(value, value)


@register.filter
def moment(value: datetime | None) -> str:
    """A moment in the service's time zone, to the second; empty for None."""
    if value is None:
        return ""
    local = timezone.localtime(value)
    return f"{date(local, 'SHORT_DATE_FORMAT')} {date(local, 'H:i:s')}"


@register.filter
def text_of_simulator(value: str) -> str:
    """A driver's name or the reason of a failure: in the reader's language if the simulator has written it."""
    return gettext(value) if value in _OF_SIMULATOR else value


@register.filter
def tile_name(status: str, count: int) -> str:
    """The text below the number of deliveries with this status."""
    texts = {
        Status.DELIVERED: npgettext("deliveries", "Delivered", "Delivered", count),
        Status.FAILED: npgettext("deliveries", "Failed", "Failed", count),
    }
    return texts.get(Status(status)) or str(status_name(status))


@register.filter
def actor_name(value: str) -> str:
    """The actor without the prefix `user `."""
    return value.removeprefix("user ")


@register.filter
def badge(value: str, words: str = "") -> SafeString:
    """A status as a badge, with the API's code as its title. `words`: instead of the status' own."""
    name, colour = _BADGES.get(value, (value, ""))
    return format_html('<span class="badge {}" title="{}">{}</span>', colour, value, words or name)


@register.filter
def money(value: Decimal) -> str:
    """An amount in reais, in the notation of the reader's language."""
    return f"R$ {floatformat(value, '2g')}"


@register.filter
def pretty(value: str) -> str:
    """A JSON text, indented."""
    return json.dumps(json.loads(value), indent=2, ensure_ascii=False)


@register.inclusion_tag("panel/menu_entry.html", takes_context=True)
def menu_entry(context: template.Context, name: str, text: str) -> dict[str, Any]:
    """An entry of an account's menu. It is current on its page and on the pages below it."""
    url = reverse(f"panel:{name}", args=[context["account"].pk, context["environment"]])
    path = context["request"].path
    is_current = path == url if name == "overview" else path.startswith(url)
    return {"url": url, "text": text, "icon": f"panel/icons/{name}.svg", "is_current": is_current}


@register.simple_tag(takes_context=True)
def with_query(context: template.Context, **changes: Any) -> str:
    """The page's own query string with these keys changed; None takes one out."""
    query = context["request"].GET.copy()
    for key, value in changes.items():
        query.pop(key, None)
        if value is not None:
            query[key] = str(value)
    return f"?{query.urlencode()}"

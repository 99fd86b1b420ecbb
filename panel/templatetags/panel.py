"""Template tags and filters of the panel."""

import json
import re
from datetime import datetime
from typing import Any

from django import template
from django.contrib import admin
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from access import teams
from access.middleware import is_held
from access.rights import Account, live_or_sandbox, only_one
from common import clock
from common.accounts import Role
from common.actors import actor_name
from common.brazil import formats, phones, zones
from common.columns import State
from common.fields import composed, folded
from common.http_requests import browser_name
from common.shops.drafts import Reason, Result
from common.shops.models import ShopReception
from common.shops.words import LOOKS, REASONS, RESULTS
from common.webhooks.models import STATE_COLOURS, STATE_NAMES
from delivery import columns, words
from delivery.alerts.chats import SERVICES
from delivery.connections.words import missing
from delivery.models import AuditAction, AuditEntry, Delivery, Integrator, Stop, Transition
from delivery.windows import Window
from delivery.words import text_of_simulator
from panel.pages import BY_NAME, Menu, entries_for, entry_of, page_of, tabs_of
from panel.refusal_reasons import reason

register = template.Library()

for _filter in (
    actor_name, browser_name, formats.ago, formats.ahead, formats.day_and_month, formats.document, formats.duration,
    formats.moment, formats.moment_in, formats.money, formats.postcode, formats.short_id, reason, text_of_simulator,
):  # fmt: skip  # a list
    register.filter(_filter)

# Text and colour of each status.
_BADGES: dict[str, tuple[Any, str]] = {
    code: (name, {**words.COLOURS, **STATE_COLOURS}[code])
    for code, name in {**words.ROUTE_STATUSES, **words.STATUSES, **STATE_NAMES}.items()
}


@register.filter
def status_name(value: str) -> Any:
    """The text for a status in the reader's language; an unknown status itself."""
    return _BADGES.get(value, (value, ""))[0]


@register.filter
def missing_text(code: str) -> str:
    """Why an order of a shop cannot be requested."""
    return missing(code)


@register.filter
def result_name(reception: ShopReception) -> Any:
    """What has become of an order that a shop has posted."""
    return RESULTS[Result(reception.result)]


@register.filter
def result_look(reception: ShopReception) -> str:
    return LOOKS.get(Result(reception.result), "")


@register.filter
def reason_name(reception: ShopReception) -> Any:
    """Why an order that a shop has posted was ignored or refused."""
    return REASONS.get(Reason(reception.reason), "")


@register.filter
def window(value: Window) -> str:
    """From when and until when, such as `14:00 to 14:30`, with the days where they are not today."""
    return formats.window(value.ready_at, value.deadline_at, at=clock.now())


@register.filter
def charge_name(value: str) -> Any:
    """What an account owes an amount for, in the reader's language."""
    return words.CHARGES[value]


@register.filter
def change_name(change: Transition, mode: str) -> str:
    """What a change of a delivery in this mode is called, with its point."""
    return words.change(change.trigger, change.point, mode)


# Of a further endpoint, see `endpoints.audit_subject`. Subjects have at most 2000 characters.
_OF_ENDPOINT = re.compile(r"#([2-9]) ?(.*)", re.DOTALL)
_WITH_ROLE = {AuditAction.ROLE_CHANGED, AuditAction.PERSON_INVITED, AuditAction.PERSON_JOINED}
_ERRORS: dict[str, Any] = {
    "timeout": _("Your server did not answer within 15 seconds. Answer first and process the event afterwards."),
    "dns": _("The host name could not be resolved. Check its spelling."),
    "tls": _("The TLS certificate is not valid: it is expired, self-signed or issued for another host."),
    "connect": _("The connection was refused or timed out."),
    "invalid_url": _("The URL cannot be used."),
    "protocol": _("The connection was interrupted, or the response was not valid HTTP."),
    "unread": _("The rest of the answer could not be read as HTTP, or did not arrive in time. Its status counts."),
    "address_refused": _("The host name resolves to an address that is not on the public internet."),
    "internal": _("An error occurred on our side and was logged."),
    **{f"taken by {name}": format_lazy(_("taken by {service}"), service=name) for name in SERVICES},
    **{f"not taken by {name}": format_lazy(_("not taken by {service}"), service=name) for name in SERVICES},
}


@register.filter
def error_name(value: str) -> Any:
    """What the error class of an attempt means, and what to do about it."""
    return _ERRORS.get(value, value)


@register.simple_tag
def zone_note() -> SafeString | str:
    """Whose time a page or a card tells, where that is not the installation's."""
    name = zones.name(timezone.get_current_timezone(), at=clock.now())
    text = gettext("Times: %(zone)s") % {"zone": name}
    return format_html('<p class="soft small no-print">{}</p>', text) if name else ""


@register.simple_tag
def by_clocks() -> str:
    """In which zone moments are read that are typed."""
    return zones.by_clocks()


@register.simple_tag
def zone_of_frame() -> str:
    """Whose time pages tell that do not say so."""
    return gettext("Times of %(city)s unless another place is named") % {
        "city": zones.city(timezone.get_default_timezone())
    }


@register.simple_tag
def zone_name(place: zones.Place) -> SafeString | str:
    """Whose time the moments of a row are, behind them, where that is not the installation's."""
    name = zones.name(place.zone, at=clock.now())
    return format_html(' <span class="soft small">({})</span>', name) if name else ""


@register.filter
def time_of_day(value: datetime) -> str:
    """Hours, minutes and seconds in the active time zone, below a heading with the day."""
    return f"{timezone.localtime(value):%H:%M:%S}"


@register.filter
def audit_details(entry: AuditEntry) -> str:
    """What an entry of the audit trail is about, in the reader's words; texts such as URLs and names as they are."""
    number, text = 0, entry.subject
    if match := _OF_ENDPOINT.fullmatch(text):
        number, text = int(match[1]), match[2]
    if entry.action in _WITH_ROLE:
        name, _colon, role = text.rpartition(": ")
        text = f"{name} · {dict(Role.choices).get(role, role)}"
    elif entry.action == AuditAction.FILTER_SET:
        all_changes = gettext("All changes")
        text = all_changes if text == "*" else ", ".join(str(status_name(each)) for each in text.split())
    elif entry.action == AuditAction.EVENTS_REPLAYED and text.isdecimal():
        text = ngettext("%(count)s event", "%(count)s events", int(text)) % {"count": text}
    if not number:
        return text
    place = gettext("Endpoint %(number)s") % {"number": number}
    return f"{place} · {text}" if text else place


@register.filter
def calling(value: str) -> str:
    """An address that calls a telephone number; empty where the text does not tell one."""
    return phones.read(value).call


@register.filter
def in_fours(value: str) -> SafeString:
    """A long key in groups of four characters. Only the style sets them apart, so that it is copied without blanks."""
    groups = [value[start : start + 4] for start in range(0, len(value), 4)]
    return format_html(
        '<span class="fours">{}</span>', format_html_join("", "<span>{}</span>", [[each] for each in groups])
    )


@register.filter
def coordinate(value: float) -> str:
    """Decimal degrees to about a metre, with a point in every language, as maps take them."""
    return f"{value:.5f}"


@register.filter
def order_names(delivery: Delivery, most: int | None = None) -> str:
    """What people call a delivery, with the names of at most so many orders; its short id if it has none."""
    return delivery.order_names(most) or formats.short_id(delivery.pk)


@register.filter
def first_line(place: Delivery | Stop) -> str:
    """Street and number with the district, or the coordinates of a place without an address."""
    texts: dict[str, Any] = place.address
    street = ", ".join(texts[name] for name in ("street", "number") if texts.get(name))
    if not street:
        return f"{coordinate(place.latitude)}, {coordinate(place.longitude)}"
    return " · ".join(part for part in (street, texts.get("district", "")) if part)


@register.filter
def tel(value: str) -> SafeString | str:
    """A telephone number as a link that calls it, or as it is where the text does not tell one."""
    phone = phones.read(value)
    return format_html('<a class="nowrap" href="{}">{}</a>', phone.call, phone.shown) if phone.call else phone.shown


@register.filter
def badge(value: str, words: str = "") -> SafeString:
    """A status as a badge, with the API's code as its title. `words`: instead of the status' own."""
    name, colour = _BADGES.get(value, (value, ""))
    return badge_of(State(words or name, value, colour))


@register.filter
def state_badge(delivery: Delivery) -> SafeString:
    """The status of the whole as a badge."""
    return badge_of(columns.state(delivery))


def badge_of(state: State) -> SafeString:
    """A status as a badge, with the API's code as its title."""
    return format_html('<span class="badge {}" title="{}">{}</span>', state.colour, state.code, state.name)


@register.filter
def marked(text: str, wanted: str) -> SafeString | str:
    """The text with each place marked at which it has what was looked for, whatever its case and accents."""
    text = composed(text)
    plain, part = folded(text), folded(wanted.strip())
    if not part or len(plain) != len(text):
        return text
    shown, at = SafeString(""), 0
    while (found := plain.find(part, at)) >= 0:
        end = found + len(part)
        shown += format_html("{}<mark>{}</mark>", text[at:found], text[found:end])
        at = end
    return shown + format_html("{}", text[at:])


@register.filter
def pretty(value: str) -> str:
    """A JSON text, indented."""
    return json.dumps(json.loads(value), indent=2, ensure_ascii=False)


@register.simple_tag(takes_context=True)
def menus(context: template.Context) -> dict[str, Any]:
    """The parts of the menu by their names, with the entries that the reader sees, each with its address.

    Pages of no account or seller have the entries of the only one that the reader sees. `current`: the page to be
    marked. Nothing for a session that is led to another page first.
    """
    request = context["request"]
    if is_held(request):
        return {}
    owner, environment = _whose(context)
    may_request = bool(context.get("may_request"))
    if not owner and (owner := only_one(request.user)):
        environment = live_or_sandbox(owner)
        may_request = isinstance(owner, Integrator) and teams.may_request(request.user, owner)
    shown = [(entry, entry.address()) for entry in entries_for(request.user)]
    if owner:
        own = entries_for(request.user, owner, may_request=may_request)
        shown += [(entry, entry.address(owner, environment)) for entry in own]
    parts: dict[str, Any] = {menu: [each for each in shown if each[0].page.menu == menu] for menu in Menu}
    match = request.resolver_match
    return {**parts, "current": entry_of(match.view_name) if match else None}


@register.inclusion_tag("panel/tabs.html", takes_context=True)
def tabs(context: template.Context) -> dict[str, Any]:
    """The tabs of the menu's entry, where the page is one of them: of each the name, address, and whether it is it.

    Pages within a tab of *My account* have no link back, and have the tabs as well. A list that is filtered by another
    status than those of its tabs is none of them.
    """
    request = context["request"]
    owner, environment = _whose(context)
    current = page_of(request.resolver_match.view_name) if request.resolver_match else None
    if current and current.within and (root := entry_of(current.name)) and root.menu == Menu.LOG_IN:
        current = BY_NAME[current.within]
    entry = current if current and current.menu else BY_NAME.get(current.tab_of) if current else None
    if entry is None:
        return {"tabs": []}
    found: list[tuple[Any, str, bool]] = []
    for page in tabs_of(entry, request.user, may_request=bool(context.get("may_request"))):
        address, views = page.address(owner, environment), page.views or ((page.tab or page.title, ""),)
        chosen = request.GET.get("status", "") if page.views else ""
        for name, value in views:
            found.append((name, f"{address}?status={value}" if value else address, page == current and value == chosen))
    if beside := BY_NAME.get(entry.beside):
        found.append((beside.title, beside.address(), False))
    return {"title": entry.entry or entry.title, "tabs": found}


def _whose(context: template.Context) -> tuple[Account | None, str]:
    """The account or seller that the page is of, and the environment."""
    owner = context.get("account") or context.get("seller")
    return owner, context["environment"] if owner else ""


@register.inclusion_tag("panel/column.html", takes_context=True)
def column(context: template.Context, field: str, text: str, style: str = "", prefix: str = "") -> dict[str, Any]:
    """The head of a column by which the list of `panel/list.html` can be sorted. A further click reverses the order.

    `field`: of the model; `style`: classes; `prefix`: of its id, where two tables are sorted by fields of one name.
    """
    # Those whose first field it is, without the sign.
    own = [order for order in context["orders"] if order.split(",")[0].removeprefix("-") == field]
    current = context["order"]
    wanted = own[(own.index(current) + 1) % len(own)] if current in own else own[0]
    is_default = wanted == next(iter(context["orders"]))
    direction = ("descending" if current.startswith("-") else "ascending") if current in own else ""
    address = with_query(context, sort=None if is_default else wanted, before=None, page=None)
    return {"field": f"{prefix}{field}", "text": text, "style": style, "direction": direction, "address": address}


@register.simple_tag(takes_context=True)
def without(context: template.Context, name: str) -> str:
    """The page's own query string without a filter, from the first page."""
    more = ("since", "until") if name == "period" else ()
    return with_query(context, **dict.fromkeys((name, *more, "before", "page")))


@register.simple_tag
def admin_list_name(opts: Any) -> str:
    """What the admin's pages call the list of a model. `opts`: those of its ModelAdmin."""
    site: Any = admin.site
    name: str = site.name_of(opts)
    return name


@register.simple_tag(takes_context=True)
def with_query(context: template.Context, **changes: Any) -> str:
    """The page's own query string with these keys changed; None takes one out."""
    query = context["request"].GET.copy()
    for key, value in changes.items():
        query.pop(key, None)
        if value is not None:
            query[key] = str(value)
    return f"?{query.urlencode()}"

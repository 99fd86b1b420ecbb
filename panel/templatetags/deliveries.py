"""Template filters for deliveries and their points."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from common.formats import phone, short_id
from delivery import lifecycle
from delivery.lifecycle import Status
from delivery.models import Delivery, Stop
from panel.templatetags.panel import coordinate, phone_link

register = template.Library()


@register.filter
def order_names(delivery: Delivery) -> str:
    """The externalIds of the drop-offs, by which people know a delivery; its short id if it has none."""
    names = [stop.external_id for stop in delivery.ordered_stops if stop.external_id]
    return ", ".join(names) or short_id(delivery.pk)


@register.filter
def first_line(place: Delivery | Stop) -> str:
    """Street and number with the district, or the coordinates of a place without an address."""
    texts: dict[str, Any] = place.address
    street = ", ".join(texts[name] for name in ("street", "number") if texts.get(name))
    if not street:
        return f"{coordinate(place.latitude)}, {coordinate(place.longitude)}"
    return " · ".join(part for part in (street, texts.get("district", "")) if part)


@register.filter
def not_delivered(delivery: Delivery) -> str:
    """How many drop-offs of a delivery that is still on its way were not delivered; empty if none."""
    failed = sum(stop.status == Status.FAILED for stop in delivery.ordered_stops)
    if not failed or delivery.status not in lifecycle.OPEN:
        return ""
    text = ngettext("%(failed)s of %(total)s not delivered", "%(failed)s of %(total)s not delivered", failed)
    return text % {"failed": failed, "total": len(delivery.ordered_stops)}


@register.filter
def tel(value: str) -> SafeString | str:
    """A telephone number as a link that calls it; empty without one."""
    return format_html('<a class="nowrap" href="tel:{}">{}</a>', phone_link(value), phone(value)) if value else ""

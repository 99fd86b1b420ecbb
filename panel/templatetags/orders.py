"""Template filters of a seller's pages."""

from decimal import Decimal
from typing import Any

from django import template
from django.utils.formats import localize
from django.utils.safestring import SafeString

from common.brazil import formats
from integration import words
from integration.connections.words import missing
from integration.freight.models import SERVICES, ZONES
from panel.templatetags.panel import badge_of

register = template.Library()
for _filter in (formats.centavos, formats.document, formats.postcode):
    register.filter(_filter)
register.filter("order_service", words.service)
register.filter("missing_of_order", missing)


@register.filter
def order_status(value: str) -> SafeString:
    """A status of an order as a badge."""
    return badge_of(words.state(value))


@register.filter
def order_status_name(value: str) -> Any:
    """The name of a status of an order."""
    return words.STATUSES[value]


@register.filter
def as_money(value: Any) -> str:
    """An amount of a JSON column, which may be a text."""
    return formats.money(Decimal(str(value)))


@register.filter
def kilograms(grams: int) -> str:
    """A weight in grams, as `weight`."""
    return weight(Decimal(grams) / 1000)


@register.filter
def weight(kilograms: Decimal) -> str:
    """A weight in the notation of the reader's language."""
    return f"{localize(kilograms.normalize())} kg"


@register.filter
def zone_name(value: str) -> Any:
    """The name of a freight zone."""
    return dict(ZONES).get(value, value)


@register.filter
def freight_service(value: str) -> Any:
    """The name of a freight service."""
    return dict(SERVICES).get(value, value)

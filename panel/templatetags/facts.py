"""What a page tells of its row."""

from typing import Any

from django import template
from django.db.models import Model
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from common.columns import PAGE, Code, State, shown
from delivery.columns import DELIVERY
from delivery.models import Delivery
from integration.columns import INVOICE, ORDER
from integration.invoices.models import Invoice
from integration.models import Order
from panel.templatetags.panel import badge_of

register = template.Library()
_COLUMNS = {Delivery: DELIVERY, Invoice: INVOICE, Order: ORDER}


@register.simple_tag
def facts(row: Model) -> SafeString:
    """The row's columns with a value, as pairs of a definition list."""
    pairs = ((capfirst(column.label), _markup(column.text(row))) for column in shown(_COLUMNS[type(row)], PAGE))
    return format_html_join("", "<dt>{}</dt><dd>{}</dd>", ((label, text) for label, text in pairs if text is not None))


def _markup(value: Any) -> Any:
    match value:
        case State():
            return badge_of(value)
        case Code():
            return format_html("<code>{}</code>", value)
    return value

"""How the admin writes what a delivery consists of, and its statuses with their colours.

Labels contain the status as text too, so no information is by colour alone.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.template.defaultfilters import floatformat
from django.utils.formats import number_format
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, ngettext

from common.admin.base import pill, pill_of
from common.brazil.formats import duration, postcode
from delivery import columns, words
from delivery.models import Delivery, Stop, Transition
from delivery.models.bases import Located


@admin.display(description=gettext_lazy("status"))
def state(delivery: Delivery) -> SafeString:
    """The delivery's status, which names the end of a route too, and that the driver is on the way back."""
    return pill_of(columns.state(delivery))


def lateness(delivery: Delivery, *, at: datetime) -> SafeString | None:
    """By how much the next step of a delivery of `with_due` is late, as the panel tells it; None if it is not."""
    late_by = delivery.lateness(at=at)
    return pill(gettext("%(time)s late") % {"time": duration(late_by)}, "bad") if late_by else None


def stop_state(stop: Stop) -> SafeString:
    """The status of a drop-off, or in mode REVERSE of a pickup."""
    return pill(stop.pickup_status or stop.get_status_display(), words.COLOURS[stop.status], title=stop.status)


@admin.display(description=gettext_lazy("what"))
def change(transition: Transition) -> str:
    """What has happened, and where, as the panel tells it."""
    return words.change(transition.trigger, transition.point, transition.delivery.mode)


# Columns of a `Transition`.
CHANGE = [change, "reason"]


@admin.display(description=gettext_lazy("latitude, longitude"))
def coordinates(place: Located) -> str:
    return f"{place.latitude:.5f}, {place.longitude:.5f}"


def metres(value: float) -> str:
    return f"{number_format(value, 0)} m"


def contents(packages: Iterable[Mapping[str, Any]]) -> SafeString | None:
    """The packages one below the other; None without any."""
    return format_html_join("", "<div>{}</div>", ((_package(package),) for package in packages)) or None


def _package(package: Mapping[str, Any]) -> str:
    """`2 pieces, 40 x 30 x 20 cm, 2.5 kg`, as far as it is known. Each piece has these sides and this weight."""
    count = package.get("quantity") or 1
    sides = [package[name] for name in ("length", "width", "height") if package.get(name) is not None]
    parts = [ngettext("%(count)s piece", "%(count)s pieces", count) % {"count": count}]
    if sides:
        parts.append(" \N{MULTIPLICATION SIGN} ".join(floatformat(side, -2) for side in sides) + " cm")
    if package.get("weight") is not None:
        parts.append(f"{floatformat(package['weight'], -3)} kg")
    return ", ".join(parts)


_BEFORE_POSTCODE = ("street", "number", "complement", "district", "city", "state")


def in_one_line(address: Mapping[str, Any]) -> str:
    """`Rua Augusta, 500, Apto 42, Consolação, São Paulo, SP, 01304-000`."""
    parts = [str(address[name]) for name in _BEFORE_POSTCODE if address.get(name)]
    if address.get("zipcode"):
        parts.append(postcode(str(address["zipcode"])))
    return ", ".join(parts)

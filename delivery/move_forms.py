"""The form of a move of a delivery, and what the admin and the board say of it: its result, drivers and points."""

from datetime import datetime

from django import forms
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from common.brazil.formats import age, money, short_id, time_of_day
from delivery import words
from delivery.actions import moves
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, Driver, LatestPosition, Stop
from delivery.words import text_of_simulator


class MoveForm(forms.Form):
    """Shows the fields of one move of one delivery. What is sent back is validated by the action.

    `reasons`: the codes of a failure with their names, to choose `code` from; empty for other moves.

    `at`: the point, if only one is possible.

    `driver` is the field for choosing a driver, which the admin and the board build differently; without one the form
    has no such field.
    """

    def __init__(self, name: str, delivery: Delivery, driver: forms.Field | None = None) -> None:
        super().__init__(auto_id=f"{name}_%s")
        self.name = name
        self.at = ""
        self.label = moves.described(name, delivery).label
        self.reasons = [*words.FAILURES.items()] if "code" in moves.MOVES[name].fields else []
        points = moves.points(name, delivery)
        fields: dict[str, forms.Field] = {
            **({"driver": driver} if driver else {}),
            "point": forms.ChoiceField(label=_("Point"), choices=[(stop.label, point_name(stop)) for stop in points]),
            "reason": forms.CharField(label=_("Reason"), max_length=255),
            "position": forms.CharField(
                label=_("Latitude, longitude"), widget=forms.TextInput({"placeholder": "-23.56,-46.65"})
            ),
            "untried": forms.CharField(widget=forms.HiddenInput, initial=moves.untried(delivery)),
        }
        for field, required in moves.MOVES[name].fields.items():
            if field in fields:
                self.fields[field] = fields[field]
                self.fields[field].required = required
        if "point" in self.fields and not moves.MOVES[name].is_at_stop(delivery):
            del self.fields["point"]
        elif "point" in self.fields and (only := moves.only_point(name, delivery)):
            self.fields["point"].widget = forms.HiddenInput()  # nothing is to be chosen
            self.fields["point"].initial = self.at = only


def driver_label(driver: Driver, *, at: datetime) -> str:
    """The driver's name, vehicle and what `whereabouts` says. Reads `distance_m` of `drivers.eligible`."""
    facts = whereabouts(driver, getattr(driver, "distance_m", None), at=at)
    return " · ".join([driver.name, driver.get_vehicle_type_display(), *facts])


def whereabouts(driver: Driver, distance_m: float | None, *, at: datetime) -> list[str]:
    """The distance in kilometres, and the age of the position at `at`, or when it was if it is old.

    Reads the related `latest`; select it for a list of drivers.
    """
    parts = []
    if distance_m is not None:
        parts.append(f"{number_format(distance_m / 1000, 1)} km")
    latest: LatestPosition | None = getattr(driver, "latest", None)
    if latest is None:
        parts.append(gettext("position unknown"))
    elif latest.is_fresh(at=at):
        parts.append(gettext("position %(age)s") % {"age": age(min(latest.recorded_at, at), at=at)})
    else:
        parts.append(gettext("last signal %(time)s") % {"time": time_of_day(latest.recorded_at, at=at)})
    return parts


def done(move: str, delivery: Delivery, *, point: str = "") -> str:
    """The message that `move`, a name in `MOVES`, has been performed: on which route, by whom, and what is left to do.

    `delivery` is what `moves.perform` has returned, `point` the label of the point that was delivered or not. The route
    is named by the end of the deliveryId, which all pages show and find.
    """
    values = {
        "route": short_id(delivery.pk),
        "driver": text_of_simulator(delivery.driver.name) if delivery.driver else "",
        "point": point,
        "fee": _fee(delivery),
    }
    is_at_stop = moves.MOVES[move].is_at_stop(delivery)
    rest = _rest(delivery) if is_at_stop or move == "cancel" else ""
    return f"{moves.described(move, delivery).done % values} {rest % values}".strip()


def _rest(delivery: Delivery) -> str:
    if delivery.route_status == RouteStatus.RETURNING:
        return gettext("%(driver)s returns to A now.")
    if delivery.route_status == RouteStatus.FINISHED:
        return gettext("The route is finished.")
    count = len(delivery.stops_ahead)
    return ngettext("%(count)s point is left.", "%(count)s points are left.", count) % {"count": count} if count else ""


def _fee(delivery: Delivery) -> str:
    if not delivery.cancel_fee:
        return gettext("without a fee")
    return gettext("fee %(amount)s") % {"amount": money(delivery.cancel_fee)}


def point_name(stop: Stop) -> str:
    """`B · Maria · Av. Paulista, 1578`, as far as it is known."""
    street = ", ".join(str(stop.address[name]) for name in ("street", "number") if stop.address.get(name))
    parts = (stop.label, stop.contact_name or stop.external_id, street)
    return " · ".join(part for part in parts if part)

"""Forms and texts of the admin and the board: the moves of a delivery, drivers to choose from, refusals."""

from datetime import datetime

from django import forms
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from delivery import lifecycle
from delivery.actions import moves
from delivery.errors import DeliveryError
from delivery.models import Delivery, Driver


class MoveForm(forms.Form):
    """Shows the fields of one move of one delivery. What is sent back is validated by the action.

    `driver` is the field for choosing a driver, which the admin and the board build differently; without one the form
    has no such field.
    """

    def __init__(self, name: str, delivery: Delivery, driver: forms.Field | None = None) -> None:
        super().__init__(auto_id=f"{name}_%s")
        self.name = name
        self.label = moves.MOVES[name].label
        fields: dict[str, forms.Field] = {
            **({"driver": driver} if driver else {}),
            "point": forms.ChoiceField(label=_("Point"), choices=_open_points(delivery)),
            "reason": forms.CharField(label=_("Reason"), max_length=255),
            "position": forms.CharField(
                label=_("Latitude, longitude"), widget=forms.TextInput({"placeholder": "-23.56,-46.65"})
            ),
        }
        for field, required in moves.MOVES[name].fields.items():
            if field in fields:
                self.fields[field] = fields[field]
                self.fields[field].required = required


def offered(delivery: Delivery, driver: forms.Field) -> list[MoveForm]:
    """A form for each move that the delivery's lifecycle allows now."""
    return [MoveForm(name, delivery, driver) for name in moves.allowed(delivery)]


def driver_label(driver: Driver, *, at: datetime) -> str:
    """The driver's name, vehicle, distance in kilometres and age of the position at `at`, as far as they are known.

    Reads `distance_m` of `drivers.eligible` and the related `latest`; select it for a list of drivers.
    """
    parts = [driver.name, driver.get_vehicle_type_display()]
    distance_m = getattr(driver, "distance_m", None)
    if distance_m is not None:
        parts.append(f"{number_format(distance_m / 1000, 1)} km")
    latest = getattr(driver, "latest", None)
    if latest is None:
        parts.append(gettext("no position"))
    else:
        seconds = max(int((at - latest.recorded_at).total_seconds()), 0)
        parts.append(gettext("position %(age)s ago") % {"age": _duration(seconds)})
    return " · ".join(parts)


def _duration(seconds: int) -> str:
    if seconds < 120:  # noqa: PLR2004  # two minutes
        return gettext("%(count)s s") % {"count": seconds}
    if seconds < 7200:  # noqa: PLR2004  # two hours
        return gettext("%(count)s min") % {"count": seconds // 60}
    return gettext("%(count)s h") % {"count": seconds // 3600}


# Codes of the API that refusals and the choices of models contain. The API keeps them, pages translate them.
_CODES = {
    gettext_noop("accept"),
    gettext_noop("collect"),
    gettext_noop("deliver"),
    gettext_noop("fail"),
    gettext_noop("return"),
    gettext_noop("cancel"),
    gettext_noop("PENDING"),
    gettext_noop("ACCEPT"),
    gettext_noop("DELIVERED"),
    gettext_noop("FAILED"),
    gettext_noop("DEFAULT"),
    gettext_noop("RETURN"),
    gettext_noop("AVAILABLE"),
    gettext_noop("ACCEPTED"),
    gettext_noop("COLLECTED"),
    gettext_noop("RETURNING"),
    gettext_noop("FINISHED"),
    gettext_noop("CANCELLED"),
    gettext_noop("EXPIRED"),
    gettext_noop("MOTORCYCLE"),
    gettext_noop("CAR"),
    gettext_noop("live"),
    gettext_noop("sandbox"),
}
# Texts of `delivery.simulator`, which imports no Django.
gettext_noop("Simulated driver")
gettext_noop("Simulated failure: nobody received the order.")


def refusal(error: DeliveryError) -> str:
    """The message of a refusal in the reader's language."""
    text = gettext(error.message)
    return text % {name: _translated(value) for name, value in error.values.items()} if error.values else text


def _translated(value: object) -> str:
    parts = str(value).split(", ")
    return ", ".join(gettext(part) for part in parts) if _CODES.issuperset(parts) else str(value)


def _open_points(delivery: Delivery) -> list[tuple[str, str]]:
    return [(stop.label, str(stop)) for stop in delivery.ordered_stops if stop.status in lifecycle.OPEN]

"""The forms by which dispatchers move a delivery, in the admin and on the board."""

from django import forms
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from delivery import lifecycle
from delivery.actions import moves
from delivery.errors import DeliveryError
from delivery.models import Delivery, Driver

LABELS_OF_MOVES = {
    "accept": _("Accept"),
    "collect": _("Collect"),
    "deliver": _("Deliver"),
    "fail": _("Fail"),
    "return": _("Return"),
    "cancel": _("Cancel delivery"),
    "position": _("Set position"),
}


class MoveForm(forms.Form):
    """One move of one delivery, with the fields it needs, to be shown. The action judges what comes back."""

    def __init__(self, name: str, delivery: Delivery, drivers: list[Driver]) -> None:
        super().__init__(auto_id=f"{name}_%s")
        self.name = name
        self.label = LABELS_OF_MOVES[name]
        fields: dict[str, forms.Field] = {
            "driver": forms.ChoiceField(
                label=_("Driver"),
                choices=[("", _("nearest eligible driver")), *((str(driver.pk), driver.name) for driver in drivers)],
            ),
            "point": forms.ChoiceField(label=_("Point"), choices=_open_points(delivery)),
            "reason": forms.CharField(label=_("Reason"), max_length=255),
            "position": forms.CharField(
                label=_("Latitude, longitude"), widget=forms.TextInput({"placeholder": "-23.56,-46.65"})
            ),
        }
        for field, required in moves.MOVES[name].fields.items():
            self.fields[field] = fields[field]
            self.fields[field].required = required


def offered(delivery: Delivery, drivers: list[Driver]) -> list[MoveForm]:
    """A form for each move that the delivery's lifecycle allows now."""
    return [MoveForm(name, delivery, drivers) for name in moves.allowed(delivery)]


# Words of the contract that refusals and the choices of models name; the API says them as they are, people read them
# in their language.
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


def refusal(error: DeliveryError) -> str:
    """Why something was refused, in the reader's language."""
    text = gettext(error.message)
    return text % {name: _in_words(value) for name, value in error.values.items()} if error.values else text


def _in_words(value: object) -> str:
    parts = str(value).split(", ")
    return ", ".join(gettext(part) for part in parts) if _CODES.issuperset(parts) else str(value)


def _open_points(delivery: Delivery) -> list[tuple[str, str]]:
    return [(stop.label, str(stop)) for stop in delivery.ordered_stops if stop.status in lifecycle.OPEN]

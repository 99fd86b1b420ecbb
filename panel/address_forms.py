"""What the forms of deliveries and of orders share: somebody at an address, and fields of texts and moments."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.brazil import formats, phones
from common.brazil.states import LONGEST_POSTCODE, postcode_of
from panel.filters import MOMENT_INPUT

_LONGEST_MOMENT = 40  # characters


def text_field(
    label: Any, length: int = 255, *, required: bool = False, validators: Sequence[Any] = (), **attributes: Any
) -> forms.CharField:
    widget = forms.TextInput({"autocomplete": "off", **attributes})
    return forms.CharField(label=label, max_length=length, required=required, validators=validators, widget=widget)


def check_digits(text: str) -> None:
    """Raise ValidationError for a number whose digits a spreadsheet has dropped: `5,51198E+12`."""
    if phones.is_rounded(text):
        detail = gettext(
            "A spreadsheet has cut the digits of this number. Format its column as text, and type it again."
        )
        raise ValidationError(detail)


class PostcodeField(forms.CharField):
    """A CEP, however it is written. The value is eight digits, and is shown with the hyphen."""

    def __init__(self, *, attributes: Mapping[str, Any] = MappingProxyType({}), **kwargs: Any) -> None:
        shown = {"inputmode": "numeric", "placeholder": "01310-100", "autocomplete": "off", **attributes}
        super().__init__(max_length=LONGEST_POSTCODE, widget=forms.TextInput(shown), **kwargs)

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        digits = postcode_of(text)
        if text and not digits:
            raise ValidationError(_("A CEP has eight digits."))
        return digits

    def prepare_value(self, value: Any) -> Any:
        return formats.postcode(value) if isinstance(value, str) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Not by a hyphen, with or without which area B keeps it."""
        return super().has_changed(postcode_of(initial or "") or initial, data)


# panel/postcode.js
_LOOKED_UP: dict[str, Any] = {
    "data-postcode": reverse_lazy("panel:postcode"),
    "data-unknown": _("The street of this CEP is not known. Type the address."),
}


class AddressForm(forms.Form):
    """Somebody at an address."""

    name = text_field(_("Name"))
    street = text_field(_("Street"))
    number = text_field(_("Number"), placeholder="S/N")
    complement = text_field(_("Complement"))
    district = text_field(_("District"))
    city = text_field(_("City"))
    state = text_field(_("State"), placeholder="SP")
    zipcode = PostcodeField(label=_("CEP"), required=False, attributes=_LOOKED_UP)


class MomentField(forms.DateTimeField):
    """A moment in the active time zone, as browsers, spreadsheets and people write it."""

    def __init__(self, label: Any) -> None:
        formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S"]
        messages = {"invalid": _("Write it as 28/11/2026 14:30.")}
        super().__init__(
            label=label, required=False, input_formats=formats, widget=MOMENT_INPUT, error_messages=messages
        )

    def to_python(self, value: Any) -> datetime | None:
        if isinstance(value, str) and len(value) > _LONGEST_MOMENT:
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        """The initial value may be a text too."""
        return super().has_changed(self.to_python(initial) if isinstance(initial, str) else initial, data)

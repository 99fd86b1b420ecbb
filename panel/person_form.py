"""The number of one person, as people type it."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from access.personal_data.people import InvalidPerson, Person, person

_LONGEST = 40


class PersonForm(forms.Form):
    """A telephone number or a document. `person` of a valid form is who has it."""

    kind = forms.ChoiceField(
        label=_("Find by"),
        choices=[("phone", _("Telephone number")), ("document", _("CPF or CNPJ"))],
        initial="phone",
    )
    number = forms.CharField(
        label=_("Number"),
        max_length=_LONGEST,
        help_text=_("A telephone number with its area code. Punctuation does not matter."),
        widget=forms.TextInput({"autocomplete": "off", "inputmode": "text"}),
    )
    person: Person

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if {"kind", "number"} <= data.keys():
            try:
                self.person = person(**{data["kind"]: data["number"]})
            except InvalidPerson:
                is_phone = data["kind"] == "phone"
                self.add_error(
                    "number",
                    gettext("A telephone number has its area code, such as (11) 97777-0001.")
                    if is_phone
                    else gettext("A CPF has 11 digits, a CNPJ 14 characters."),
                )
        return data

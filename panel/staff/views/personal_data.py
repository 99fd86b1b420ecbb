"""The data of one person: found by a number, forgotten or exported. For staff; each request is logged."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _

from access import personal_data
from access.models import PersonRequest, PersonRequestKind
from access.personal_data import InvalidPerson, Person, person
from common import clock
from common.actors import actor
from common.api.heavy import heavy
from panel.base import LoggedInView

_LONGEST = 40
_SHOWN = 50  # requests
# What one web request anonymises, 500 rows each; workers go on with the rest.
_MOST_BATCHES = 4


class PersonForm(forms.Form):
    """A telephone number or a document. `person` of a valid form is who has it."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Find by"),
        choices=[("phone", gettext_lazy("Telephone number")), ("document", gettext_lazy("CPF or CNPJ"))],
        initial="phone",
    )
    number = forms.CharField(
        label=gettext_lazy("Number"),
        max_length=_LONGEST,
        help_text=gettext_lazy("A telephone number with its area code. Punctuation does not matter."),
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


class PersonalData(LoggedInView, PermissionRequiredMixin):
    """The search, what was found, and the log. Numbers are in the bodies of requests only, which no log has."""

    permission_required = "access.add_personrequest"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page(PersonForm())

    @heavy
    def post(self, request: HttpRequest) -> HttpResponseBase:
        """Show what there is; with `do` forget or export it."""
        form = PersonForm(request.POST)
        if not form.is_valid():
            return self._page(form, status=422)
        do = request.POST.get("do", "")
        if do == PersonRequestKind.FORGET:
            return self._forget(form.person)
        if do == PersonRequestKind.EXPORT:
            return self._export(form.person)
        at = clock.now()
        found = personal_data.find(form.person, until=at)
        return self._page(form, found=personal_data.summary(found, at=at), rows=personal_data.newest(found))

    def _forget(self, who: Person) -> HttpResponse:
        at = clock.now()
        asked = personal_data.record(who, kind=PersonRequestKind.FORGET, by=actor(self.request), at=at)
        done = personal_data.carry_out(asked, at=at, most_batches=_MOST_BATCHES)
        if done.finished_at:
            messages.success(self.request, _("Everything about %(number)s is forgotten.") % {"number": done.hint})
        else:
            text = _("What was closed about %(number)s is being forgotten. The rest follows when it ends.")
            messages.success(self.request, text % {"number": done.hint})
        return redirect("panel:personal_data")

    def _export(self, who: Person) -> StreamingHttpResponse:
        at = clock.now()
        personal_data.record(who, kind=PersonRequestKind.EXPORT, by=actor(self.request), at=at)
        headers = {"Content-Disposition": 'attachment; filename="personal-data.json"', "Cache-Control": "no-store"}
        return StreamingHttpResponse(personal_data.export(who, at=at), content_type="application/json", headers=headers)

    def _page(self, form: PersonForm, *, status: int = 200, **found: Any) -> HttpResponse:
        asked = PersonRequest.objects.all()[:_SHOWN]
        most = personal_data.MOST_LISTED
        return self.page("panel/personal_data.html", status=status, form=form, requests=asked, most=most, **found)

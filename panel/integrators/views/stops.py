"""What a shop changes of a stop until the driver has been there, and its answer to a first failure."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common import clock
from common.brazil import phones
from common.brazil.formats import money
from common.mail import outbox
from delivery import words
from delivery.actions import stops
from delivery.errors import DeliveryError
from delivery.lifecycle import Mode, OnFailure
from delivery.models import Delivery, DropoffOptions
from delivery.models.stop import LONGEST_INSTRUCTIONS
from delivery.pricing import percent_of
from delivery.refusals import refusal
from panel.address_forms import check_digits
from panel.base import RequestingView


class InstructionsField(forms.CharField):
    widget = forms.Textarea({"rows": 2})

    def __init__(self, **kwargs: Any) -> None:
        label = gettext_lazy("Instructions for the driver")
        super().__init__(label=label, max_length=LONGEST_INSTRUCTIONS, required=False, **kwargs)

    def to_python(self, value: Any) -> str:
        """Browsers send the line breaks of a text as CRLF."""
        return (super().to_python(value) or "").replace("\r\n", "\n")


# With the values that the page was opened with, so that what was changed meanwhile elsewhere stays.
_OPTIONAL: dict[str, Any] = {"required": False, "show_hidden_initial": True}


class ChangeForm(forms.Form):
    contact_name = forms.CharField(label=gettext_lazy("Name"), max_length=255, **_OPTIONAL)
    contact_phone = forms.CharField(label=gettext_lazy("Phone"), max_length=255, validators=[check_digits], **_OPTIONAL)
    contact_email = forms.EmailField(label=gettext_lazy("Email"), max_length=outbox.LONGEST_ADDRESS, **_OPTIONAL)
    instructions = InstructionsField(show_hidden_initial=True)

    @property
    def changed(self) -> dict[str, str]:
        """The values of the fields that were changed."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def clean_contact_email(self) -> str:
        return outbox.clean_address(self.cleaned_data["contact_email"]) if self.cleaned_data["contact_email"] else ""


class AnswerForm(forms.Form):
    answer = forms.ChoiceField(label=gettext_lazy("What follows"), widget=forms.RadioSelect)
    instructions = InstructionsField()

    def __init__(self, delivery: Delivery, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["answer"].choices = _answers(delivery)  # type: ignore[attr-defined]  # of a ChoiceField


def _answers(delivery: Delivery) -> list[tuple[str, str]]:
    """The answers to a first failure, each with what it adds to the price if it adds anything."""
    again = _("second attempt"), delivery.retry_percent
    back = _("way back after a failure"), delivery.return_percent if delivery.mode == Mode.DEFAULT else Decimal(0)
    charges = {OnFailure.RETURN: back, OnFailure.RETRY: again, OnFailure.LEAVE: again}
    answers = []
    for answer, name in words.ANSWERS.items():
        charge, percent = charges[OnFailure(answer)]
        amount = percent_of(delivery.shipping_value, percent)
        answers.append((answer, f"{name} ({charge}: {money(amount)})" if amount else str(name)))
    return answers


class Stop(RequestingView):
    """The two forms of one stop. 404 for a point that the route does not have."""

    def get(self, request: HttpRequest, delivery: UUID, point: str) -> HttpResponse:
        return self._show(delivery, point)

    def post(self, request: HttpRequest, delivery: UUID, point: str) -> HttpResponse:
        found = get_object_or_404(self.deliveries.with_parts(), pk=delivery)
        if found.stop_at(point) is None:
            raise Http404
        is_answer = request.POST.get("step") == "answer"
        form = AnswerForm(found, request.POST) if is_answer else ChangeForm(request.POST)
        if not form.is_valid():
            return self._show(delivery, point, **{"answer" if is_answer else "change": form})
        self.account.check_active()
        by, at = self.actor, clock.now()
        try:
            if isinstance(form, AnswerForm):
                answer = OnFailure(form.cleaned_data["answer"])
                instructions = form.cleaned_data["instructions"] or None
                stops.instruct(delivery=found, point=point, answer=answer, instructions=instructions, by=by, at=at)
            else:
                stops.change(delivery=found, point=point, values=form.changed, by=by, at=at)
        except DeliveryError as error:
            messages.error(request, refusal(error))
        else:
            messages.success(request, _("The driver is told.") if found.driver_id else _("Saved."))
        return redirect(self.url("delivery", found.pk))

    def _show(self, delivery: UUID, point: str, **sent: Any) -> HttpResponse:
        """The page with the forms that were `sent` and refused, and fresh ones."""
        found = get_object_or_404(self.deliveries.with_parts(), pk=delivery)
        stop = found.stop_at(point)
        if stop is None:
            raise Http404
        if stop not in found.stops_ahead:
            messages.info(self.request, _("The driver has been at this point already, or the delivery has ended."))
            return redirect(self.url("delivery", found.pk))
        options = DropoffOptions.of(stop)
        values = {
            "contact_name": stop.contact_name,
            "contact_phone": phones.shown(stop.contact_phone),
            "contact_email": options.contact_email,
            "instructions": options.instructions,
        }
        forms_shown = {
            "change": ChangeForm(initial=values),
            "answer": AnswerForm(found, initial={"answer": options.on_failure}) if stop.tried_at else None,
            **sent,
        }
        status = 422 if sent else 200
        return self.page("panel/stop.html", status=status, in_zone_of=found, delivery=found, stop=stop, **forms_shown)

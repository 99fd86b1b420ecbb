"""What people type about a move of an order, in the panel and the admin. The rules are those of `orders.Details`."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.brazil import zones
from integration import lifecycle, words
from integration.actions.orders import Details
from integration.lifecycle import Reason, Status
from integration.models import Order
from integration.models.order import LONGEST_PLACE, LONGEST_REASON


class DetailsForm(forms.Form):
    """What is reported of a move to one of `targets`: a reason if one of them has it, the place and the moment.

    `needs_code`: without a reason it is no failure and no return.
    """

    code = forms.ChoiceField(
        label=_("Why (if not delivered or returned)"),
        required=False,
        choices=[("", _("Without a reason")), *((code.value, text) for code, text in words.REASONS.items())],
    )
    reason = forms.CharField(label=_("Reason in words"), required=False, max_length=LONGEST_REASON)
    place = forms.CharField(label=_("Place"), required=False, max_length=LONGEST_PLACE)
    happened_at = forms.DateTimeField(
        label=_("When it happened"),
        required=False,
        widget=forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )

    def __init__(self, *args: Any, targets: Sequence[Status], needs_code: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.targets, self.needs_code = targets, needs_code
        now = gettext("Empty: now.")
        self.fields["happened_at"].help_text = f"{now} {zones.by_clocks()}"
        if not set(targets) & set(lifecycle.WITH_REASON):
            del self.fields["code"], self.fields["reason"]

    @property
    def status(self) -> Status | None:
        """The target; None if none is chosen."""
        return self.targets[0]

    def clean(self) -> None:
        data = super().clean() or self.cleaned_data
        code, reason = data.get("code"), data.get("reason")
        if self.status in lifecycle.WITH_REASON:
            if self.needs_code and not code and not reason:
                self.add_error("code", _("Choose why."))
            elif code == Reason.OTHER and not reason:
                self.add_error("reason", _("Say the reason in words."))
        elif code or reason:
            self.add_error("code", _("Only an order that is not delivered or comes back has a reason."))

    @property
    def details(self) -> Details:
        data = self.cleaned_data
        return Details(
            reason_code=data.get("code", ""),
            reason=data.get("reason", ""),
            place=data["place"],
            happened_at=data["happened_at"],
        )


class MoveForm(DetailsForm):
    """A move of one order to a status that it may have next."""

    field_order = ["target"]
    target = forms.ChoiceField(label=_("New status"), widget=forms.RadioSelect)

    def __init__(self, order: Order, *args: Any, **kwargs: Any) -> None:
        targets = lifecycle.choices(Status(order.status))
        super().__init__(*args, targets=targets, **kwargs)
        target = self.fields["target"]
        assert isinstance(target, forms.ChoiceField)  # noqa: S101  # nosec B101  # as declared
        target.choices = [(status.value, words.STATUSES[status]) for status in targets]

    @property
    def status(self) -> Status | None:
        target = self.cleaned_data.get("target")
        return Status(target) if target else None

"""Beside the list's action menu: what a move of many deliveries needs."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.forms import ActionForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from delivery.models import Driver
from delivery.models.stop import LABELS

# Field -> the moves that ask for it; the page shows it with these only.
_ASKED_BY = {
    "driver": ["move_accept"],
    "point": ["move_deliver", "move_fail"],
    "reason": ["move_fail", "move_cancel"],
    "position": ["move_position"],
}


class MovesActionForm(ActionForm):
    """Every field that some move asks for; the chosen one takes its own."""

    driver = forms.ModelChoiceField(
        Driver.objects.filter(active=True, on_duty=True),
        required=False,
        empty_label=_("nearest eligible driver"),
        label=_("driver"),
        widget=UnfoldAdminSelectWidget,
    )
    point = forms.ChoiceField(
        choices=[("", "-"), *((label, label) for label in LABELS)],
        required=False,
        label=_("point"),
        widget=UnfoldAdminSelectWidget,
    )
    reason = forms.CharField(max_length=255, required=False, label=_("reason"), widget=UnfoldAdminTextInputWidget)
    position = forms.CharField(required=False, label=_("latitude, longitude"), widget=UnfoldAdminTextInputWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, moves in _ASKED_BY.items():
            self.fields[name].asked_by = moves

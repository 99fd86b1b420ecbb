"""Beside the list's action menu: what a move of many deliveries needs."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.forms import ActionForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from delivery.actions.moves import MOVES
from delivery.models import Driver
from delivery.models.stop import LABELS


class MovesActionForm(ActionForm):
    """The fields of all moves. `asked_by` of each names the list actions with which the page shows it."""

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
        for name in ("driver", "point", "reason", "position"):
            self.fields[name].asked_by = [f"move_{move}" for move, details in MOVES.items() if name in details.fields]

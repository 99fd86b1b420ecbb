"""Beside the list's action menu: what a move of many deliveries needs."""

from django import forms
from django.contrib.admin.helpers import ActionForm
from django.utils.translation import gettext_lazy as _

from delivery.models import Driver
from delivery.models.stop import LABELS


class MovesActionForm(ActionForm):
    """Every field that some move asks for; the chosen one takes its own."""

    driver = forms.ModelChoiceField(
        Driver.objects.filter(active=True, on_duty=True), required=False, empty_label=_("nearest eligible driver")
    )
    point = forms.ChoiceField(choices=[("", "-"), *((label, label) for label in LABELS)], required=False)
    reason = forms.CharField(max_length=255, required=False)
    position = forms.CharField(required=False, label=_("latitude, longitude"))

"""Fields of the moves in the admin: the search for a driver, and the form beside the list's action menu."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from unfold.forms import ActionForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from delivery.actions.moves import MOVES
from delivery.models import Delivery, Driver
from delivery.models.stop import LABELS


class DriverSelect(AutocompleteSelect):
    """Searches drivers on the server, 20 at a time. With a delivery it finds those eligible for it, nearest first."""

    def __init__(self, delivery: Delivery | None = None) -> None:
        super().__init__(Delivery._meta.get_field("driver"), admin.site)
        self._delivery = delivery

    def get_url(self) -> str:
        query = f"?delivery={self._delivery.pk}" if self._delivery else ""
        return reverse("admin:delivery_delivery_drivers") + query

    def build_attrs(self, base_attrs: dict[str, Any], extra_attrs: dict[str, Any] | None = None) -> dict[str, Any]:
        attrs = super().build_attrs(base_attrs, extra_attrs)
        # Distances change, so that results are not cached.
        return {**attrs, "data-placeholder": _("nearest eligible driver"), "data-ajax--cache": "false"}


def driver_field(delivery: Delivery | None = None) -> forms.Field:
    """The field for choosing a driver; empty for the nearest eligible one. See `DriverSelect`."""
    return forms.ModelChoiceField(
        Driver.objects.all(), required=False, label=_("driver"), widget=DriverSelect(delivery)
    )


class MovesActionForm(ActionForm):
    """The fields of all moves. The page shows a field only for the list actions in its `shown_for_actions`."""

    driver = driver_field()
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
            self.fields[name].shown_for_actions = [
                f"move_{move}" for move, details in MOVES.items() if name in details.fields
            ]

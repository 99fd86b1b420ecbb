"""Moves in the admin: the search for a driver, the fields beside the list's actions, the page that asks for fees."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.forms import ActionForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from common.admin import base as admin_base
from common.admin.base import ModelAdmin
from common.brazil.formats import money, short_id
from delivery import words
from delivery.actions import moves
from delivery.admin.labels import state
from delivery.models import Delivery, Driver, parse_id
from delivery.models.stop import LABELS
from delivery.move_forms import MoveForm


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


_FIELDS = {
    "driver": _("driver"),
    "point": _("point"),
    "code": _("failure code"),
    "reason": _("reason"),
    "position": _("latitude, longitude"),
}


def driver_field(delivery: Delivery | None = None) -> forms.Field:
    """The field for choosing a driver; empty for the nearest eligible one. See `DriverSelect`."""
    return forms.ModelChoiceField(
        Driver.objects.all(), required=False, label=_FIELDS["driver"], widget=DriverSelect(delivery)
    )


class MovesActionForm(ActionForm):
    """The fields of all moves. The page shows a field only for the list actions in its `shown_for_actions`."""

    driver = driver_field()
    point = forms.ChoiceField(
        choices=[("", "-"), *((label, label) for label in LABELS)],
        required=False,
        label=_FIELDS["point"],
        widget=UnfoldAdminSelectWidget,
    )
    code = forms.ChoiceField(
        choices=[("", "-"), *words.FAILURES.items()],
        required=False,
        label=_FIELDS["code"],
        widget=UnfoldAdminSelectWidget,
    )
    reason = forms.CharField(max_length=255, required=False, label=_FIELDS["reason"], widget=UnfoldAdminTextInputWidget)
    position = forms.CharField(required=False, label=_FIELDS["position"], widget=UnfoldAdminTextInputWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("driver", "point", "code", "reason", "position"):
            self.fields[name].shown_for_actions = [
                f"move_{move}" for move, details in moves.MOVES.items() if name in details.fields
            ]


def unless_agreed(
    model_admin: ModelAdmin, request: HttpRequest, name: str, chosen: Iterable[Delivery]
) -> HttpResponse | None:
    """The page that asks before a move. None if the request confirms it, a cancellation with the present fees."""
    found = list(chosen)
    if name == "cancel":
        return _cancel_unless_agreed(model_admin, request, found)
    if admin_base.is_confirmed(request):
        return None
    fields = moves.MOVES[name].fields
    rows = [
        admin_base.Row(delivery.pk, _name(delivery), list(_shown(name, delivery)), agreed=_known(name, delivery))
        for delivery in found
    ]
    notes = list(_chosen({field: value for field in _FIELDS if field in fields and (value := request.POST.get(field))}))
    if "driver" in fields and not request.POST.get("driver"):
        notes.append(gettext("The nearest eligible driver takes each route."))
    is_final = moves.MOVES[name].is_danger
    what = moves.MOVES[name].label
    return admin_base.ask_about(model_admin, request, what=what, rows=rows, notes=notes, is_final=is_final)


def _shown(name: str, delivery: Delivery) -> Iterable[str]:
    yield state(delivery)
    if name == "charge" and (fee := delivery.fee_after_pickup) is not None:
        yield gettext("Fee %(fee)s; the route costs %(price)s.") % {
            "fee": money(fee),
            "price": money(delivery.shipping_value),
        }


def _known(name: str, delivery: Delivery) -> str:
    """What the confirmation page tells the action of the delivery, see `moves.untried`."""
    return moves.untried(delivery) if "untried" in moves.MOVES[name].fields else ""


def _name(delivery: Delivery) -> str:
    return " · ".join(filter(None, [delivery.order_names(2), delivery.integrator.name, short_id(delivery.pk)]))


def _chosen(sent: Mapping[str, str]) -> Iterable[str]:
    """What was chosen beside the button, in words."""
    for field, value in sent.items():
        driver = Driver.objects.filter(pk=key).first() if field == "driver" and (key := parse_id(value)) else None
        name = driver.name if driver else words.FAILURES.get(value, value) if field == "code" else value
        yield f"{capfirst(str(_FIELDS[field]))}: {name}"


def _cancel_unless_agreed(model_admin: ModelAdmin, request: HttpRequest, found: list[Delivery]) -> HttpResponse | None:
    notes = [gettext("This cannot be undone.")]
    if admin_base.is_confirmed(request):
        if all(_terms(delivery) == admin_base.agreed(request, delivery.pk) for delivery in found):
            return None
        notes.insert(0, gettext("Something has changed meanwhile. Read the fees again."))
    possible = [delivery for delivery in found if "cancel" in moves.allowed(delivery)]
    total = sum((delivery.fee_of_cancelling or Decimal(0) for delivery in possible), Decimal(0))
    count = len(found)
    return admin_base.ask(
        model_admin,
        request,
        title=ngettext("Cancel this delivery?", "Cancel %(count)s deliveries?", count) % {"count": count},
        submit=gettext("Cancel, fee %(fee)s") % {"fee": money(total)} if total else gettext("Cancel without a fee"),
        notes=notes,
        rows=[
            admin_base.Row(
                delivery.pk,
                _name(delivery),
                list(_facts(delivery)),
                agreed=_terms(delivery),
            )
            for delivery in found
        ],
        form=MoveForm("cancel", found[0]) if found else None,
    )


def _facts(delivery: Delivery) -> Iterable[str]:
    if "cancel" not in moves.allowed(delivery):
        yield gettext("It cannot be cancelled any more and stays as it is.")
        return
    if fee := delivery.fee_of_cancelling:
        values = {"fee": money(fee), "price": money(delivery.shipping_value)}
        yield gettext("Fee %(fee)s; the route costs %(price)s.") % values
    elif delivery.is_held:
        yield gettext("Cancelling now costs nothing.")
    else:
        yield gettext("Nobody pays a fee: no driver is assigned.")
    if delivery.way_of_goods:
        yield delivery.way_of_goods


def _terms(delivery: Delivery) -> str:
    """What the dispatcher agrees to: it is the same as long as neither the route nor the fee has changed."""
    return f"{delivery.route_status} {delivery.fee_of_cancelling}"

"""The page on which a dispatcher agrees to the fees before deliveries are cancelled."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_stubs_ext import StrOrPromise

from common import admin_base
from common.admin_base import ModelAdmin
from common.formats import money, short_id
from delivery.actions import deliveries, moves
from delivery.forms import MoveForm
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery


def unless_agreed(model_admin: ModelAdmin, request: HttpRequest, chosen: Iterable[Delivery]) -> HttpResponse | None:
    """The page that asks. None if the request confirms it with the present fees: the deliveries may be cancelled."""
    found = list(chosen)
    if not admin_base.is_confirmed(request):
        return _page(model_admin, request, found, notes=[])
    if any(_terms(delivery) != admin_base.agreed(request, delivery.pk) for delivery in found):
        return _page(model_admin, request, found, notes=[_("Something has changed meanwhile. Read the fees again.")])
    return None


def _page(
    model_admin: ModelAdmin, request: HttpRequest, chosen: Sequence[Delivery], *, notes: list[str]
) -> HttpResponse:
    possible = [delivery for delivery in chosen if "cancel" in moves.allowed(delivery)]
    total = sum((deliveries.fee_of_cancelling(delivery) for delivery in possible), Decimal(0))
    submit = _("Cancel, fee %(fee)s") % {"fee": money(total)} if total else _("Cancel without a fee")
    count = len(chosen)
    return admin_base.ask(
        model_admin,
        request,
        title=ngettext("Cancel this delivery?", "Cancel %(count)s deliveries?", count) % {"count": count},
        submit=submit,
        notes=[*notes, _("This cannot be undone.")],
        rows=[
            admin_base.Row(delivery.pk, _name(delivery), list(_facts(delivery)), agreed=_terms(delivery))
            for delivery in chosen
        ],
        form=MoveForm("cancel", chosen[0]) if chosen else None,
    )


def _name(delivery: Delivery) -> str:
    return f"{delivery.integrator.name} {short_id(delivery.pk)}"


def _facts(delivery: Delivery) -> Iterable[StrOrPromise]:
    if "cancel" not in moves.allowed(delivery):
        yield _("It cannot be cancelled any more and stays as it is.")
        return
    fee = deliveries.fee_of_cancelling(delivery)
    if fee:
        values = {"fee": money(fee), "price": money(delivery.shipping_value)}
        yield _("Fee %(fee)s; the delivery costs %(price)s.") % values
    else:
        yield _("Nobody pays a fee: no driver is assigned.")
    if delivery.is_held and delivery.route_status != RouteStatus.ACCEPTED:
        yield _("The driver takes the goods back to A.")


def _terms(delivery: Delivery) -> str:
    """What the dispatcher agrees to: it is the same as long as neither the route nor the fee has changed."""
    return f"{delivery.route_status} {deliveries.fee_of_cancelling(delivery)}"

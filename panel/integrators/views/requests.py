"""What a shop does with its deliveries in the panel: request one by a form, cancel one, print a receipt."""

from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common import clock
from delivery import models, stop_details
from delivery.actions import deliveries, moves
from delivery.actions.deliveries import LONGEST_REASON
from delivery.errors import AlreadyFinished, DeliveryError, FeeChanged, InvalidReason, QuoteExpired, QuoteMismatch
from delivery.lifecycle import Mode, RouteStatus, Trigger
from delivery.models import Environment, parse_id
from delivery.models.delivery import ENDED
from delivery.places import addresses
from delivery.refusals import refusal
from panel import maps
from panel.base import RequestingView
from panel.integrators.delivery_forms import (
    DeliveryForm,
    far_pins,
    like,
    like_pickup,
    located,
    newest_of,
    pickups,
    priced,
    receivers,
)


class FormView(RequestingView):
    """Base of the pages that read the form of a request."""

    def form(self, data: QueryDict | None, initial: dict[str, Any] | None = None) -> DeliveryForm:
        return DeliveryForm(
            data,
            environment=self.environment,
            points=self.points,
            anywhere=self.account.allow_any_pickup,
            initial=initial,
        )

    @property
    def points(self) -> list[models.PickupPoint]:
        return list(self.account.pickup_points.active())

    def price(self, form: DeliveryForm) -> dict[str, Any]:
        """What `panel/request_price.html` shows. Refusals are errors of the form."""
        if not form.has_price():
            return {}
        now = clock.now()
        try:
            found = priced(form, self.scope, now)
            return {
                "priced": found,
                "pins": found.pins(form),
                "far_pins": far_pins(form, self.scope.integrator_id, now),
            }
        except ValidationError:
            return {}
        except DeliveryError as error:
            form.refuse(error)
            return {"refused": refusal(error)} if error.message else {}


class Request(FormView):
    """The form. It shows the price before it requests the delivery at that price."""

    def get(self, request: HttpRequest) -> HttpResponse:
        points = self.points
        again = parse_id(request.GET.get("again", ""))
        if again and (earlier := self.deliveries.with_parts().filter(pk=again).first()):
            return self.show(self.form(None, like(earlier, points)))
        newest = self.deliveries.filter(forgotten_at=None).order_by("-created_at", "-id").first()
        pickup = like_pickup(newest, points)
        nearby = {name: pickup[name] for name in ("city", "state") if name in pickup}
        return self.show(self.form(None, {"a": pickup, "b": nearby}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form(request.POST)
        if not form.is_valid():
            return self.show(form, status=422, **self.price(form))
        if request.POST.get("step") != "request":
            shown = self.price(form)
            return self.show(form, status=200 if "priced" in shown else 422, **shown)
        if pins := far_pins(form, self.scope.integrator_id, clock.now()):
            form.refuse_far_pins(pins)
            if form.has_errors():
                return self.show(form, status=422, **self.price(form))
        try:
            found, is_earlier = self._request(form)
        except ValidationError:
            return self.show(form, status=422)
        except (QuoteExpired, QuoteMismatch):
            messages.warning(request, _("The price was computed anew. Compare it before you request the delivery."))
            return self.show(form, status=422, **self.price(form))
        except DeliveryError as error:
            form.refuse(error)
            return self.show(form, status=422)
        if is_earlier:
            messages.info(request, _("The form had been sent already. It has requested this delivery once."))
        else:
            is_later = self.deliveries.filter(pk=found, route_status=RouteStatus.SCHEDULED).exists()
            later = _("The delivery is requested. Its route is offered to drivers shortly before it can be collected.")
            now = _("The delivery is requested, and its route is offered to drivers.")
            messages.success(request, later if is_later else now)
        return redirect(self.url("delivery", found))

    def _request(self, form: DeliveryForm) -> tuple[UUID, bool]:
        request, at = self.request, clock.now()
        payload, _precisions = located(form, self.scope.integrator_id, at)
        return deliveries.request_once(
            token=self.scope,
            key=self._key(),
            payload=payload,
            quote_id=request.POST.get("quote_id", ""),
            by=self.actor,
            at=at,
            simulation_speed=(form.trip.cleaned_data["speed"] or 1.0) if form.is_sandbox else None,
        )

    def _key(self) -> str:
        """What identifies the form, so that a double click and a reload request one delivery."""
        return str(parse_id(self.request.POST.get("key", "")) or uuid4())

    def show(self, form: DeliveryForm, *, status: int = 200, **price: Any) -> HttpResponse:
        # A form that was refused keeps its key: a refusal is not stored. One that was sent already gets another.
        key = uuid4() if form.was_sent else self._key()
        newest = newest_of(self.deliveries)
        return self.page(
            "panel/request.html",
            status=status,
            in_zone_of=form,
            form=form,
            key=key,
            has_errors=form.has_errors(),
            pickups=pickups(newest, form.pickup.points.values()),
            receivers=receivers(newest),
            has_geocoder=addresses.can_locate(),
            tiles=maps.tiles(),
            **price,
        )


class Price(FormView):
    """A fragment: the price of what the form has now."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form(request.POST)
        places = form.checked()
        context: dict[str, Any] = {
            "derived": [each for place in places for each in place.derived],
            "doubts": [each.doubt for each in places if each.doubt],
        }
        context |= self.price(form)  # which can refuse fields
        return self.page("panel/request_price.html", in_zone_of=form, faulty=form.faulty, **context)


class CancelForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        required=False,
        widget=forms.TextInput({"autocomplete": "off"}),
    )


class Cancel(RequestingView):
    """The question with the fee of now, and the cancellation at that fee."""

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found = self._found(delivery)
        if found.fee_of_cancelling is None:
            messages.info(request, _("There is nothing left to cancel."))
            return redirect(self.url("delivery", found.pk))
        return self._ask(found, CancelForm())

    def post(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found, form = self._found(delivery), CancelForm(request.POST)
        agreed = _amount(request.POST.get("fee", ""))
        if not form.is_valid() or agreed is None:
            return self._ask(found, form, status=422)
        if request.POST.get("route_status", found.route_status) != found.route_status:  # the fee may be the same
            messages.warning(request, _("Something has changed meanwhile. Read the fees again."))
            return self._ask(found, form, status=422)
        self.account.check_active()
        try:
            cancelled = deliveries.cancel(
                delivery=found,
                reason=form.cleaned_data["reason"],
                by=self.actor,
                at=clock.now(),
                by_integrator=True,
                agreed_fee=agreed,
            )
        except (FeeChanged, InvalidReason) as error:
            if isinstance(error, FeeChanged):
                messages.warning(request, refusal(error))
            else:
                form.add_error("reason", refusal(error))
            return self._ask(self._found(delivery), form, status=422)
        except AlreadyFinished as error:
            messages.error(request, refusal(error))
        else:
            is_reverse = cancelled.mode == Mode.REVERSE
            text = _("The pickups are cancelled.") if is_reverse else _("The delivery is cancelled.")
            messages.success(request, f"{text} {cancelled.way_of_goods}".strip())
        return redirect(self.url("delivery", found.pk))

    def _found(self, delivery: UUID) -> models.Delivery:
        return get_object_or_404(self.deliveries.with_parts(), pk=delivery)

    def _ask(self, delivery: models.Delivery, form: CancelForm, *, status: int = 200) -> HttpResponse:
        words = moves.described(Trigger.CANCEL, delivery)
        return self.page(
            "panel/cancel.html", status=status, in_zone_of=delivery, delivery=delivery, form=form, cancel=words
        )


def _amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text[:20])
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


class Receipt(RequestingView):
    """A page to print: what was delivered where, when, to whom, and what it costs. Without photos and PINs."""

    def may_open(self) -> bool:
        return True

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        rows = self.deliveries.with_parts().prefetch_related("transitions").annotate(amount=ENDED["amount"])
        found = get_object_or_404(rows, pk=delivery)
        moments = {(each.trigger, each.point): each.at for each in found.transitions.all()}
        now = clock.now()
        details = stop_details.read(found.ordered_stops, at=now).values()
        at_stop = Trigger.COLLECT if found.mode == Mode.REVERSE else Trigger.DELIVER
        return self.page(
            "panel/receipt.html",
            in_zone_of=found,
            delivery=found,
            stops=[(each, moments.get((at_stop.value, each.stop.label))) for each in details],
            at_a=moments.get((found.trigger_at_a.value, "")),
            at=now,
            is_sandbox=self.environment == Environment.SANDBOX,
        )

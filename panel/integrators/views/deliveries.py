"""The list of an account's deliveries, also as a file, the page of one, and moves of a sandbox delivery by hand."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from access.rights import accounts_of
from common import clock
from common.actors import actor, actor_name
from common.api.heavy import heavy
from common.files import table_files
from common.postgresql.replica import may_be_old
from common.webhooks.models import EventState
from delivery import lifecycle, models, words
from delivery.actions import moves
from delivery.columns import DELIVERY
from delivery.errors import DeliveryError
from delivery.lifecycle import Mode, Trigger
from delivery.models import Environment, Simulation
from delivery.models.delivery import due_at
from delivery.move_forms import MoveForm
from delivery.receivers import actions as receivers
from delivery.refusals import refusal
from delivery.sandbox import by_hand
from panel import maps
from panel.base import AccountView, LoggedInView
from panel.filters import all_rows, delivery_filter, listed

_log = logging.getLogger(__name__)
_WITH_FIELDS = ("position",)
# Buttons of the sandbox whose texts are not those of dispatchers, who choose a driver and let no offer expire.
_LABELS = {"accept": gettext_lazy("Accept"), "expire": gettext_lazy("Let the offer expire")}


class Deliveries(AccountView):
    is_live = True

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(delivery_filter(request.GET), request.GET, self.deliveries, annotations={"due_at": due_at()})
        prefetch_related_objects(shown["rows"], "driver", "stops")
        now = clock.now()
        for row in shown["rows"]:
            row.late_by = row.lateness(at=now)
        return self.page("panel/deliveries.html", **shown)


class DeliveriesExport(AccountView):
    """One row for each delivery, with columns for each of its three possible drop-offs."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        _log.info("%s exported deliveries of account %s", actor(request), self.account.pk)
        return table_files.response(request, "deliveries", columns=table_files.of_rows(DELIVERY), rows=self._rows())

    def _rows(self) -> Iterator[models.Delivery | str]:
        query = self.request.GET
        for rows, searched_until in all_rows(delivery_filter(query), query, self.deliveries):
            prefetch_related_objects(rows, "driver", "stops")
            yield from rows
            if searched_until:
                yield _("There are further deliveries, which were not searched.")


@dataclass(frozen=True)
class Step:
    """One change, a note of a receiver, or what the account has changed of a stop, with `by` whom.

    `event` is None of the latter two, and where the row was deleted by hand. `reason` is in the reader's language where
    it was chosen from the list of failures.
    """

    change: models.Transition
    event: models.WebhookEvent | None
    reason: str = ""
    by: str = ""

    @property
    def day(self) -> date:
        """The day of the change in the time zone of the page."""
        return timezone.localdate(self.change.at)


def history(delivery: models.Delivery) -> list[Step]:
    """The changes and notes, newest first. The nth change that is told made the nth event, in one transaction."""
    events = {event.sequence: event for event in delivery.events.first_ones().select_related("queue_item")}
    steps = []
    changes = list(delivery.transitions.all())
    number = 0
    for change, reason in zip(changes, delivery.reasons_of(changes), strict=True):
        is_told = change.trigger not in lifecycle.WITHOUT_EVENT
        number += is_told
        steps.append(Step(change, events.get(number) if is_told else None, reason))
    for changed in models.StopChange.objects.filter(stop__delivery=delivery).select_related("stop"):
        told = models.Transition(trigger="change", point=changed.stop.label, at=changed.at)
        steps.append(Step(told, None, changed.text, actor_name(changed.by)))
    for note in models.ReceiverNote.objects.filter(stop__delivery=delivery).select_related("stop"):
        told = models.Transition(trigger="note", point=note.stop.label, at=note.written_at)
        steps.append(Step(told, None, note.text))
    return sorted(steps, key=lambda step: step.change.at)[::-1]


class Delivery(AccountView):
    """One delivery: map, stops, and its history with the webhook events."""

    is_live = True

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found = get_object_or_404(self.deliveries.with_parts().with_due(), pk=delivery)
        now = clock.now()
        position = found.driver_position
        steps = history(found)
        stops = receivers.details(found.ordered_stops, at=now)
        next_place = None if found.is_closed else found.next_place
        return self.page(
            "panel/delivery.html",
            in_zone_of=found,
            delivery=found,
            route=maps.route(found, position),
            tiles=maps.tiles(),
            position=position,
            stops=stops,
            late_by=found.lateness(at=now),
            next_place=next_place,
            next_arrival=next((each.arrival for each in stops if each.stop == next_place), None),
            steps=steps,
            without_url=any(step.event and step.event.state == EventState.UNADDRESSED for step in steps),
            requested_by=steps[-1].change.by,
            at_a=next((step.change.at for step in steps if step.change.trigger == found.trigger_at_a), None),
            live_ids=_ids(found, steps),
            goods=models.GoodsInHand.objects.out().filter(delivery=found).select_related("driver"),
            **context(found),
        )


class AnyDelivery(LoggedInView):
    """Goes to a delivery's page among those of its account, or in the admin for who may see it only there."""

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found = get_object_or_404(models.Delivery, pk=delivery)
        if accounts_of(request.user).filter(pk=found.integrator_id).exists():
            return redirect("panel:delivery", found.integrator_id, found.environment, found.pk)
        if not request.user.has_perm("delivery.view_delivery"):
            raise Http404
        return redirect("admin:delivery_delivery_change", found.pk)


def _ids(delivery: models.Delivery, steps: list[Step]) -> str:
    """The ids of page updates (`delivery.page_updates`) that concern this page."""
    events = [f"event:{step.event.pk}" for step in steps if step.event]
    return " ".join([f"delivery:{delivery.pk}", f"position:{delivery.pk}", *events])


class Move(AccountView):
    """A move of a delivery of the account in the sandbox."""

    def post(self, request: HttpRequest, delivery: UUID, move: str) -> HttpResponse:
        if self.environment != Environment.SANDBOX or move not in by_hand.MOVES:
            raise Http404
        found = get_object_or_404(self.deliveries.with_parts(), pk=delivery)
        try:
            moved = by_hand.perform(move, delivery=found, fields=request.POST.dict(), by=actor(request), at=clock.now())
        except DeliveryError as error:
            messages.error(request, refusal(error))
        else:
            goes_on = _("Done. The simulated driver now waits for your moves.")
            messages.success(request, _("Done. The delivery has ended.") if moved.is_closed else goes_on)
        return redirect(self.url("delivery", found.pk))


def context(delivery: models.Delivery) -> dict[str, Any]:
    """What the delivery's page shows of the sandbox: the moves possible now, and what happens by itself."""
    if delivery.environment != Environment.SANDBOX or delivery.is_closed:
        return {}
    simulation = Simulation.objects.filter(pk=delivery.pk).first()
    allowed = by_hand.allowed(delivery)
    position_form = MoveForm("position", delivery)
    position_form.fields["position"].widget.attrs["data-on-map"] = True  # a click on the map fills it in
    position_form.fields["position"].label = _("Latitude, longitude, or a click on the map")
    return {
        "sandbox_moves": allowed,
        "simple_moves": {
            move: _LABELS.get(move) or moves.described(move, delivery).label
            for move in allowed
            if move not in _WITH_FIELDS and (move in _LABELS or not moves.MOVES[move].is_at_stop(delivery))
        },
        "reasons": words.FAILURES.items(),
        "open_stops": delivery.stops_ahead,
        "move_at_stop": next((move for move in allowed if move in ("collect", "deliver")), ""),
        "position_form": position_form,
        "is_simulated": simulation is not None,
        "next_step": _next_step(delivery, simulation),
    }


def _next_step(delivery: models.Delivery, simulation: Simulation | None) -> str:
    if simulation is None:
        return _("Nothing happens by itself: the delivery waits for your moves.")
    step = simulation.next_step(delivery)
    if delivery.is_scheduled:
        return _("The simulated driver waits for the offer, which comes by itself or when you press “Offer now”.")
    if step is None or simulation.leg_ends_at is None:
        return ""  # it has just ended
    point = "" if step.index is None else delivery.ordered_stops[step.index].label
    seconds = max(round((simulation.leg_ends_at - clock.now()).total_seconds()), 0)
    time = f"{seconds}\N{NO-BREAK SPACE}s"
    is_reverse = delivery.mode == Mode.REVERSE
    if step.is_wait:
        text = _("The simulated driver waits for a cancellation. Without one every drop-off fails in about %(time)s.")
        if is_reverse:
            text = _("The simulated driver waits for a cancellation. Without one it all is at A in about %(time)s.")
        return text % {"time": time}
    texts = {
        Trigger.ACCEPT: _("The simulated driver accepts in about %(time)s."),
        Trigger.COLLECT: (
            _("The simulated driver collects at %(point)s in about %(time)s.")
            if point
            else _("The simulated driver collects in about %(time)s.")
        ),
        Trigger.DELIVER: _("The simulated driver delivers %(point)s in about %(time)s."),
        Trigger.FAIL: (
            _("The simulated driver fails to collect at %(point)s in about %(time)s.")
            if is_reverse
            else _("The simulated driver fails to deliver %(point)s in about %(time)s.")
        ),
        Trigger.RETURN: (
            _("The simulated driver brings everything to A in about %(time)s.")
            if is_reverse
            else _("The simulated driver returns to A in about %(time)s.")
        ),
        Trigger.EXPIRE: _("No driver accepts, and the offer expires in about %(time)s."),
    }
    return texts[step.trigger] % {"point": point, "time": time}

"""Sending events now: one, those selected in the log, or all of a time range that failed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Min
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import clock
from common.actors import actor
from common.formats import moment
from delivery.actions import events
from delivery.actions.events import Replayed
from delivery.errors import EndpointCannotSend
from delivery.models import FAILING, EventState, parse_id
from delivery.models.webhook import WebhookEventQuerySet
from delivery.refusals import refusal
from panel.filters import PER_PAGE
from panel.forms import RangeForm
from panel.views.events import Events, EventsView


class ResendingView(EventsView):
    """Base class: sends events and says what becomes of them."""

    http_method_names = ["post"]

    def send(self, chosen: WebhookEventQuerySet, *, ahead: bool) -> Replayed | None:
        """Send these events now. None, with a message that says why, if the endpoint cannot be sent anything."""
        try:
            replayed = events.replay(events=chosen, by=actor(self.request), at=clock.now(), ahead=ahead)
        except EndpointCannotSend as error:
            messages.error(self.request, refusal(error))
            return None
        self.endpoint.refresh_from_db(fields=["retry_after_until"])
        until = self.endpoint.retry_after_until
        if replayed.total and until is not None and until > clock.now():
            text = _(
                "Your endpoint asked for a pause until %(until)s (Retry-After). Nothing is sent to it before that."
            )
            messages.warning(self.request, text % {"until": moment(until)})
        return replayed


class Resend(ResendingView):
    """One event: an ended one again, a waiting one at once. Nothing is sent that was received meanwhile."""

    def post(self, request: HttpRequest, event: UUID) -> HttpResponse:
        found = self.event_of(event)
        chosen = self.events.filter(pk=found.pk)
        if request.POST.get("waits"):
            chosen = chosen.exclude(state=EventState.SENT)
        replayed = self.send(chosen, ahead=True)
        if replayed is not None:
            self._say(replayed)
        return redirect(self.url("event", found.pk))

    def _say(self, replayed: Replayed) -> None:
        if replayed.again:
            messages.success(self.request, _("On its way again. This page shows what is answered."))
        elif replayed.due:
            messages.success(self.request, _("It is being tried now. This page shows what is answered."))
        elif replayed.behind:
            text = _(
                "An earlier event of this delivery has to be received first: it is being tried now, and this one "
                "follows it."
            )
            messages.success(self.request, text)
        elif replayed.in_flight:
            messages.info(self.request, _("It is on its way already."))
        else:
            messages.info(self.request, _("It was received meanwhile."))


class ResendSelected(ResendingView):
    """The events that were selected on a page of the log, at most one page. Those received meanwhile are left out."""

    def post(self, request: HttpRequest) -> HttpResponse:
        back = redirect(f"{self.url('events')}?{request.GET.urlencode()}")
        keys = [key for key in map(parse_id, request.POST.getlist("event")[: PER_PAGE + 1]) if key]
        if not keys:
            messages.info(request, _("No event is selected."))
            return back
        if len(keys) > PER_PAGE:
            messages.error(request, _("At most %(most)s events can be selected.") % {"most": PER_PAGE})
            return back
        replayed = self.send(self.events.filter(pk__in=keys).exclude(state=EventState.SENT), ahead=True)
        if replayed is not None:
            messages.success(request, _result(replayed))
        return back


class ResendRange(ResendingView, Events):
    """All that failed between two moments: what is retried, what is not any more, and what had no URL.

    GET is the dialog with the number of these events; it takes the times that the log is filtered by.
    """

    http_method_names = ["get", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("panel/recover.html", **self._dialog(self._form(request.GET)))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self._form(request.POST)
        if not form.is_valid():
            return self.show(status=422, **self._dialog(form))
        since, until = form.cleaned_data["since"], form.cleaned_data["until"]
        replayed = self.send(self.within(since, until).failed(), ahead=False)
        if replayed is None:
            return redirect(self.url("events"))
        query = QueryDict(mutable=True)
        count = str(replayed.total)
        query.update({"again_since": since.isoformat(), "again_until": until.isoformat(), "again_count": count})
        return redirect(f"{self.url('events')}?{query.urlencode()}")

    def _form(self, sent: QueryDict) -> RangeForm:
        return RangeForm(sent, first_failure=self._first_failure())

    def _first_failure(self) -> datetime | None:
        moments = [
            self.events.in_state(state).aggregate(first=Min("created_at"))["first"]
            for state in (FAILING, EventState.DEAD)
        ]
        return min((moment for moment in moments if moment), default=None)

    def _dialog(self, form: RangeForm) -> dict[str, Any]:
        """What `panel/recover.html` shows."""
        if not form.is_valid():
            return {"range_form": form, "count": None}
        count = self.within(form.cleaned_data["since"], form.cleaned_data["until"]).failed().count()
        return {"range_form": form, "range": form.cleaned_data, "count": count}


def _result(replayed: Replayed) -> str:
    text = ngettext("%(count)s event is on its way.", "%(count)s events are on their way.", replayed.total)
    parts = [text % {"count": replayed.total}]
    if replayed.behind:
        text = ngettext(
            "%(count)s of them waits for an earlier event of its delivery, which is tried first.",
            "%(count)s of them wait for earlier events of their deliveries, which are tried first.",
            replayed.behind,
        )
        parts.append(text % {"count": replayed.behind})
    if replayed.in_flight:
        text = ngettext("%(count)s was being sent already.", "%(count)s were being sent already.", replayed.in_flight)
        parts.append(text % {"count": replayed.in_flight})
    return " ".join(parts)

"""The event log with every attempt, also as a file, and sending events again."""

import logging
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby, takewhile
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Min, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import clock
from common.actors import actor
from common.api.heavy import heavy
from common.brazil.formats import named_moment
from common.columns import FILE, Column
from common.files import table_files
from common.postgresql.replica import may_be_old
from common.webhooks import feed, replays
from common.webhooks.columns import of_event
from common.webhooks.errors import EndpointCannotSend
from common.webhooks.models import FAILING, Attempt, EventState
from common.webhooks.replays import Replayed
from delivery.models import parse_id
from delivery.refusals import refusal
from panel.base import EndpointView
from panel.filters import PER_PAGE, all_rows, listed
from panel.forms import RangeForm

_log = logging.getLogger(__name__)
# More than any recovery sends.
_MOST_EVENTS = 10**12
# On the page of an event.
_MOST_OTHERS = 50
# Of `record_rest` in one request. Of sellers, each is of up to 500 orders: with four entries each, under a second.
_MOST_RECORDINGS = 4


class EventsView(EndpointView):
    """Base class of the log's views."""

    @property
    def events(self) -> Any:  # an EventQuerySet
        return self.endpoint.events.all()

    def event_of(self, key: UUID) -> Any:
        return get_object_or_404(self.events.select_related("queue_item", self.outbox.subject), pk=key)

    def within(self, since: datetime, until: datetime) -> Any:
        return self.events.filter(created_at__gte=since, created_at__lt=until)

    def record_rest(self) -> int:
        """Write the events that are recorded only when somebody wants them, so that they are listed and recovered.

        Returns how many times some were written, at most _MOST_RECORDINGS: then there may be more.
        """
        since = clock.now() - feed.KEPT
        written = (self.outbox.record_rest(self.endpoint, since) for _number in range(_MOST_RECORDINGS))
        return sum(1 for _subjects in takewhile(bool, written))

    def last_attempts(self, events: Iterable[Any]) -> dict[UUID, Attempt]:
        """The last attempt of each of these events, by their ids."""
        attempts: Any = self.outbox.attempts._default_manager
        return {attempt.event_id: attempt for attempt in attempts.last_of(events)}


class Events(EventsView):
    is_live = True

    def get(self, request: HttpRequest) -> HttpResponse:
        if recorded := self.record_rest():
            return self.show(unrecorded=_unrecorded(recorded))  # a replica may not have them yet
        return self._recorded_before(request)

    @may_be_old
    def _recorded_before(self, _request: HttpRequest) -> HttpResponse:
        return self.show()

    def show(self, *, status: int = 200, **context: Any) -> HttpResponse:
        query = self.request.GET
        shown = listed(self.filter_class, query, self.events, **self.filter_options)
        rows = shown["rows"]
        prefetch_related_objects(rows, *self.prefetched)
        attempts = self.last_attempts(rows)
        for event in rows:
            event.last_attempt = attempts.get(event.pk)
        return self.page(
            "panel/events.html",
            status=status,
            progress=_recovery(query),
            may_select=any(event.state != EventState.SENT for event in rows),
            failure=self._failure(),
            **shown,
            **context,
        )

    def _failure(self) -> Attempt | None:
        """Why the endpoint fails now, if something is sent to it; else None."""
        attempts: Any = self.outbox.attempts._default_manager
        can_fail = self.endpoint.url and self.endpoint.enabled
        return attempts.last_failure(self.endpoint) if can_fail else None


def _unrecorded(recorded: int) -> str:
    """What to say of events that `record_rest` may have left, or an empty string."""
    if recorded < _MOST_RECORDINGS:
        return ""
    return _(
        "Not all events of the last 30 days may be recorded yet. Open this list again until it no longer says so, and "
        "recover the failed events then."
    )


class EventsExport(EventsView):
    """One row for each event, with its last attempt."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        _log.info("%s exported events of %s", actor(request), self.owner_in_logs)
        return table_files.response(request, self.file_name("events"), columns=self._columns(), rows=self._rows())

    def _columns(self) -> list[table_files.Column]:
        subject = Column(self.subject_column, self.subject_code, on=FILE)
        return table_files.of_rows(of_event(subject))

    def _rows(self) -> Iterator[Any]:
        for rows, _searched_until in all_rows(self.filter_class, self.request.GET, self.events, **self.filter_options):
            prefetch_related_objects(rows, *self.prefetched)
            attempts = self.last_attempts(rows)
            for event in rows:
                event.last_attempt = attempts.get(event.pk)
                yield event


class Event(EventsView):
    is_live = True

    def get(self, request: HttpRequest, event: UUID) -> HttpResponse:
        found = self.event_of(event)
        blocked_by = self._blocking(found)
        return self.page(
            "panel/event.html",
            in_zone_of=self.place_of(found),
            event=found,
            runs=_runs(found.attempts.all()),
            blocked_by=blocked_by,
            others=self._of_same_subject(found),
            live_ids=" ".join(f"event:{each.pk}" for each in (found, blocked_by) if each),
        )

    def _of_same_subject(self, event: Any) -> list[Any]:
        """The events of its delivery or order for the same endpoint, in their order; none of a test event."""
        if event.is_test:
            return []
        of_subject = self.events.filter(**{self.outbox.subject: event.subject_id}).select_related("queue_item")
        return list(of_subject.defer("body").order_by("sequence")[:_MOST_OTHERS])

    def _blocking(self, event: Any) -> Any:
        """The earlier event of its subject and endpoint that a waiting event waits for, or None."""
        if event.state != EventState.PENDING or event.next_attempt_at is not None:
            return None
        of_subject = {f"queue_item__{self.outbox.subject}": event.subject_id}
        return self.events.filter(
            **of_subject, queue_item__endpoint=event.endpoint_id, queue_item__is_ordered=True
        ).first()


def _runs(attempts: Iterable[Attempt]) -> list[list[Attempt]]:
    """The attempts, newest first, those in a row with the same answer of the same URL together."""

    def answer(attempt: Attempt) -> Any:
        return attempt.status_code, attempt.error, attempt.response_start, attempt.url

    return [list(run) for _answer, run in groupby(sorted(attempts, key=lambda each: -each.number), key=answer)]


class Progress(EventsView):
    """A fragment with how many events of a range were sent; the browser loads it again until none is pending."""

    def get(self, request: HttpRequest) -> HttpResponse:
        span = _recovery(request.GET)
        if span is None:
            raise Http404
        within = self.within(span["since"], span["until"])
        waiting = min(within.filter(state=EventState.PENDING).count(), span["count"])
        dead = min(within.filter(state=EventState.DEAD).count(), span["count"] - waiting)
        return self.page(
            "panel/events_progress.html",
            progress=span,
            total=span["count"],
            waiting=waiting,
            sent=span["count"] - waiting - dead,
            dead=dead,
        )


class RecoveryForm(forms.Form):
    """A recovery in a query string: between which moments the events were created, and how many were sent again."""

    again_since = forms.DateTimeField()
    again_until = forms.DateTimeField()
    again_count = forms.IntegerField(min_value=0, max_value=_MOST_EVENTS)


def _recovery(query: QueryDict) -> dict[str, Any] | None:
    """What `panel/events_progress.html` shows of the recovery in the query string, or None without a valid one."""
    form = RecoveryForm(query)
    if not form.is_valid():
        return None
    since, until, count = (form.cleaned_data[name] for name in form.fields)
    return {"since": since, "until": until, "count": count, "query": query.urlencode()}


class ResendingView(EventsView):
    """Base class: sends events and says what becomes of them."""

    http_method_names = ["post"]

    def send(self, chosen: Any, *, ahead: bool) -> Replayed | None:
        """Send these events now. None, with a message that says why, if the endpoint cannot be sent anything."""
        try:
            replayed = replays.replay(events=chosen, by=actor(self.request), at=clock.now(), ahead=ahead)
        except EndpointCannotSend as error:
            messages.error(self.request, refusal(error))
            return None
        self.endpoint.refresh_from_db(fields=["retry_after_until"])
        until = self.endpoint.retry_after_until
        if replayed.total and until is not None and until > clock.now():
            text = _(
                "Your endpoint asked for a pause until %(until)s (Retry-After). Nothing is sent to it before that."
            )
            messages.warning(self.request, text % {"until": named_moment(until)})
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
        return redirect(self.endpoint_url("event", found.pk))

    def _say(self, replayed: Replayed) -> None:
        if replayed.again:
            messages.success(self.request, _("On its way again. This page shows what is answered."))
        elif replayed.due:
            messages.success(self.request, _("It is being tried now. This page shows what is answered."))
        elif replayed.behind:
            text = _("An earlier event has to be received first: it is being tried now, and this one follows it.")
            messages.success(self.request, text)
        elif replayed.in_flight:
            messages.info(self.request, _("It is on its way already."))
        else:
            messages.info(self.request, _("It was received meanwhile."))


class ResendSelected(ResendingView):
    """The events that were selected on a page of the log, at most one page. Those received meanwhile are left out."""

    def post(self, request: HttpRequest) -> HttpResponse:
        back = redirect(f"{self.endpoint_url('events')}?{request.GET.urlencode()}")
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
    is_live = False

    def get(self, request: HttpRequest) -> HttpResponse:
        unrecorded = _unrecorded(self.record_rest())
        return self.page("panel/recover.html", unrecorded=unrecorded, **self._dialog(self._form(request.GET)))

    def post(self, request: HttpRequest) -> HttpResponse:
        if unrecorded := _unrecorded(self.record_rest()):
            messages.warning(request, unrecorded)
        form = self._form(request.POST)
        if not form.is_valid():
            return self.show(status=422, **self._dialog(form))
        since, until = form.cleaned_data["since"], form.cleaned_data["until"]
        replayed = self.send(self.within(since, until).failed(), ahead=False)
        if replayed is None:
            return redirect(self.endpoint_url("events"))
        query = QueryDict(mutable=True)
        count = str(replayed.total)
        query.update({"again_since": since.isoformat(), "again_until": until.isoformat(), "again_count": count})
        return redirect(f"{self.endpoint_url('events')}?{query.urlencode()}")

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
            "%(count)s of them waits for an earlier event, which is tried first.",
            "%(count)s of them wait for earlier events, which are tried first.",
            replayed.behind,
        )
        parts.append(text % {"count": replayed.behind})
    if replayed.in_flight:
        text = ngettext("%(count)s was being sent already.", "%(count)s were being sent already.", replayed.in_flight)
        parts.append(text % {"count": replayed.in_flight})
    return " ".join(parts)

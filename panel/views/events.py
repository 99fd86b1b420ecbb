"""The event log with every attempt, and sending events again: one, or all of a time range that were given up."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.actors import actor
from delivery.actions import events
from delivery.errors import EndpointCannotSend
from delivery.forms import refusal
from delivery.models import EventState, WebhookEvent
from panel.filters import EventFilter, listed
from panel.forms import RangeForm
from panel.views.base import AccountView

# More digits than any count of events has. Python refuses to convert more than 4,300.
_MOST_DIGITS = 12
_FAILED = (EventState.DEAD, EventState.UNADDRESSED)


class EventsView(AccountView):
    """Base class of the log's views."""

    @property
    def events(self) -> QuerySet[WebhookEvent]:
        return WebhookEvent.objects.filter(endpoint=self.endpoint)

    def event_of(self, key: UUID) -> WebhookEvent:
        event = self.events.filter(pk=key).select_related("queue_item", "delivery").first()
        if event is None:
            raise Http404
        return event

    def within(self, since: datetime, until: datetime) -> QuerySet[WebhookEvent]:
        return self.events.filter(created_at__gte=since, created_at__lt=until)


class Events(EventsView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(RangeForm())

    def show(self, form: RangeForm, *, status: int = 200) -> HttpResponse:
        query = self.request.GET
        shown = listed(EventFilter, query, self.events)
        prefetch_related_objects(shown["rows"], "queue_item")
        return self.page("panel/events.html", status=status, range_form=form, progress=_range(query), **shown)


class Event(EventsView):
    def get(self, request: HttpRequest, event: UUID) -> HttpResponse:
        found = self.event_of(event)
        return self.page("panel/event.html", event=found, attempts=found.attempts.all(), endpoint=self.endpoint)


class Resend(EventsView):
    def post(self, request: HttpRequest, event: UUID) -> HttpResponse:
        found = self.event_of(event)
        try:
            count = events.replay(events=WebhookEvent.objects.filter(pk=found.pk), by=actor(request), at=timezone.now())
        except EndpointCannotSend as error:
            messages.error(request, refusal(error))
        else:
            if count:
                messages.success(request, _("On its way again. This page shows what is answered."))
            else:
                messages.info(request, _("It is on its way already."))
        return redirect(self.url("event", found.pk))


class ResendMany(Events):
    """Sends again what was given up, or recorded without a URL, between two moments."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        form = RangeForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        since, until = form.cleaned_data["since"], form.cleaned_data["until"]
        failed = self.within(since, until).filter(state__in=_FAILED)
        try:
            count = events.replay(events=failed, by=actor(request), at=timezone.now())
        except EndpointCannotSend as error:
            messages.error(request, refusal(error))
            return redirect(self.url("events"))
        text = ngettext("%(count)s event is on its way again.", "%(count)s events are on their way again.", count)
        messages.success(request, text % {"count": count})
        query = QueryDict(mutable=True)
        query.update({"again_since": since.isoformat(), "again_until": until.isoformat(), "again_count": str(count)})
        return redirect(f"{self.url('events')}?{query.urlencode()}")


class Progress(EventsView):
    """A fragment with how many events of a range were sent; the browser loads it again until none is pending."""

    def get(self, request: HttpRequest) -> HttpResponse:
        span = _range(request.GET)
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


def _range(query: QueryDict) -> dict[str, Any] | None:
    """The range and the count of a replay in the query string, or None unless all are present and well-formed."""
    try:
        since, until = (parse_datetime(query.get(name, "")) for name in ("again_since", "again_until"))
    except ValueError:
        return None
    count = query.get("again_count", "")
    if len(count) > _MOST_DIGITS or not count.isdecimal():
        return None
    if since is None or until is None or since.tzinfo is None or until.tzinfo is None:
        return None
    return {"since": since, "until": until, "count": int(count), "query": query.urlencode()}

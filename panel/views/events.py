"""The event log with every attempt."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.dateparse import parse_datetime

from common.replica import may_be_old
from delivery.models import EventState, WebhookAttempt, WebhookEvent
from delivery.models.webhook import WebhookEventQuerySet
from panel.filters import EventFilter, listed
from panel.views.base import AccountView

# More digits than any count of events has. Python refuses to convert more than 4,300.
_MOST_DIGITS = 12


class EventsView(AccountView):
    """Base class of the log's views."""

    @property
    def events(self) -> WebhookEventQuerySet:
        return WebhookEvent.objects.filter(endpoint=self.endpoint)

    def event_of(self, key: UUID) -> WebhookEvent:
        event = self.events.filter(pk=key).select_related("queue_item", "delivery").first()
        if event is None:
            raise Http404
        return event

    def within(self, since: datetime, until: datetime) -> WebhookEventQuerySet:
        return self.events.filter(created_at__gte=since, created_at__lt=until)


class Events(EventsView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show()

    def show(self, *, status: int = 200, **context: Any) -> HttpResponse:
        query = self.request.GET
        shown = listed(EventFilter, query, self.events)
        rows = shown["rows"]
        prefetch_related_objects(rows, "queue_item")
        attempts = {attempt.event_id: attempt for attempt in WebhookAttempt.objects.last_of(rows)}
        for event in rows:
            event.last_attempt = attempts.get(event.pk)
        return self.page(
            "panel/events.html",
            status=status,
            progress=_range(query),
            endpoint=self.endpoint,
            may_select=any(event.state != EventState.SENT for event in rows),
            **shown,
            **context,
        )


class Event(EventsView):
    def get(self, request: HttpRequest, event: UUID) -> HttpResponse:
        found = self.event_of(event)
        blocked_by = _blocking(found)
        return self.page(
            "panel/event.html",
            event=found,
            attempts=found.attempts.all(),
            endpoint=self.endpoint,
            blocked_by=blocked_by,
            live_ids=" ".join(f"event:{each.pk}" for each in (found, blocked_by) if each),
        )


def _blocking(event: WebhookEvent) -> WebhookEvent | None:
    """The earlier event of its delivery that a waiting event waits for."""
    if event.state != EventState.PENDING or event.next_attempt_at is not None:
        return None
    return WebhookEvent.objects.filter(queue_item__delivery=event.delivery_id, queue_item__is_ordered=True).first()


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
    """The range and the count of a recovery in the query string, or None unless all are present and well-formed."""
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

"""Reading what webhooks carried."""

import json

from django.http import HttpResponse
from rest_framework.request import Request

from common import clock, pagination
from delivery import detail_bodies
from delivery.api.filters import FeedQuery
from delivery.api.views import IntegratorView, token_of
from delivery.errors import InvalidCursor
from delivery.models import WebhookEndpoint, WebhookEvent
from delivery.webhooks import feed


class EventsView(IntegratorView):
    """GET /api/events: the webhook events of the account and environment, the oldest first."""

    def get(self, request: Request) -> HttpResponse:
        token = token_of(request)
        query = FeedQuery(request.query_params, queryset=WebhookEvent.objects.none())
        self.check_query(query.invalid, known=query.filters)
        scope = ["events", str(token.integrator_id), token.environment]
        after = _position(query.form.cleaned_data["after"], scope)
        endpoint = WebhookEndpoint.of(token.integrator_id, token.environment)
        events = feed.read(endpoint=endpoint, after=after, limit=query.limit_of_page, at=clock.now())
        last = events[-1].feed_position if events else after
        cursor = json.dumps(pagination.cursor_at(last, scope=scope))
        items = ",".join(_item(event) for event in events)
        return HttpResponse(f'{{"data":[{items}],"nextCursor":{cursor}}}', content_type="application/json")


def _position(cursor: str, scope: list[str]) -> int:
    """The position after which a page begins; without a cursor the beginning of the feed."""
    if not cursor:
        return 0
    try:
        position: int = pagination.read_cursor(cursor, scope=scope)
    except pagination.InvalidCursor as error:
        raise InvalidCursor("Take nextCursor of the answer before, or begin without 'after'.") from error
    return position


def _item(event: WebhookEvent) -> str:
    """An event as JSON. The body is inserted as it is stored, so that it has the bytes that the webhook carries."""
    facts = {
        "id": str(event.pk),
        "sequence": event.sequence,
        "createdAt": detail_bodies.moment(event.created_at),
        "sentAt": detail_bodies.moment_or_none(event.sent_at),
        "state": event.state,
    }
    return f'{json.dumps(facts)[:-1]}, "body": {event.body}}}'

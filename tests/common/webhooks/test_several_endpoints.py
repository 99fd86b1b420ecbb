"""Several endpoints of one account and environment: each has its own order, retries and poisoned events."""

import threading
from datetime import timedelta

import pytest
from django.utils import timezone

from common.webhooks.http_client import Result
from common.webhooks.settlement import settle
from delivery.models import EventState, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.common.webhooks.conftest import Sink
from tests.common.webhooks.settling import OK, REFUSED, attempt, claim
from tests.factories import DeliveryFactory, add_endpoint


@pytest.fixture
def other(token, other_sink):
    return add_endpoint(token, url=other_sink.url)


@pytest.fixture
def other_sink():
    server = Sink()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def delivery(token, other):
    """With three events for each endpoint."""
    return DeliveryFactory.create(token=token, collected=True)


def waiting(endpoint):
    """The sequences of the events that are sent next."""
    return sorted(WebhookQueueItem.objects.filter(endpoint=endpoint).values_list("event__sequence", flat=True))


class TestOrder:
    def test_of_one_endpoint_does_not_wait_for_another(self, delivery, endpoint, other):
        at = timezone.now() + timedelta(seconds=1)
        first = claim(at=at)[delivery.events.get(endpoint=endpoint, sequence=1).pk]

        settle(OUTBOX, [(first, Result(**OK, at=at))], at=at)

        assert (waiting(endpoint), waiting(other)) == ([2], [1])
        assert [claimed.sequence for claimed in claim(at=at).values()] == [2]  # the other one is still claimed

    def test_of_a_poisoned_event_is_left_at_its_endpoint_only(self, delivery, token, endpoint, other):
        refused = delivery.events.get(endpoint=other, sequence=1)
        accepted = DeliveryFactory.create(token=token).events.get(endpoint=other)
        attempt(refused, REFUSED)
        attempt(refused, REFUSED, also=[accepted])

        attempt(refused, REFUSED)

        assert (waiting(endpoint), waiting(other)) == ([1, 1], [1, 2])

    def test_ends_with_the_last_event_of_each(self, delivery, endpoint, other):
        for event in delivery.events.filter(endpoint=other).order_by("sequence"):
            attempt(event, OK)

        assert (waiting(endpoint), waiting(other)) == ([1], [])
        assert set(delivery.events.filter(endpoint=endpoint).values_list("state", flat=True)) == {EventState.PENDING}


@pytest.mark.django_db(transaction=True)
class TestSending:
    def test_has_the_same_id_and_body_and_other_secrets(self, delivery, sink, other_sink, send_due):
        send_due()

        ours, theirs = (
            [(headers["webhook-id"], headers["webhook-sequence"], body) for headers, body in server.received]
            for server in (sink, other_sink)
        )
        assert ours == theirs
        assert [sequence for _id, sequence, _body in ours] == ["1", "2", "3"]
        signatures = [server.received[0][0]["webhook-signature"] for server in (sink, other_sink)]
        assert signatures[0] != signatures[1]

    def test_goes_on_while_another_endpoint_refuses(self, delivery, sink, other_sink, other, send_due):
        sink.answers = [(500, {}, b"")]

        send_due()

        assert [headers["webhook-sequence"] for headers, _body in other_sink.received] == ["1", "2", "3"]
        assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1"]
        assert WebhookEvent.objects.filter(endpoint=other, state=EventState.SENT).count() == 3

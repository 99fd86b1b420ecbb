"""Events from the claim to the outcome: what a real endpoint receives, in which order, and what is written."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from common.webhooks import claims, endpoints, replays, sender
from common.webhooks.http_client import Request
from delivery.accounts import tokens
from delivery.actions import deliveries
from delivery.models import EventState, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, DeliveryFactory, TokenFactory


def make_due():
    WebhookQueueItem.objects.update(due_at=timezone.now(), lease=None)
    WebhookEndpoint.objects.update(paused_until=None)


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def delivery(token):
    return DeliveryFactory.create(token=token, collected=True)


class TestSending:
    def test_sends_every_event_once_in_order_with_token_and_signature(self, delivery, sink, token, endpoint, send_due):
        send_due()

        assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1", "2", "3"]
        events = WebhookEvent.objects.order_by("sequence")
        assert [body for _headers, body in sink.received] == [event.body for event in events]
        assert {event.state for event in events} == {EventState.SENT}
        assert WebhookAttempt.objects.filter(status_code=204).count() == 3
        for headers, body in sink.received:
            assert Webhook(endpoint.secret).verify(body, headers)["deliveryId"] == str(delivery.pk)
            assert headers["authorization"] == f"Bearer {token.clear_text}"
            assert headers["content-type"] == "application/json"
            assert headers["user-agent"].startswith("Rota")
            assert "webhook-test" not in headers

    def test_takes_an_answer_whose_status_alone_can_be_read(self, delivery, sink, send_due):
        sink.answers = [(200, {"Content-Length": "two"}, b"ok")]

        send_due()

        assert set(WebhookEvent.objects.values_list("state", "attempts_made")) == {(EventState.SENT, 1)}
        attempts = WebhookAttempt.objects.values_list("status_code", "error", "response_start")
        assert set(attempts) == {(200, "unread", "")}

    def test_signs_with_both_secrets_after_a_rotation(self, delivery, sink, endpoint, send_due):
        old, new = endpoint.secret, endpoints.rotate_secret(endpoint=endpoint, by=BY, at=timezone.now())

        send_due()

        headers, body = sink.received[0]
        assert Webhook(old).verify(body, headers) == Webhook(new).verify(body, headers)

    def test_keeps_the_token_and_all_signatures_out_of_what_is_stored(self, delivery, endpoint, token):
        now = timezone.now()
        endpoints.rotate_secret(endpoint=endpoint, by=BY, at=now)

        items = claims.claim(OUTBOX, lease=uuid4(), at=now, limit=1)
        ((_item, request),) = sender.build_requests(OUTBOX, items, at=now)

        assert isinstance(request, Request)
        signatures = [each.removeprefix("v1,") for each in request.headers["webhook-signature"].split()]
        assert (len(signatures), request.secrets) == (2, [token.clear_text, *signatures])

    def test_sends_the_requesting_token_although_a_newer_one_is_valid(self, delivery, sink, token, send_due):
        TokenFactory.create(integrator=token.integrator)

        send_due()

        assert {headers["authorization"] for headers, _body in sink.received} == {f"Bearer {token.clear_text}"}

    def test_sends_the_newest_valid_token_when_the_requesting_one_is_revoked(self, delivery, sink, token, send_due):
        now = timezone.now()
        TokenFactory.create(integrator=token.integrator, at=now - timedelta(days=2))
        newest = TokenFactory.create(integrator=token.integrator, at=now - timedelta(days=1))
        revoked = TokenFactory.create(integrator=token.integrator, at=now)
        TokenFactory.create(integrator=token.integrator, sandbox=True, at=now)
        TokenFactory.create(at=now)
        for ended in (token, revoked):
            tokens.revoke(token=ended, by=BY, at=now)

        send_due()

        assert {headers["authorization"] for headers, _body in sink.received} == {f"Bearer {newest.clear_text}"}

    def test_waits_while_the_account_has_no_valid_token(self, delivery, sink, token, endpoint, send_due):
        tokens.revoke(token=token, by=BY, at=timezone.now())

        for _time in range(3):
            make_due()
            send_due()

        endpoint.refresh_from_db()
        assert (sink.received, endpoint.failures, WebhookQueueItem.objects.get().tries) == ([], 0, 0)
        assert not WebhookAttempt.objects.exists()


class TestRetrying:
    def test_repeats_the_id_and_the_body_before_later_events_are_sent(self, delivery, sink, send_due):
        sink.answers = [(500, {}, b"broken"), (204, {}, b"")]

        send_due()
        assert len(sink.received) == 1
        make_due()
        send_due()

        ids = [headers["webhook-id"] for headers, _body in sink.received]
        assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1", "1", "2", "3"]
        assert ids[0] == ids[1]
        assert sink.received[0][1] == sink.received[1][1]
        assert list(WebhookAttempt.objects.values_list("number", "status_code")[:2]) == [(1, 500), (2, 204)]

    def test_waits_as_long_as_retry_after_says(self, delivery, sink, send_due):
        sink.answers = [(503, {"Retry-After": "1200"}, b"")]

        send_due()

        wait = WebhookQueueItem.objects.get().due_at - timezone.now()
        assert timedelta(minutes=19) < wait <= timedelta(minutes=20)

    def test_is_not_stopped_by_the_unreadable_secret_of_another_integrator(self, delivery, sink, send_due):
        other = DeliveryFactory.create()
        endpoints.set_url(endpoint=other.events.get().endpoint, url=sink.url, by=BY, at=timezone.now())
        # pragma: allowlist nextline secret  # of a test
        WebhookEndpoint.objects.filter(events__delivery=other).update(secret_ciphertext="unreadable")
        replays.replay(events=other.events.all(), by=BY, at=timezone.now())

        send_due()

        assert len(sink.received) == 3
        assert not WebhookAttempt.objects.filter(event__delivery=other).exists()
        assert WebhookQueueItem.objects.get().due_at > timezone.now()


class TestSeveralWorkers:
    def test_send_each_event_once_and_in_order(self, token, sink, at_once, send_due):
        for delivery in [DeliveryFactory.create(token=token, collected=True) for _number in range(8)]:
            deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())

        at_once(*[send_due] * 4)

        seen: dict[str, list[str]] = {}
        for headers, body in sink.received:
            seen.setdefault(body[:60], []).append(headers["webhook-sequence"])
        assert len(sink.received) == 32
        assert list(seen.values()) == [["1", "2", "3", "4"]] * 8

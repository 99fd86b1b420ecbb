"""Events of orders at a server on loopback: every status, in order, with what the seller has chosen."""

import base64
import json
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from common.webhooks import endpoints
from integration.actions import orders, webhooks
from integration.lifecycle import WITH_REASON, Status
from integration.models import Authentication, WebhookAttempt, WebhookEndpoint, WebhookQueueItem
from tests.integration.factories import BY, create_order

pytestmark = pytest.mark.django_db(transaction=True)
# Every status, on the ways of three orders.
WAYS = [
    ["collected", "in_transit", "out_for_delivery", "delivered"],
    ["in_transit", "delivery_failed", "returned"],
    ["cancelled"],
]


def make_due():
    """As if the pauses before the retries were over."""
    WebhookQueueItem.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    WebhookEndpoint.objects.update(paused_until=None, failures=0)


class TestEveryStatus:
    def test_reaches_a_server_that_answers_500_twice_once_and_in_sequence(self, seller, told, sink, send_due):
        made = [create_order(seller, orderId=f"A-{number}") for number in range(len(WAYS))]
        for order, way in zip(made, WAYS, strict=True):
            for status in map(Status, way):
                details = orders.Details(reason_code="ABSENT" if status in WITH_REASON else "")
                orders.move(order=order, to=status, by=BY, at=timezone.now(), details=details)
        sink.refused_first = 2

        while WebhookQueueItem.objects.exists():
            send_due()
            make_due()

        requests: Counter[str] = Counter()
        taken = []
        for head, body in sink.received:
            requests[head["webhook-id"]] += 1
            if requests[head["webhook-id"]] == 3:  # after two refusals
                taken.append((head, body))
        assert set(requests.values()) == {3}
        found = [(json.loads(body)["orderId"], int(head["webhook-sequence"])) for head, body in taken]
        assert sorted(found) == [
            (f"A-{number}", sequence) for number, way in enumerate(WAYS) for sequence in range(1, len(way) + 2)
        ]
        for number in range(len(WAYS)):
            sequences = [sequence for order, sequence in found if order == f"A-{number}"]
            assert sequences == sorted(sequences)
        assert {json.loads(body)["status"] for _head, body in taken} == {status.value for status in Status}

    def test_is_signed_with_the_secret_of_the_endpoint_and_has_the_receivers_link(self, seller, told, sink, send_due):
        order = create_order(seller)

        send_due()

        ((head, body),) = sink.received
        assert Webhook(told.secret).verify(body, head)["status"] == "pending"
        assert "authorization" not in head
        assert head["rota-tracking-url"] == order.tracking_url


class TestAuthentication:
    @pytest.mark.parametrize(
        ("text", "header", "value"),
        [
            ("basic:ana:s3cret:2", "authorization", f"Basic {base64.b64encode(b'ana:s3cret:2').decode()}"),
            ("bearer:open-sesame-2026", "authorization", "Bearer open-sesame-2026"),
            ("header:X-Api-Key:open-sesame-2026", "x-api-key", "open-sesame-2026"),
        ],
    )
    def test_is_carried_and_kept_out_of_what_is_stored(self, seller, told, sink, send_due, text, header, value):
        chosen = Authentication.parse(text)
        webhooks.set_authentication(endpoint=told, authentication=chosen, by=BY, at=timezone.now())
        sink.answers = [(400, {}, f"You sent {value}".encode())]
        create_order(seller)

        send_due()

        ((head, _body),) = sink.received
        assert head[header] == value
        attempt = WebhookAttempt.objects.get()
        assert "[secret]" in attempt.response_start
        stored = attempt.token_hint + attempt.response_start
        assert not any(secret in stored for secret in chosen.header().secrets)

    def test_that_cannot_be_decrypted_delays_nobody_else(self, seller, told, sink, send_due):
        chosen = Authentication.parse("bearer:open-sesame")
        webhooks.set_authentication(endpoint=told, authentication=chosen, by=BY, at=timezone.now())
        WebhookEndpoint.objects.update(authentication_ciphertext="gAAAAA")
        create_order(seller)

        send_due()

        assert sink.received == []
        assert WebhookQueueItem.objects.get().due_at > timezone.now()

    def test_can_be_a_test_events_too(self, told, sink, send_due):
        endpoints.send_test(endpoint=told, by=BY, at=timezone.now())

        send_due()

        ((head, body),) = sink.received
        assert (head["webhook-test"], json.loads(body)["orderId"]) == ("true", "test")
        assert "rota-tracking-url" not in head

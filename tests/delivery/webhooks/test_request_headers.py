"""The requests that attempts keep, compared with those that an endpoint received."""

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from common.webhooks import endpoints
from delivery.actions import deliveries
from delivery.lifecycle import OnFailure
from delivery.models import WebhookAttempt, WebhookEvent
from delivery.payload import Options
from panel.templatetags import webhooks
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory

pytestmark = pytest.mark.django_db(transaction=True)
OF_THE_CLIENT = {"host", "accept", "accept-encoding", "content-length"}


def shown(attempt):
    """The request line and the headers that the page shows, names in lower case."""
    line, *headers = webhooks.request_head(attempt, attempt.event).splitlines()
    return line, {name.lower(): value for name, value in (header.split(": ", 1) for header in headers)}


def received(headers):
    return {name: value for name, value in headers.items() if name not in OF_THE_CLIENT}


class TestRequestOfAnAttempt:
    def test_is_shown_as_it_was_received_but_for_the_token(self, token, endpoint, sink, send_due):
        DeliveryFactory.create(token=token)
        endpoints.rotate_secret(endpoint=endpoint, by=BY, at=timezone.now())  # so that there are two signatures
        send_due()

        line, headers = shown(WebhookAttempt.objects.get())

        assert line == f"POST {sink.url}"
        assert headers.pop("authorization") == f"Bearer {token.hint}"
        sent = received(sink.received[0][0])
        assert sent.pop("authorization") == f"Bearer {token.clear_text}"
        assert headers == sent
        assert len(headers["webhook-signature"].split()) == 2

    def test_of_a_test_event_has_its_header(self, token, endpoint, sink, send_due):
        endpoints.send_test(endpoint=endpoint, by=BY, at=timezone.now())
        send_due()

        assert set(shown(WebhookAttempt.objects.get())[1]) == set(received(sink.received[0][0]))

    def test_of_a_failure_names_its_code(self, token, endpoint, sink, send_due):
        """Of a first failure, of one that is not tried again, and of one that is final."""
        delivery = asking_for(Options(), Options(on_failure=OnFailure.RETRY), token=token, collected=True)
        at = timezone.now()
        deliveries.fail(delivery=delivery, point="C", code="CLOSED", reason="", by=BY, at=at)
        deliveries.recall(delivery=delivery, point="C", by=BY, at=at)
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=at)
        deliveries.return_(delivery=delivery, by=BY, at=at)
        send_due()

        told = [headers.get("rota-failure") for headers, _body in sink.received]

        assert told == [None, None, None, "c=CLOSED", "c=CLOSED", "b=ABSENT", None]
        of_b = WebhookAttempt.objects.get(event__sequence=6)
        assert shown(of_b)[1]["rota-failure"] == "b=ABSENT"

    def test_differs_between_the_attempts_at_an_event(self, token, endpoint, sink, send_due):
        event = DeliveryFactory.create(token=token).events.get()
        sink.answers = [(500, {}, b"")]
        send_due()
        endpoints.rotate_secret(endpoint=endpoint, by=BY, at=timezone.now())
        endpoints.set_url(endpoint=endpoint, url=f"{sink.url}/second", by=BY, at=timezone.now())
        send_due()

        first, second = (shown(attempt) for attempt in event.attempts.all())

        assert (first[0], second[0]) == (f"POST {sink.url}", f"POST {sink.url}/second")
        assert [received(headers)["webhook-signature"] for headers, _body in sink.received] == [
            first[1]["webhook-signature"], second[1]["webhook-signature"],
        ]  # fmt: skip  # a table

    def test_verifies_with_the_secret_although_nobody_received_it(self, token, endpoint, send_due):
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/nobody", by=BY, at=timezone.now())
        event = DeliveryFactory.create(token=token).events.get()
        send_due()

        _line, headers = shown(WebhookAttempt.objects.get())

        endpoint.refresh_from_db()
        Webhook(endpoint.secret).verify(event.body, headers)

    def test_holds_no_secret(self, token, endpoint, send_due):
        DeliveryFactory.create(token=token)
        send_due()

        (row,) = WebhookAttempt.objects.values()

        endpoint.refresh_from_db()
        assert not [value for value in row.values() if token.clear_text in str(value) or endpoint.secret in str(value)]
        assert WebhookEvent.objects.get().state == "sent"

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from common.webhooks import claims
from delivery.actions import endpoints
from delivery.errors import EndpointCannotSend, SecretRotatedLately
from delivery.models import Token, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, DeliveryFactory, IntegratorFactory, TokenFactory


@pytest.fixture
def endpoint(db):
    return IntegratorFactory.create().endpoints.get(environment="live")


class TestRotateSecret:
    def test_lets_both_secrets_sign_for_24_hours_and_is_possible_again_then(self, endpoint):
        old, now = endpoint.secret, timezone.now()
        replaced = endpoints.rotate_secret(endpoint=endpoint, by=BY, at=now)
        end = now + timedelta(hours=24)
        just_before = end - timedelta(microseconds=1)

        rotated = WebhookEndpoint.objects.get(pk=endpoint.pk)
        assert (rotated.secrets(at=just_before), rotated.secrets(at=end)) == ([replaced, old], [replaced])
        with pytest.raises(SecretRotatedLately):
            endpoints.rotate_secret(endpoint=endpoint, by=BY, at=just_before)
        new = endpoints.rotate_secret(endpoint=endpoint, by=BY, at=end)

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).secrets(at=end) == [new, replaced]

    def test_stores_no_clear_text(self, endpoint):
        row = " ".join(str(value) for value in WebhookEndpoint.objects.filter(pk=endpoint.pk).values_list()[0])

        assert endpoint.secret not in row
        assert "whsec_" not in row


class TestSendTest:
    @pytest.fixture
    def addressed(self, endpoint):
        TokenFactory.create(integrator=endpoint.integrator)
        return endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())

    def test_is_claimed_before_everything_that_waits(self, addressed):
        DeliveryFactory.create(token=addressed.integrator.tokens.get())
        WebhookQueueItem.objects.update(due_at=timezone.now() - timedelta(days=365))

        event = endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now())

        (claimed,) = claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1)
        assert (claimed.event_id, claimed.is_test) == (event.pk, True)

    def test_goes_at_once_during_a_probe_pause_of_the_breaker(self, addressed):
        pause = timezone.now() + timedelta(hours=1)
        WebhookEndpoint.objects.filter(pk=addressed.pk).update(failures=9, paused_until=pause)

        endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now())

        assert len(claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1)) == 1

    def test_waits_until_a_pause_has_ended_that_the_endpoint_asked_for(self, addressed):
        at = timezone.now()
        end = at + timedelta(minutes=30)
        WebhookEndpoint.objects.filter(pk=addressed.pk).update(failures=9, paused_until=end, retry_after_until=end)

        endpoints.send_test(endpoint=addressed, by=BY, at=at)

        assert claims.claim(OUTBOX, lease=uuid4(), at=end - timedelta(seconds=1), limit=1) == []
        assert len(claims.claim(OUTBOX, lease=uuid4(), at=end, limit=1)) == 1

    def test_has_every_key_of_a_real_event(self, addressed):
        test = json.loads(endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now()).body)
        real = json.loads(DeliveryFactory.create(stops=1).events.get().body)

        assert shape(test) == shape(real)

    @pytest.mark.parametrize(
        ("prevent", "why"),
        [
            (lambda _endpoint: WebhookEndpoint.objects.update(url=""), "no URL"),
            (lambda _endpoint: Token.objects.update(revoked_at=timezone.now()), "no valid token"),
            (
                lambda endpoint: endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=timezone.now()),
                "resume them first",
            ),
        ],
    )
    def test_is_refused_to_an_endpoint_that_cannot_send(self, addressed, prevent, why):
        prevent(addressed)

        with pytest.raises(EndpointCannotSend, match=why):
            endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now())

        assert not WebhookEvent.objects.exists()

    def test_is_refused_after_60_within_an_hour(self, addressed):
        start = timezone.now()
        for minute in range(endpoints.TESTS_PER_HOUR):
            endpoints.send_test(endpoint=addressed, by=BY, at=start + timedelta(seconds=30 * minute))

        with pytest.raises(EndpointCannotSend, match="60 test events"):
            endpoints.send_test(endpoint=addressed, by=BY, at=start + timedelta(minutes=59))
        written = WebhookEvent.objects.count()
        endpoints.send_test(endpoint=addressed, by=BY, at=start + timedelta(hours=1))

        assert (written, WebhookEvent.objects.count()) == (60, 61)


def shape(value):
    """The keys of a body, nested ones included."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None

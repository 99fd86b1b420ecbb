from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import endpoints
from delivery.errors import InvalidWebhookUrl
from delivery.models import WebhookEndpoint
from tests.factories import BY, IntegratorFactory


@pytest.fixture
def endpoint(db):
    return IntegratorFactory.create().endpoints.get(environment="live")


class TestSetUrl:
    def test_keeps_the_url(self, endpoint):
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9000/hook", by=BY)

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).url == "http://127.0.0.1:9000/hook"

    def test_refuses_loopback_outside_the_embedded_mode(self, endpoint, settings):
        settings.WEBHOOK_ALLOW_LOOPBACK = False

        with pytest.raises(InvalidWebhookUrl):
            endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9000/hook", by=BY)

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).url == ""


class TestRotateSecret:
    def test_lets_both_sign_for_a_day(self, endpoint):
        old, now = endpoint.secret, timezone.now()

        new = endpoints.rotate_secret(endpoint=endpoint, by=BY, at=now)

        rotated = WebhookEndpoint.objects.get(pk=endpoint.pk)
        assert rotated.secrets(at=now + timedelta(hours=23)) == [new, old]
        assert rotated.secrets(at=now + timedelta(hours=25)) == [new]

    def test_keeps_no_clear_text(self, endpoint):
        row = " ".join(str(value) for value in WebhookEndpoint.objects.filter(pk=endpoint.pk).values_list()[0])

        assert endpoint.secret not in row
        assert "whsec_" not in row

"""PUT /api/integration/sandbox/webhook: the webhook URL of the sandbox, without a browser."""

import pytest
from django.test import override_settings
from django.utils import timezone

from common.accounts import Environment
from integration.models import EndpointChange, WebhookEndpoint
from tests.integration.factories import key_of

pytestmark = pytest.mark.django_db
PATH, URL = "/api/integration/sandbox/webhook", "http://127.0.0.1:9/hook"


@pytest.fixture
def of_sandbox(seller, seller_client):
    client = seller_client(seller)
    client.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")
    return client


def put(client, **body):
    return client.put(PATH, body, format="json")


class TestSandboxWebhook:
    def test_is_set_and_the_secret_answered_once(self, of_sandbox, seller):
        first, second = put(of_sandbox, url=URL), put(of_sandbox, url=URL + "/2")

        endpoint = WebhookEndpoint.objects.get()
        assert (endpoint.seller, endpoint.environment, endpoint.url) == (seller, "sandbox", URL + "/2")
        assert first.json() == {"success": True, "data": {"url": URL, "signingSecret": endpoint.secret}}
        assert second.json() == {"success": True, "data": {"url": URL + "/2", "signingSecret": None}}
        assert {change.by.partition(" ")[0] for change in EndpointChange.objects.all()} == {"key"}

    def test_gets_a_new_secret_as_often_as_it_is_asked_for(self, of_sandbox):
        shown = [put(of_sandbox, url=URL).json()["data"]["signingSecret"]]

        answers = [put(of_sandbox, rotateSecret=True).json()["data"] for _time in range(2)]

        shown += [answer["signingSecret"] for answer in answers]
        assert ({answer["url"] for answer in answers}, len(set(shown))) == ({URL}, 3)
        assert WebhookEndpoint.objects.get().secrets(at=timezone.now()) == [shown[2], shown[1]]

    def test_is_told_in_portuguese_what_rotates(self, of_sandbox):
        answer = put(of_sandbox, url=URL, rotateSecret="sim")

        assert answer.json()["errors"] == {"rotateSecret": ["Deve ser true ou false."]}

    def test_with_a_live_key_is_not_found(self, api):
        answer = put(api, url=URL)

        assert (answer.status_code, answer.json()["code"]) == (404, "sandbox_only")
        assert not WebhookEndpoint.objects.exists()

    @override_settings(WEBHOOK_ALLOW_LOOPBACK=False)
    def test_is_refused_in_portuguese_by_the_rules_of_the_panel(self, of_sandbox):
        answer = put(of_sandbox, url="https://10.0.0.1/")

        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_webhook_url")
        assert answer.json()["message"] == "Informe um host, não um endereço IP."
        assert answer.json()["errors"] == {"url": [answer.json()["message"]]}
        assert not WebhookEndpoint.objects.exclude(url="").exists()

    @pytest.mark.parametrize("body", [{}, {"url": None}, {"url": 7}, {"url": "x" * 2001}])
    def test_needs_a_text(self, of_sandbox, body):
        answer = put(of_sandbox, **body)

        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["url"])
        assert not WebhookEndpoint.objects.exists()

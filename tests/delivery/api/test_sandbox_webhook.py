"""PUT /api/sandbox/webhook: the webhook URL of the sandbox, without a browser."""

import pytest
from django.test import override_settings
from django.utils import timezone

from delivery.models import AuditEntry, WebhookEndpoint
from tests.cases import in_turn
from tests.delivery.api.calls import assert_field_refused, assert_problem
from tests.factories import TokenFactory, add_endpoint

pytestmark = pytest.mark.django_db
PATH, URL = "/api/sandbox/webhook", "http://127.0.0.1:9/hook"


@pytest.fixture
def token():
    return TokenFactory.create(sandbox=True)


def put(api, **body):
    return api.put(PATH, body, format="json")


def urls():
    return set(WebhookEndpoint.objects.exclude(url="").values_list("environment", "number", "url"))


class TestSandboxWebhook:
    def test_is_set_and_the_secret_answered_once(self, api, token):
        endpoint = WebhookEndpoint.of(token.integrator_id, "sandbox")[0]

        first, second = put(api, url=URL), put(api, url=URL + "/2")

        assert first.status_code == second.status_code == 200
        assert first.json() == {"url": URL, "signingSecret": endpoint.secret}
        assert second.json() == {"url": URL + "/2", "signingSecret": None}
        assert urls() == {("sandbox", 1, URL + "/2")}
        entries = AuditEntry.objects.filter(action__in=["url_set", "secret_shown"]).values_list("action", "by")
        assert set(entries) == {("url_set", f"token {token.hint}"), ("secret_shown", f"token {token.hint}")}

    @pytest.mark.parametrize("body", [{"rotateSecret": True}, {"rotateSecret": True, "url": URL}])
    def test_gets_a_new_secret_as_often_as_it_is_asked_for(self, api, token, body):
        shown = [put(api, url=URL).json()["signingSecret"]]

        answers = [put(api, **body).json() for _time in range(3)]

        assert {answer["url"] for answer in answers} == {URL}
        shown += [answer["signingSecret"] for answer in answers]
        assert len(set(shown)) == 4
        endpoint = WebhookEndpoint.of(token.integrator_id, "sandbox")[0]
        assert endpoint.secrets(at=timezone.now()) == [shown[3], shown[2]]
        assert AuditEntry.objects.filter(action="secret_rotated", by=f"token {token.hint}").count() == 3
        assert put(api, url=URL).json()["signingSecret"] is None

    @pytest.mark.parametrize("rotate", [False, None])
    def test_keeps_the_secret_unless_it_is_to_be_rotated(self, api, token, rotate):
        secret = put(api, url=URL, rotateSecret=rotate).json()["signingSecret"]

        assert WebhookEndpoint.of(token.integrator_id, "sandbox")[0].secret == secret
        assert not AuditEntry.objects.filter(action="secret_rotated").exists()

    def test_is_removed_by_an_empty_url(self, api):
        put(api, url=URL)

        assert put(api, url="").json() == {"url": "", "signingSecret": None}
        assert urls() == set()

    def test_leaves_further_endpoints_alone(self, api, token):
        add_endpoint(token, url=URL + "/further")

        put(api, url=URL)

        assert urls() == {("sandbox", 1, URL), ("sandbox", 2, URL + "/further")}

    def test_with_a_live_token_is_not_found(self, client_of, token):
        answer = put(client_of(TokenFactory.create(integrator=token.integrator)), url=URL)

        assert_problem(answer, 404, "sandbox_only")
        assert urls() == set()

    def test_rotates_nothing_with_a_live_token(self, client_of, token):
        live = TokenFactory.create(integrator=token.integrator)
        secrets = set(WebhookEndpoint.objects.values_list("secret_ciphertext"))

        assert_problem(put(client_of(live), rotateSecret=True), 404, "sandbox_only")

        assert set(WebhookEndpoint.objects.values_list("secret_ciphertext")) == secrets

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("http://shop.example/", "must begin with https://"),
            ("https://10.0.0.1/", "not an IP address"),
            ("https://user:secret@shop.example/", "user name"),  # pragma: allowlist secret
            ("https://shop.example:8080/", "443 and 8443"),
        ],
    )
    @override_settings(WEBHOOK_ALLOW_LOOPBACK=False)
    def test_is_refused_by_the_rules_of_the_panel(self, api, url, why):
        answer = put(api, url=url)

        problem = assert_problem(answer, 422, "invalid_webhook_url")
        assert why in problem["detail"]
        assert problem["errors"] == [{"pointer": "#/url", "code": problem["code"], "detail": problem["detail"]}]
        assert urls() == set()
        assert not AuditEntry.objects.filter(action="secret_shown").exists()

    @in_turn("body", [{}, {"rotateSecret": False}, {"url": None}, {"url": 7}, {"url": "x" * 2001}])
    def test_needs_a_text(self, api, body):
        assert_field_refused(api.put(PATH, body, format="json"), "#/url")

        assert urls() == set()

    def test_rotates_for_true_alone(self, api):
        assert_field_refused(put(api, url=URL, rotateSecret="yes"), "#/rotateSecret")  # pragma: allowlist secret

        assert urls() == set()

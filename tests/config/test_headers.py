"""Headers that keep browsers and proxies in bounds: on every kind of answer, those of static files and errors too."""

import json

import pytest
from django.db import OperationalError

from config.monitoring import readiness
from delivery.models import Delivery, RefusedDeliveryCall
from integration.models import RefusedSellerCall
from tests.cases import in_turn
from tests.factories import payload

# A page, a redirect, both APIs, an error of each, a static file.
PATHS = [
    "/account/login/", "/panel/", "/nowhere", "/healthz", "/static/panel/base.css", "/static/panel/icon.svg",
    "/static/npm/htmx.org/dist/htmx.min.js",
    "/api/request-delivery", "/api/nowhere", "/api/integration/orders", "/api/integration/nowhere",
]  # fmt: skip  # a list of paths
# Directives that `default-src` does not stand for are named.
POLICY = {"default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"}
OF_PAGES = {"object-src 'none'", "script-src 'self'", "form-action 'self'"}
OF_ANSWERS = {"form-action 'none'"}


@pytest.fixture
def over_tls(client, settings, db):
    """Ask for a path as a production start with TLS serves it."""
    settings.SECURE_HSTS_SECONDS = 31_536_000
    responses = []

    def ask(path, method="GET", **more):
        responses.append(client.generic(method, path, secure=True, **more))
        return responses[-1]

    yield ask
    for response in responses:
        response.close()  # static files are open files


class TestEveryAnswer:
    @pytest.fixture
    def answers(self, over_tls):
        return {path: over_tls(path) for path in PATHS}

    def test_has_a_content_security_policy(self, answers):
        for path, response in answers.items():
            policy = {part.strip() for part in response["Content-Security-Policy"].split(";")}
            assert policy >= POLICY | (OF_ANSWERS if path.startswith("/api/") else OF_PAGES), path

    def test_is_what_its_content_type_says(self, answers):
        for path, response in answers.items():
            assert response["X-Content-Type-Options"] == "nosniff", path
            assert "charset=" in response["Content-Type"] or not response["Content-Type"].startswith("text/"), path

    def test_requires_tls_for_a_year_on_subdomains_too(self, answers):
        found = {path: response["Strict-Transport-Security"] for path, response in answers.items()}

        assert found == dict.fromkeys(PATHS, "max-age=31536000; includeSubDomains")

    def test_isolates_the_page_from_other_sites(self, answers):
        for path, response in answers.items():
            assert response["Referrer-Policy"] == "same-origin", path
            assert response["Cross-Origin-Opener-Policy"] == "same-origin", path
            assert "Access-Control-Allow-Origin" not in response, path

    def test_is_not_cached_except_for_static_files(self, answers):
        kept = [path for path, response in answers.items() if "no-store" not in response["Cache-Control"]]

        assert kept == [path for path in PATHS if path.startswith("/static/")]

    def test_does_not_repeat_a_trace(self, over_tls):
        for path in PATHS:
            response = over_tls(path, "TRACE", headers={"X-Secret": "repeated"})
            assert response.status_code in {302, 401, 404, 405}, path
            assert b"repeated" not in b"".join(response), path


class TestPlainHttp:
    """Where SECURE_SSL_REDIRECT is set."""

    @pytest.fixture(autouse=True)
    def _redirected(self, settings):
        settings.SECURE_SSL_REDIRECT = True

    def test_of_a_page_leads_to_https(self, client):
        response = client.get("/account/login/")

        assert (response.status_code, response["Location"]) == (301, "https://testserver/account/login/")

    @pytest.mark.parametrize(
        ("path", "key", "value"),
        [("/api/request-delivery", "code", "tls_required"), ("/api/integration/orders", "success", False)],
    )
    def test_of_an_api_is_refused(self, client, db, path, key, value):
        response = client.post(path, {}, content_type="application/json")

        assert response.status_code == 403
        assert response.json()[key] == value

    @pytest.mark.parametrize(
        ("path", "advice"), [("/api/deliveries", "Replace the token"), ("/api/integration/orders", "Troque a chave")]
    )
    def test_of_an_api_is_told_to_replace_the_credential_that_it_carried(self, client, db, path, advice):
        with_one = client.get(path, headers={"Authorization": "Basic unknown"}).content.decode()
        without = client.get(path).content.decode()

        assert (advice in with_one, advice in without) == (True, False)

    def test_of_an_api_over_tls_is_served(self, client, db):
        assert client.post("/api/request-delivery", {}, content_type="application/json", secure=True).status_code == 401

    @pytest.mark.parametrize(("path", "status"), [("/healthz", 200), ("/readyz", 200), ("/metrics", 404)])
    def test_of_a_probe_is_answered(self, client, db, monkeypatch, path, status):
        monkeypatch.setattr(readiness, "results", dict)

        assert client.get(path).status_code == status

    def test_of_an_integrator_is_named_in_the_account(self, api, token):
        answer = api.post("/api/request-delivery", payload(), format="json")

        row = RefusedDeliveryCall.objects.get()
        assert (row.integrator_id, row.credential) == (token.integrator_id, token.hint)
        assert (row.status, row.code, row.request_id) == (403, "tls_required", answer["X-Request-Id"])
        assert not Delivery.objects.exists()

    def test_of_a_seller_is_named_in_the_account(self, buyer):
        answer = buyer.get("/api/integration/orders")

        row = RefusedSellerCall.objects.get()
        assert (row.status, row.code) == (403, "tls_required")
        assert json.loads(row.answer) == answer.json()

    def test_without_a_valid_token_is_named_nowhere(self, client, db):
        answer = client.get("/api/deliveries", headers={"Authorization": "Bearer rota_live_unknown"})

        assert (answer.status_code, answer.json()["code"]) == (403, "tls_required")
        assert not RefusedDeliveryCall.objects.exists()

    def test_is_refused_while_postgresql_is_away(self, client, monkeypatch):
        def fail(*_arguments, **_options):
            raise OperationalError("away")

        monkeypatch.setattr("delivery.accounts.tokens.authenticate", fail)

        answer = client.get("/api/deliveries", headers={"Authorization": "Bearer rota_live_unknown"})

        assert (answer.status_code, answer.json()["code"]) == (403, "tls_required")


@in_turn(
    "path",
    [
        "/.git/config", "/.env", "/static/", "/static/panel/", "/static/../config/settings.py",
        "/static/%2e%2e/config/settings.py", "/static/panel/../../config/settings.py", "/var/secrets.json",
        "/static/npm/leaflet/package.json", "/static/npm/../package.json",
    ],
)  # fmt: skip  # a list of paths
def test_no_file_but_static_ones_is_served_and_no_folder_listed(client, db, path):
    assert client.get(path).status_code == 404

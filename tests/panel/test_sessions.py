"""Log-in: where it leads, with a second factor, and what ends a session."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from tests.one_time_codes import code_of

LOG_IN = reverse("account_login")
PASSWORD = "a-good-password-1"  # pragma: allowlist secret  # of a test


@pytest.fixture(autouse=True)
def _fresh_codes(db):
    cache.clear()


@pytest.fixture
def maria(db):
    return User.objects.create_user("maria", password=PASSWORD)


def log_in(client, password=PASSWORD, **more):
    return client.post(LOG_IN, {"login": "maria", "password": password, **more})


@pytest.fixture
def secret(maria):
    """Give Maria a second factor, and return its secret."""
    text = totp.generate_totp_secret()
    totp.TOTP.activate(maria, text)
    RecoveryCodes.activate(maria)
    return text


class TestPassword:
    def test_redirects_to_the_page_that_was_requested(self, client, maria):
        response = client.post(f"{LOG_IN}?next=/panel/", {"login": "maria", "password": PASSWORD})

        assert (response.status_code, response.url) == (302, "/panel/")

    @pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
    def test_does_not_redirect_to_another_site(self, client, maria, target):
        response = log_in(client, next=target)

        assert response.url == "/panel/work/"

    def test_there_is_no_page_to_sign_up(self, client, db):
        assert client.get("/account/signup/").status_code == 404


class TestSecondFactor:
    def test_is_asked_for_before_anything_else(self, client, secret):
        response = log_in(client)

        assert response.url.startswith(reverse("mfa_authenticate"))
        assert client.get("/panel/").url.startswith(LOG_IN)

    def test_takes_a_recovery_code_once(self, client, secret, maria):
        code = Authenticator.objects.get(user=maria, type="recovery_codes").wrap().get_unused_codes()[0]

        outcomes = []
        for _time in range(2):
            log_in(client)
            client.post(reverse("mfa_authenticate"), {"code": code})
            outcomes.append(client.get("/panel/").status_code)
            client.logout()

        assert outcomes == [200, 302]

    def test_is_encrypted_in_the_database(self, secret, maria):
        stored = str(Authenticator.objects.get(user=maria, type="totp").data)

        assert secret not in stored


class TestSecretKey:
    """SECRET_KEY rotated as docs/operations.md describes."""

    def test_replaced_with_the_former_one_kept_ends_no_session(self, client, maria, settings):
        log_in(client)
        settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 50
        assert client.get("/panel/").status_code == 200

        settings.SECRET_KEY_FALLBACKS = []
        assert client.get("/panel/").status_code == 200

    def test_replaced_alone_ends_every_session(self, client, maria, settings):
        log_in(client)
        settings.SECRET_KEY = "n" * 50

        assert client.get("/panel/").url.startswith(LOG_IN)


class TestRequired:
    @pytest.fixture(autouse=True)
    def _required(self, settings):
        settings.REQUIRE_TWO_FACTOR = True

    def test_of_staff_alone(self, as_role):
        assert as_role("member").get("/panel/").status_code == 200

    def test_admits_staff_with_one(self, client, secret, maria):
        User.objects.filter(pk=maria.pk).update(is_staff=True)
        log_in(client)
        client.post(reverse("mfa_authenticate"), {"code": code_of(secret)})

        assert client.get("/panel/").status_code == 200

    def test_one_set_up_elsewhere_does_not_open_this_session(self, client, maria):
        User.objects.filter(pk=maria.pk).update(is_staff=True)
        client.force_login(maria)
        assert client.get("/panel/").status_code == 302
        totp.TOTP.activate(maria, totp.generate_totp_secret())

        assert client.get("/panel/").url.startswith(reverse("mfa_reauthenticate"))


def test_no_page_for_people_is_kept(as_role):
    browser = as_role("superuser")

    for path in ("/panel/", "/account/two-factor/", "/admin/"):
        assert "no-store" in browser.get(path).headers["Cache-Control"]


def test_a_fragment_after_the_sessions_end_leads_its_page_to_the_log_in(client, db):
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/panel/board/?environment=live"}

    response = client.get(reverse("panel:board_routes"), headers=headers)

    assert response.status_code == 401
    assert response["HX-Redirect"] == "/account/login/?next=%2Fpanel%2Fboard%2F"


def test_a_fragment_of_no_page_leads_to_the_log_in(client, db):
    for url in ["http://[", "http://[::1", "//[", "http://]/panel/board/", "\x00", "", "x" * 100_000]:
        headers = {"HX-Request": "true", "HX-Current-URL": url}

        response = client.get(reverse("panel:board_routes"), headers=headers)

        assert response.status_code == 401
        assert response["HX-Redirect"].startswith("/account/login/?next=")

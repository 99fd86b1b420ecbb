"""A browser that somebody has logged in from is let through where unknown ones are not."""

from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse

from access import throttle
from access.throttle import Secret
from tests.access.conftest import CHECKED, HERE, IN, LOG_IN, PASSWORD, REFUSED, log_in
from tests.cases import in_turn
from tests.one_time_codes import code_of, set_up


@pytest.fixture
def known(maria):
    """Maria's browser, logged in once and out again."""
    browser = Client()
    assert log_in(PASSWORD, browser=browser) == IN
    browser.post(reverse("account_logout"))
    return browser


@pytest.fixture
def attacked(maria):
    """As many wrong passwords for Maria's name as are let through, from twenty addresses."""
    for n in range(100):
        request = RequestFactory().post(LOG_IN, REMOTE_ADDR=f"198.51.100.{n % 20}")
        throttle.begin(request, secret=Secret.PASSWORD, name="maria")


def cookie_of(browser, user):
    return browser.cookies[f"known_device_{user.pk}"]


class TestKnownDevice:
    def test_can_log_in_while_its_name_is_attacked(self, maria, known, attacked):
        assert log_in(PASSWORD) == REFUSED

        assert log_in(PASSWORD, browser=known) == IN

    def test_can_log_in_while_its_address_is_attacked(self, maria, known):
        for n in range(20):
            log_in(name=f"name-{n}")

        assert [log_in(PASSWORD), log_in(PASSWORD, browser=known)] == [REFUSED, IN]

    def test_has_ten_wrong_passwords_an_hour(self, maria, known):
        outcomes = Counter(log_in(browser=known, address=f"198.51.100.{n}") for n in range(14))

        assert outcomes == {CHECKED: 10, REFUSED: 4}
        assert log_in(PASSWORD, browser=known) == REFUSED

    def test_does_not_count_towards_the_attempts_of_other_devices(self, maria, known):
        for _attempt in range(14):
            log_in(browser=known)

        assert Counter(log_in() for _attempt in range(7)) == {CHECKED: 5, REFUSED: 2}

    def test_is_known_for_its_own_name_alone(self, maria, known):
        User.objects.create_user("joao", password=PASSWORD)

        assert Counter(log_in(name="joao", browser=known) for _attempt in range(7)) == {CHECKED: 5, REFUSED: 2}

    def test_of_several_people_is_known_for_each(self, maria, known, attacked):
        User.objects.create_user("joao", password=PASSWORD)
        log_in(PASSWORD, name="joao", browser=known)
        known.post(reverse("account_logout"))

        assert log_in(PASSWORD, browser=known) == IN

    def test_is_unknown_after_a_change_of_the_password(self, maria, known, attacked):
        maria.set_password("another-password-2")
        maria.save()

        assert log_in("another-password-2", browser=known) == REFUSED

    def test_is_unknown_after_a_second_factor_was_set_up(self, maria, known, attacked):
        set_up(maria)

        assert log_in(PASSWORD, browser=known) == REFUSED

    def test_is_unknown_after_its_lifetime(self, maria, known, attacked, monkeypatch):
        monkeypatch.setattr(throttle, "LIFETIME", timedelta(seconds=-1))

        assert log_in(PASSWORD, browser=known) == REFUSED

    @in_turn("forged", ["", "x", "a:b:c", "a" * 4000, "\udcff".encode("utf-8", "replace").decode()])
    def test_is_not_forged(self, maria, attacked, forged):
        browser = Client()
        browser.cookies[f"known_device_{maria.pk}"] = forged

        assert log_in(PASSWORD, browser=browser) == REFUSED

    def test_of_one_person_is_not_that_of_another_under_their_name(self, maria, known):
        joao = User.objects.create_user("joao", password=PASSWORD)
        known.cookies[f"known_device_{joao.pk}"] = cookie_of(known, maria).value

        assert Counter(log_in(name="joao", browser=known) for _attempt in range(7)) == {CHECKED: 5, REFUSED: 2}


class TestCookie:
    @pytest.mark.parametrize(("is_secure", "prefix"), [(True, "__Secure-"), (False, "")])
    def test_is_for_the_log_in_alone(self, maria, settings, is_secure, prefix):
        settings.SESSION_COOKIE_SECURE = is_secure
        browser = Client()

        log_in(PASSWORD, browser=browser)

        cookie = browser.cookies[f"{prefix}known_device_{maria.pk}"]
        assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/account/", True, "Lax")
        assert (cookie["max-age"], bool(cookie["secure"])) == (90 * 24 * 60 * 60, is_secure)

    def test_is_given_after_the_second_factor_only(self, maria):
        secret, browser = set_up(maria), Client()

        log_in(PASSWORD, browser=browser)
        before = set(browser.cookies)
        browser.post(reverse("mfa_authenticate"), {"code": code_of(secret)}, REMOTE_ADDR=HERE)

        name = f"known_device_{maria.pk}"
        assert (name in before, name in browser.cookies) == (False, True)

"""Every page that checks a password or a code has the limits of the log-in."""

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import enrolment
from tests.access.conftest import CHECKED, HERE, IN, PASSWORD, REFUSED, WRONG, log_in, outcome
from tests.one_time_codes import code_of, set_up

NEW = {"password1": "another-password-2", "password2": "another-password-2"}  # pragma: allowlist secret


@pytest.fixture
def secret(maria):
    text = set_up(maria)
    RecoveryCodes.activate(maria)
    return text


@pytest.fixture
def logged_in(maria):
    browser = Client()
    browser.force_login(maria)
    return browser


def send(browser, name, data):
    return outcome(browser.post(reverse(name), data, REMOTE_ADDR=HERE))


class TestWrongSecrets:
    """Five are checked, and not even the right one afterwards."""

    def test_on_the_page_that_changes_the_password(self, maria, logged_in):
        sent = [send(logged_in, "account_change_password", {"oldpassword": WRONG, **NEW}) for _n in range(7)]

        assert sent == [CHECKED] * 5 + [REFUSED] * 2
        assert send(logged_in, "account_change_password", {"oldpassword": PASSWORD, **NEW}) == REFUSED
        maria.refresh_from_db()
        assert maria.check_password(PASSWORD)

    def test_on_the_page_that_asks_for_the_password_again(self, logged_in):
        sent = [send(logged_in, "account_reauthenticate", {"password": WRONG}) for _n in range(7)]

        assert sent == [CHECKED] * 5 + [REFUSED] * 2
        assert send(logged_in, "account_reauthenticate", {"password": PASSWORD}) == REFUSED

    def test_of_a_password_are_counted_together(self, logged_in):
        send(logged_in, "account_change_password", {"oldpassword": WRONG, **NEW})
        send(logged_in, "account_reauthenticate", {"password": WRONG})

        assert [log_in() for _n in range(4)] == [CHECKED] * 3 + [REFUSED]

    def test_on_the_page_of_the_second_factor(self, secret):
        browser = Client()
        log_in(PASSWORD, browser=browser)

        sent = [send(browser, "mfa_authenticate", {"code": "000000"}) for _n in range(7)]

        assert sent == [CHECKED] * 5 + [REFUSED] * 2
        assert send(browser, "mfa_authenticate", {"code": code_of(secret)}) == REFUSED
        assert "_auth_user_id" not in browser.session

    def test_on_the_page_that_asks_for_the_second_factor_again(self, secret, logged_in):
        sent = [send(logged_in, "mfa_reauthenticate", {"code": "000000"}) for _n in range(7)]

        assert sent == [CHECKED] * 5 + [REFUSED] * 2
        assert send(logged_in, "mfa_reauthenticate", {"code": code_of(secret)}) == REFUSED

    def test_of_a_second_factor_are_counted_over_new_log_ins(self, secret):
        sent = []
        for _n in range(7):
            browser = Client()
            log_in(PASSWORD, browser=browser)
            sent.append(send(browser, "mfa_authenticate", {"code": "000000"}))

        assert sent == [CHECKED] * 5 + [REFUSED] * 2

    def test_on_the_page_that_sets_up_a_second_factor(self, maria, settings):
        settings.REQUIRE_TWO_FACTOR = True
        maria.is_staff = True
        maria.save()
        code = enrolment.issue(user=maria, by="tester", at=timezone.now())
        browser = Client()
        log_in(PASSWORD, browser=browser)
        del browser.cookies[f"known_device_{maria.pk}"]
        secret = browser.get(reverse("mfa_activate_totp")).context["form"].secret
        right = {"code": code_of(secret)}

        sent = [send(browser, "mfa_activate_totp", {"enrolment_code": "wrong", **right}) for _n in range(7)]

        assert sent == [CHECKED] * 5 + [REFUSED] * 2
        assert send(browser, "mfa_activate_totp", {"enrolment_code": code, **right}) == REFUSED
        assert not enrolment.has_second_factor(maria)


def test_a_right_code_does_not_reset_the_failures_of_its_address(maria, secret):
    for n in range(20):
        log_in(name=f"name-{n}")
    browser = Client()
    log_in(PASSWORD, browser=browser, address="198.51.100.1")

    browser.post(reverse("mfa_authenticate"), {"code": code_of(secret)}, REMOTE_ADDR=HERE)

    assert log_in(name="somebody") == REFUSED


def test_a_right_code_gives_the_attempt_back(maria, secret):
    browser = Client()
    log_in(PASSWORD, browser=browser)
    for _n in range(4):
        send(browser, "mfa_authenticate", {"code": "000000"})

    assert send(browser, "mfa_authenticate", {"code": code_of(secret)}) == IN

"""One-time codes of a second factor: each works once, and for its 30 s."""

import time

import pytest
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from tests.access.conftest import PASSWORD, log_in
from tests.one_time_codes import set_up


@pytest.fixture
def secret(maria):
    """The secret of Maria's second factor."""
    cache.clear()
    return set_up(maria)


@pytest.fixture
def begin(monkeypatch):
    """Set the clock to the beginning of a code's time, and give its number."""
    monkeypatch.setattr("time.time", lambda: 1_800_000_000.0)
    return int(time.time()) // 30


def log_in_with(code):
    browser = Client()
    log_in(PASSWORD, browser=browser)
    browser.post(reverse("mfa_authenticate"), {"code": code})
    return browser.get("/panel/").status_code == 200


def code_of(secret, number):
    return totp.format_hotp_value(totp.hotp_value(secret, number))


def test_works_once(secret, begin):
    code = code_of(secret, begin)

    assert [log_in_with(code), log_in_with(code)] == [True, False]


@pytest.mark.parametrize("shift", [-1, 1])
def test_works_in_no_other_half_minute(secret, begin, shift):
    assert not log_in_with(code_of(secret, begin + shift))

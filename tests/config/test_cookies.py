"""Cookies of a production start: for this host alone, over TLS, out of reach of scripts.

Scripts read one, which tells pages on the device that somebody has logged in or out, and nothing more.
"""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.production import settings_of

NAMES = ("SESSION", "CSRF", "LANGUAGE")


def test_each_is_for_this_host_over_tls():
    parts = ("NAME", "SECURE", "HTTPONLY", "SAMESITE", "PATH", "DOMAIN")
    found = settings_of(*(f"[{', '.join(f's.{name}_COOKIE_{part}' for part in parts)}]" for name in NAMES))

    assert dict(zip(NAMES, found, strict=True)) == {
        "SESSION": ["__Host-sessionid", True, True, "Lax", "/", None],
        "CSRF": ["__Host-csrftoken", True, True, "Lax", "/", None],
        "LANGUAGE": ["__Host-language", True, True, "Lax", "/", None],
    }


OLD, NEW = "a-good-password-1", "another-good-2"


@pytest.fixture
def maria(db):
    return User.objects.create_user("maria", password=OLD)


def test_a_log_in_works_with_them(maria, settings):
    for name in NAMES:
        setattr(settings, f"{name}_COOKIE_NAME", f"__Host-{name.lower()}")
        setattr(settings, f"{name}_COOKIE_SECURE", True)
    browser = Client(enforce_csrf_checks=True)
    page = browser.get("/account/login/", secure=True)
    token = page.context["csrf_token"]

    headers = {"Referer": "https://testserver/account/login/"}
    fields = {"login": "maria", "password": OLD, "csrfmiddlewaretoken": token}
    response = browser.post("/account/login/", fields, secure=True, headers=headers)

    assert response.status_code == 302
    assert browser.get("/panel/", secure=True).status_code == 200
    assert {"__Host-session", "__Host-csrf"} < set(browser.cookies)


def test_there_are_no_others(client, maria, settings):
    client.get("/account/login/")
    client.post("/account/login/", {"login": "maria", "password": OLD})
    client.post("/language/", {"language": "pt-br", "next": "/"})
    changed = {"oldpassword": OLD, "password1": NEW, "password2": NEW}
    assert client.post("/account/password/", changed).status_code == 302  # with a message

    assert set(client.cookies) == {
        settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME,
        settings.PERSON_CHANGED_COOKIE_NAME, f"known_device_{maria.pk}",
    }  # fmt: skip  # a list of names

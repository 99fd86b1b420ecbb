"""Headers that cannot be read: a page that refuses or goes on, and never a 500."""

import pytest
from django.test import Client
from django.urls import reverse

NO_ADDRESS = ["http://[", "http://[::1", "//[", "http://]", "x" * 100_000, "\x00", "http://a:b:c/", "http://\u2100/"]
HEADERS = [
    *[("HX-Current-URL", value) for value in NO_ADDRESS],
    *[("Referer", value) for value in NO_ADDRESS],
    *[("Origin", value) for value in NO_ADDRESS],
    *[("Host", value) for value in ("[", "[::1", "a:b:c", "\x00", "x" * 10_000)],
    *[("X-Forwarded-For", value) for value in ("[", ",", "\x00", "1" * 100_000)],
    *[("X-Forwarded-Proto", value) for value in ("https,http", "[")],
    *[("Accept-Language", value) for value in ("x" * 100_000, "pt;q=x", "-", ",;q", "\x00", "pt-" * 50_000)],
    *[("Accept", value) for value in ("/", ";", "*/*;q=x", "\x00", "a/b;" * 10_000)],
    *[("Cookie", value) for value in ("sessionid=\x00", "csrftoken=[; =; ;", "messages=[; known_device_1=:::")],
    *[("X-CSRFToken", value) for value in ("\x00", "[", "x" * 64)],
    *[("If-Modified-Since", value) for value in ("x", "Mon, 99 Feb 2026 00:00:00 GMT")],
    *[("If-None-Match", value) for value in ('"', "W/")],
    *[("Range", value) for value in ("bytes=x-y", "bytes=-")],
    *[("X-Request-Id", value) for value in ("\x00", "[" * 10_000)],
    *[("HX-Request", "["), ("Authorization", "Basic ["), ("X-Requested-With", "XMLHttpRequest")],
]
FORMS = [
    "application/x-www-form-urlencoded; charset=rot13",
    "multipart/form-data",
    "multipart/form-data; boundary=\x00",
    "multipart/form-data; boundary=x; charset=rot13",
    "multipart/form-data; boundary=x; charset=nonsense",
    "multipart/form-data; boundary=" + "x" * 10_000,
    "application/json",
    ";",
]
PAGES = ["account_login", "panel:home", "panel:board_routes", "mfa_index", "admin:index", "set_language"]


@pytest.mark.parametrize(("header", "value"), HEADERS, ids=lambda text: text[:30])
@pytest.mark.parametrize("role", ["anonymous", "superuser"])
def test_no_header_breaks_a_page(settings, as_role, role, header, value):
    settings.TRUSTED_PROXIES = 1
    browser = as_role(role)
    sent = {"HX-Request": "true", header: value}

    statuses = [browser.get(reverse(name), headers=sent).status_code for name in PAGES]
    statuses += [browser.post(reverse(name), {"language": "en"}, headers=sent).status_code for name in PAGES]

    assert all(status < 500 for status in statuses)


@pytest.mark.parametrize("content_type", FORMS, ids=lambda text: text[:50])
@pytest.mark.parametrize("name", ["account_login", "set_language"])
def test_no_kind_of_form_breaks_a_page(db, content_type, name):
    body = b'--x\r\nContent-Disposition: form-data; name="login"\r\n\r\n\xff\r\n--x--\r\n'

    response = Client().generic("POST", reverse(name), body, content_type)

    assert response.status_code < 500

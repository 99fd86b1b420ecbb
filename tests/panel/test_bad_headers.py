"""Headers that cannot be read: a page that refuses or goes on, and never a 500."""

from contextlib import nullcontext
from http.cookies import SimpleCookie

import pytest
from django.test import Client
from django.urls import reverse

from tests.access.test_rights_by_url import nothing_rendered

NO_ADDRESS = ["http://[", "http://[::1", "//[", "http://]", "x" * 100_000, "\x00", "http://a:b:c/", "http://\u2100/"]
HEADERS = [
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
# One with the frame of the panel and one with that of the log-in are rendered. Of the others the answer is enough: what
# reads headers to render a page is of the frame.
RENDERED = {"account_login", "panel:home"}
PAGES = ["account_login", "panel:home", "panel:board_routes", "mfa_index", "admin:auth_group_add", "set_language"]


@pytest.mark.timeout(300)  # over a thousand calls
@pytest.mark.parametrize("role", ["anonymous", "superuser"])
def test_no_header_breaks_a_page(settings, as_role, role):
    settings.TRUSTED_PROXIES = 1
    browser = as_role(role)
    cookies, broken = browser.cookies.output(attrs=[], header=""), {}

    for header, value in HEADERS:
        browser.cookies = SimpleCookie(cookies)  # a post may end the session or choose a language
        sent = {"HX-Request": "true", header: value}
        for name in PAGES:
            path = reverse(name)
            with nullcontext() if name in RENDERED else nothing_rendered():
                answers = browser.get(path, headers=sent), browser.post(path, {"language": "en"}, headers=sent)
            if any(answer.status_code >= 500 for answer in answers):
                broken[header, value[:30]] = path

    assert broken == {}


def test_no_kind_of_form_breaks_a_page(db):
    body = b'--x\r\nContent-Disposition: form-data; name="login"\r\n\r\n\xff\r\n--x--\r\n'

    found = {
        (name, content_type): Client().generic("POST", reverse(name), body, content_type).status_code
        for name in ("account_login", "set_language")
        for content_type in FORMS
    }

    assert {sent: status for sent, status in found.items() if status >= 500} == {}

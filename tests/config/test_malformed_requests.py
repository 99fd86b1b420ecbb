"""What no view can read, sent to every URL by strangers and by people: refused without an error in the log."""

import logging
import re

import pytest
from django.conf import settings

from tests.access.rights_by_url import ROUTES, takes
from tests.panel.conftest import address

FORM = "application/x-www-form-urlencoded"
JUNK = b'--x\r\nContent-Disposition: form-data; name="a\0"; filename="\0"\r\nContent-Type: \0\r\n\r\n'
_NUL = r'"aaaaaaaa\000"'  # as cookies write it
COOKIES = [
    settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.DRIVER_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME,
    settings.CHANGED_COOKIE_NAME, settings.PERSON_CHANGED_COOKIE_NAME, "messages",
]  # fmt: skip  # a list
FIELDS = re.compile(r'name="([\w-]+)"')


def get(**headers):
    return lambda browser, path: browser.get(path, **headers)


def form(body, content_type=FORM):
    return lambda browser, path: browser.generic("POST", path, body, content_type)


def every_field(browser, path):
    """A NUL in each field that the page has."""
    page = getattr(browser.get(path), "content", b"").decode(errors="replace")  # an event stream has none
    names = {*FIELDS.findall(page), "q", "login", "next", "order", "email"}
    form("&".join(f"{name}=a%00b" for name in names - {"csrfmiddlewaretoken"}))(browser, path)


def with_cookies(browser, path):
    browser.cookies.clear()
    browser.get(path, HTTP_COOKIE="; ".join(f"{name}={_NUL}" for name in COOKIES))


# What views read themselves.
OF_VIEWS = {
    "NUL in the query": lambda browser, path: browser.get(f"{path}?a=%00&q=a%00b&page=%00&next=%00"),
    "no UTF-8 in the query": lambda browser, path: browser.get(f"{path}?a=%ff&q=%ff%00&page=%ed%a0%80"),
    "NUL in every field": every_field,
}
# What a view that takes forms reads as Django parses it, and the APIs by their own parsers.
OF_PARSERS = {
    "too many fields": form("&".join(f"a{number}=1" for number in range(1500))),
    "too many parts": form(
        b"".join(b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' for _ in range(1500)) + b"--x--",
        content_type="multipart/form-data; boundary=x",
    ),
    "multipart without a boundary": form(b"a", content_type="multipart/form-data"),
    "multipart of junk": form(JUNK, content_type="multipart/form-data; boundary=x"),
}  # fmt: skip  # a table
# What is read before there is a view, so that a tenth of the URLs shows it.
OF_ANY_REQUEST = {
    "another charset": form("a=1", content_type=f"{FORM}; charset=utf-7"),
    "no such charset": form("a=1", content_type=f"{FORM}; charset=unheard-of"),
    "cookies": with_cookies,
    "another host": get(HTTP_HOST="evil.example"),
    "no host": get(HTTP_HOST=""),
    "headers that are not ASCII": get(
        HTTP_ACCEPT_LANGUAGE="\xff", HTTP_REFERER="\xff", HTTP_ORIGIN="\xff", HTTP_USER_AGENT="\xff",
        HTTP_ACCEPT="\xff",
        HTTP_AUTHORIZATION="\xff", HTTP_X_FORWARDED_FOR="\xff", HTTP_IF_MODIFIED_SINCE="\xff", HTTP_RANGE="\xff",
        HTTP_IF_NONE_MATCH="\xff", HTTP_X_REQUEST_ID="\xff", HTTP_X_HTTP_METHOD_OVERRIDE="\xff",
    ),
}  # fmt: skip  # a table


def paths(world):
    """Each route, with its path with something for its arguments, and with a NUL for each that is a text."""
    for route in ROUTES:
        if "logout" not in route:
            yield route, address(route, world)
            if "<str:" in route or "<path:" in route:
                texts = re.findall(r"<(?:str|path):(\w+)>", route)
                yield route, address(route, {**world, **dict.fromkeys(texts, "a%00b")})


@pytest.fixture
def errors(caplog):
    """Records with a traceback, and those of errors, since it was asked for them last.

    Without those of the admin's pages (`config.site`), whose people send what no stranger can.
    """
    caplog.set_level(logging.WARNING)

    def since():
        records = [each for each in caplog.records if each.exc_info or each.levelno > logging.WARNING]
        caplog.clear()
        return [f"{each.name}: {each.getMessage()}" for each in records if each.name != "config.site"]

    return since


@pytest.mark.timeout(300)  # every URL
@pytest.mark.parametrize(
    ("role", "kinds", "step"),
    [
        ("anonymous", OF_VIEWS, 1),
        ("anonymous", OF_PARSERS, 4),
        ("anonymous", OF_ANY_REQUEST, 10),
        ("superuser", {name: OF_VIEWS[name] for name in ("NUL in every field", "NUL in the query")}, 1),
    ],
    ids=["strangers to views", "strangers to parsers", "strangers to middleware", "people to views"],
)
def test_every_url_refuses(role, kinds, step, as_role, world, errors):
    browser = as_role(role)
    browser.raise_request_exception = False
    session = browser.cookies.output(attrs=[], header="")
    found = {}

    every = list(paths(world))
    asked = [each for number, each in enumerate(every) if not number % step or (step < 10 and "/api/" in each[1])]
    for route, path in asked:
        for kind, send in kinds.items():
            if send is every_field and not takes("POST", route):
                continue
            browser.cookies.clear()
            browser.cookies.load(session)
            send(browser, path)
            if logged := errors():
                found[path, kind] = logged

    assert found == {}

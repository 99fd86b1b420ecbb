"""CPU time with worst-case texts in the path, the query and the headers of a request."""

from functools import partial
from urllib.parse import urlencode

import pytest

from config.server import limits
from tests.cost.cpu import assert_cheap
from tests.cost.worst import EXTREMES, SIZE, texts
from tests.cost.wsgi import ask
from tests.factories import TokenFactory
from tests.integration.api.test_tracking import URL as TRACKING

# CPU seconds. The slowest case, an 8 KiB cookie on Python 3.11, needs a third of this.
SECONDS = 1

HEADERS = [
    "Authorization", "Content-Type", "X-Request-Id", "Cookie", "Accept", "Accept-Language", "Host", "Referer", "Origin",
    "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "If-None-Match", "If-Modified-Since", "HX-Current-URL",
    "HX-Request", "X-CSRFToken", "User-Agent", "Idempotency-Key", "Prefer",
]  # fmt: skip  # a list of names
PATHS = ["/api/info-delivery/x", TRACKING, "/account/login/", "/panel/"]
# Worst cases for the parsers of cookies, parameters, hosts, URLs and base64. `filled` repeats the last character.
WORST = [
    "1", "x", " ", ",", ";", "/", ".", "-", ":", "=", '"', "\\", "%", "(", "[", 'a="\\', 'a="\\1', 'a="; ', 'a/b;a=";',
    "a/b; ;", "multipart/form-data;boundary=x", "text/plain;charset=x", "a/b;charset*=x'y'1",
    "text/plain; charset=rot13;", "pt-", "pt,", "en;q=0", "Basic A", "Bearer x", "Bearer  ",
    "http://[", "http://a.", "[:", "Mon, 1", 'W/"',
]  # fmt: skip  # a list of texts


def filled(text, size):
    """The text with its last character repeated, and an open quote closed."""
    end = '"' if text.count('"') == 1 else ""
    return text + text[-1] * (size - len(text + end)) + end


def checked(method, path, **request):
    answer = ask(method, path, **request)
    assert answer.status < 500, answer
    assert answer.headers["X-Request-Id"]


class TestAHeader:
    @pytest.mark.parametrize("path", PATHS)
    def test_is_cheap_at_the_limit_and_beyond(self, path, db):
        # One beyond the limit is refused before the path is looked at.
        sizes = [limits.LONGEST_HEADER, *([SIZE] if path == PATHS[0] else [])]
        calls = {
            f"{name}: {text} of {len(value)}": partial(
                checked, "GET", path, headers={"HX-Request": "true", name: value}
            )
            for size in sizes
            for text in WORST
            for value in [filled(text, size)]
            for name in HEADERS
        }

        assert_cheap(calls, seconds=SECONDS)

    @pytest.mark.parametrize("name", ["Cookie", "Content-Type", "Authorization", "X-Anything"])
    def test_beyond_the_limit_is_refused_in_the_form_of_the_area(self, name, db):
        given = {name: "x" * (limits.LONGEST_HEADER + 1)}

        answers = [ask("GET", path, headers=given) for path in PATHS]

        assert [answer.status for answer in answers] == [431] * 4
        assert b'"code": "header_too_long"' in answers[0].body
        assert f"O cabeçalho {name} é maior que 8 KiB".encode() in answers[1].body
        assert b"<h1>The request is too large</h1>" in answers[2].body


class TestAPath:
    def test_with_the_worst_id_is_cheap(self, db):
        headers = {"Authorization": f"Bearer {TokenFactory.create().clear_text}"}
        endpoints = {"info-delivery": "GET", "location-delivery": "GET", "cancel-delivery": "POST", "deliveries": "GET"}
        calls = {
            f"{endpoint}: {kind} of {size}": partial(checked, method, f"/api/{endpoint}/{text}", headers=headers)
            for size in (limits.LONGEST_URL - 100, SIZE)
            for kind, text in texts(size).items()
            for endpoint, method in endpoints.items()
        }

        assert_cheap(calls, seconds=SECONDS)

    @pytest.mark.parametrize(("path", "form"), [("/api/x", b"url_too_long"), (TRACKING, "O endereço é maior".encode())])
    @pytest.mark.parametrize("part", ["path", "query"])
    def test_beyond_the_limit_is_refused_in_the_form_of_the_area(self, path, form, part, db):
        long = "x" * limits.LONGEST_URL

        answer = ask("GET", path + long) if part == "path" else ask("GET", path, query=long)

        assert answer.status == 414
        assert form in answer.body


class TestAQuery:
    @pytest.mark.parametrize(
        ("path", "names"),
        [
            (TRACKING, ["type", "value", "document"]),
            ("/api/deliveries", ["externalId", "status", "createdFrom", "createdTo", "updatedFrom", "limit", "cursor"]),
            ("/api/events", ["after", "limit"]),
            (
                "/api/integration/orders",
                ["orderId", "trackingCode", "status", "createdFrom", "createdTo", "updatedFrom", "limit", "cursor"],
            ),
        ],
    )
    def test_is_cheap(self, path, names, headers_for):
        get = partial(checked, "GET", path, headers=headers_for(path))
        needed = {"type": "document", "value": "1"} if path == TRACKING else {}
        calls = {
            f"{name}: {kind} of {size}": partial(get, query=urlencode(needed | {name: text}))
            for name in names
            for size in (600, SIZE)  # 600 is below the limit even when percent-encoded
            for kind, text in texts(size).items()
        }

        assert_cheap(calls, seconds=SECONDS)

    @pytest.mark.parametrize("name", ["createdFrom", "createdTo", "updatedFrom"])
    @pytest.mark.parametrize("path", ["/api/deliveries", "/api/integration/orders"])
    def test_of_the_first_and_the_last_moment_of_all_is_no_error_of_ours(self, path, name, headers_for):
        for text in [*EXTREMES, *(moment[:10] for moment in EXTREMES)]:
            checked("GET", path, headers=headers_for(path), query=urlencode({name: text}))

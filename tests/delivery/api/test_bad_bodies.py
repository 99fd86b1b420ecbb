"""Bodies that are no request at all: not JSON, too large, too deep, of another type."""

import gzip
import json

import pytest

from tests.cases import in_turn
from tests.delivery.api.calls import QUOTE, REQUEST, assert_nothing_written, assert_problem, send
from tests.factories import payload

pytestmark = pytest.mark.django_db
BOTH = (QUOTE, REQUEST)
# A body, and a part of the reason that the refusal gives.
NOT_AN_OBJECT = [
    ("not json", ""),
    ("{", ""),
    ('{"a": 1]', "line 1 column 8"),
    ("{'vehicleType': 'CAR'}", ""),
    ("[]", ""),
    ('[{"vehicleType": "CAR"}]', ""),
    ("1", ""),
    ("1.5", ""),
    ('"text"', ""),
    ("null", ""),
    ("true", ""),
    ("NaN", ""),
    (" \n", "The body is empty."),
    (b"\x00", ""),
    (b"\xff\xfe", ""),
    (b"\xed\xa0\x80", ""),
    (b"\xef\xbb\xbf{}", "a byte order mark (BOM"),
    (gzip.compress(b"{}"), "compressed with gzip"),
    ('{"a": "ação"}'.encode("latin-1"), "not in UTF-8: the byte at offset 8 does not fit"),
    ("{}".encode("utf-16"), "UTF-16"),
    ("{}".encode("utf-16-le"), "UTF-16"),
    ("{}".encode("utf-32"), "UTF-16 or UTF-32"),
    (b'{"a": NaN}', "NaN or Infinity"),
    (b'{"a": Infinity}', "NaN or Infinity"),
    (b'{"a": -Infinity}', "NaN or Infinity"),
    (b'{"a": ' + b"9" * 5000 + b"}", "too many digits"),
    ('{"vehicleType": ' + "[" * 100_000, ""),
    ('{"vehicleType": ' + '{"a":' * 50_000, ""),
]


def padded(size):
    """A valid body of exactly `size` bytes."""
    empty = json.dumps(payload(padding=""))
    return json.dumps(payload(padding="x" * (size - len(empty))))


def nested(levels, opening, closing):
    """A valid body of so many levels, of which the body itself is the first."""
    deep = f"{opening * (levels - 1)}1{closing * (levels - 1)}"
    return f'{json.dumps(payload())[:-1]}, "unknown": {deep}}}'


class TestABodyThatIsNoJSONObject:
    @pytest.mark.parametrize("path", BOTH)
    def test_is_refused_with_the_reason(self, api, path):
        for raw, reason in NOT_AN_OBJECT:
            assert reason in assert_problem(send(api, path, raw), 422, "malformed_body")["detail"], raw[:80]

        assert_nothing_written()

    def test_is_an_empty_one_too(self, api):
        for path in BOTH:
            body = assert_problem(send(api, path, ""), 422, "invalid_payload")
            assert [error["pointer"] for error in body["errors"]] == ["#/vehicleType", "#/pickup", "#/dropoffs"]

        assert_nothing_written()


class TestABodyOutOfBounds:
    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
    def test_is_refused_beyond_20_levels(self, api, opening, closing):
        for path in BOTH:
            problem = assert_problem(send(api, path, nested(21, opening, closing)), 422, "malformed_body")
            assert "deeper than 20 levels" in problem["detail"]

        assert_nothing_written()
        assert send(api, REQUEST, nested(20, opening, closing)).status_code == 201

    def test_is_413_beyond_256_kib(self, api):
        for path in BOTH:
            for size in (256 * 1024 + 1, 3_000_000):
                assert_problem(send(api, path, padded(size)), 413, "body_too_large")

        assert_nothing_written()
        assert send(api, QUOTE, padded(256 * 1024)).status_code == 200


class TestAContentType:
    @in_turn(
        "content_type",
        ["", "text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
    )  # fmt: skip  # a list of cases
    def test_other_than_json_is_415(self, api, content_type):
        for path in BOTH:
            response = api.generic("POST", path, json.dumps(payload()), content_type=content_type)

            problem = assert_problem(response, 415, "unsupported_media_type")
            assert problem["detail"] == "Send the body as JSON, with the header Content-Type: application/json."

        assert_nothing_written()

    @pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
    def test_may_be_json_in_any_spelling(self, api, content_type):
        assert send(api, QUOTE, json.dumps(payload()), content_type).status_code == 200

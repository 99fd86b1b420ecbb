"""Bodies that are no request at all: not JSON, too large, too deep, of another type."""

import json

import pytest

from delivery.models import Delivery
from tests.delivery.api.calls import (
    CANCEL,
    QUOTE,
    assert_nothing_written,
    assert_problem,
    send,
)
from tests.factories import DeliveryFactory, payload


def nested(depth, opening="[", closing="]"):
    return '{"vehicleType": ' + opening * depth + closing * depth + "}"


def padded(size):
    """A valid body of exactly `size` bytes."""
    empty = json.dumps(payload(padding=""))
    return json.dumps(payload(padding="x" * (size - len(empty))))


@pytest.mark.django_db
class TestABodyThatIsNoJSONObject:
    @pytest.mark.parametrize(
        "body",
        [
            "not json",
            "{",
            '{"vehicleType": "CAR",}',
            "{'vehicleType': 'CAR'}",
            "[]",
            '[{"vehicleType": "CAR"}]',
            "1",
            "1.5",
            '"text"',
            "null",
            "true",
            "NaN",
            " ",
            b"\x00",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"\xef\xbb\xbf{}",
            '{"vehicleType": "CAR"}'.encode("utf-16"),
            b'{"vehicleType": "S\xe3o"}',
        ],
    )
    def test_is_refused(self, api, path, body):
        response = send(api, path, body)

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    def test_is_refused_on_cancel_too(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        response = send(api, CANCEL.format(delivery.pk), "null")

        assert_problem(response, 422, "malformed_body")
        assert Delivery.objects.get().status == "PENDING"

    def test_is_an_empty_one_too(self, api, path):
        response = send(api, path, "")

        body = assert_problem(response, 422, "invalid_payload")
        assert [error["pointer"] for error in body["errors"]] == ["#/vehicleType", "#/pickup", "#/dropoffs"]
        assert_nothing_written()


@pytest.mark.django_db
class TestABodyOutOfBounds:
    @pytest.mark.parametrize("depth", [21, 100, 100_000])
    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
    def test_is_refused_when_nested_too_deep(self, api, path, depth, opening, closing):
        body = nested(depth, opening, closing).replace(":}", ":1}")[: 250 * 1024]

        response = send(api, path, body)

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    def test_is_refused_when_an_unknown_key_is_nested_too_deep(self, api, path):
        deep = nested(100)[16:-1]

        response = send(api, path, json.dumps(payload())[:-1] + f', "unknown": {deep}}}')

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    @pytest.mark.parametrize("size", [256 * 1024 + 1, 300 * 1024, 1_000_000, 3_000_000])
    def test_is_413_when_too_large(self, api, path, size):
        response = send(api, path, padded(size))

        assert_problem(response, 413, "body_too_large")
        assert_nothing_written()

    def test_is_taken_up_to_256_kib(self, api):
        assert send(api, QUOTE, padded(256 * 1024)).status_code == 200

    def test_is_413_on_cancel_too(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        response = send(api, CANCEL.format(delivery.pk), json.dumps({"reason": "x" * 300 * 1024}))

        assert_problem(response, 413, "body_too_large")
        assert Delivery.objects.get().status == "PENDING"


@pytest.mark.django_db
class TestAContentType:
    @pytest.mark.parametrize(
        "content_type",
        [
            "text/plain",
            "application/xml",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "json",
        ],
    )
    def test_other_than_json_is_415(self, api, path, content_type):
        response = send(api, path, json.dumps(payload()), content_type)

        assert_problem(response, 415, "unsupported_media_type")
        assert_nothing_written()

    @pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
    def test_may_be_json_in_any_spelling(self, api, content_type):
        assert send(api, QUOTE, json.dumps(payload()), content_type).status_code == 200

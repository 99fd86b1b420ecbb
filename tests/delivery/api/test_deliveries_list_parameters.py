"""Parameters that the list of deliveries refuses."""

import pytest

from tests.delivery.api.calls import LIST, assert_problem
from tests.delivery.api.lists import ids


def assert_parameter_refused(response, name, code):
    body = assert_problem(response, 422, "invalid_query")
    assert [(error["parameter"], error["code"]) for error in body["errors"]] == [(name, code)]
    assert body["errors"][0]["detail"]


@pytest.mark.django_db
class TestBadParameters:
    @pytest.mark.parametrize(
        "limit",
        [
            "0",
            "-1",
            "101",
            "1000000000",
            "9" * 3000,
            "x",
            "NaN",
            "Infinity",
            "1.0",
            "1e1",
            " 5",
            "+5",
            "5_0",
            "٥",
            "0x5",
            "\0",
            "5\0",
        ],
    )
    def test_of_a_limit(self, api, limit):
        assert api.get(LIST, {"limit": limit}).status_code == 422

        body = api.get(LIST, {"limit": limit}).json()

        assert (body["code"], {error["parameter"] for error in body["errors"]}) == ("invalid_query", {"limit"})

    @pytest.mark.parametrize(
        "moment",
        [
            "yesterday",
            "2026-02-30",
            "2026-13-01",
            "2026-07-15T25:00:00",
            "2026-07-15T12:00:00 03:00",
            "1784127600",
            "20/11/2026",
            "11/20/26 14:30",
            "0000-01-01",
            "10000-01-01",
            "0001-01-01T00:00:00+14:00",
            "NaN",
            "-",
            " ",
            "9999-12-31T23:59:59-14:00",
            "2026-07-15" + " " * 3000,
            "1" * 3500,
            "2026-07-15T12:00:00+24:00",
            "２０２６-07-15",
        ],
    )
    @pytest.mark.parametrize("name", ["createdFrom", "createdTo"])
    def test_of_a_moment(self, api, name, moment):
        assert_parameter_refused(api.get(LIST, {name: moment}), name, "invalid_moment")

    @pytest.mark.parametrize("name", ["createdFrom", "createdTo", "externalId"])
    def test_with_nul(self, api, name):
        body = assert_problem(api.get(f"{LIST}?{name}=2026%00"), 422, "invalid_query")

        assert {error["parameter"] for error in body["errors"]} == {name}

    def test_of_the_day_after_which_there_is_none(self, api):
        assert_parameter_refused(api.get(LIST, {"createdTo": "9999-12-31"}), "createdTo", "invalid_moment")

    @pytest.mark.parametrize("status", ["pending", "AVAILABLE", "null", "PENDING,ACCEPT", "x" * 3000, "%00"])
    def test_of_a_status(self, api, status):
        response = api.get(LIST, {"status": status})

        assert_parameter_refused(response, "status", "invalid_choice")
        assert "PENDING, ACCEPT, COLLECTED, DELIVERED, FAILED" in response.json()["errors"][0]["detail"]

    def test_of_an_external_id_longer_than_any(self, api):
        assert_parameter_refused(api.get(LIST, {"externalId": "x" * 256}), "externalId", "max_length")

    @pytest.mark.parametrize("name", ["limit", "cursor", "status", "externalId", "createdFrom", "createdTo"])
    def test_empty(self, api, made, name):
        made(1)

        assert_parameter_refused(api.get(f"{LIST}?{name}="), name, "blank")

    def test_given_twice(self, api):
        assert_parameter_refused(api.get(f"{LIST}?status=PENDING&status=FAILED"), "status", "repeated")

    def test_are_all_named_at_once(self, api):
        body = assert_problem(api.get(LIST, {"limit": "0", "status": "x", "createdTo": "y"}), 422, "invalid_query")

        assert {error["parameter"] for error in body["errors"]} == {"limit", "status", "createdTo"}

    def test_that_are_not_utf_8_select_nothing(self, api, made):
        made(1)

        assert ids(api.get(f"{LIST}?externalId=%FF%FE")) == []

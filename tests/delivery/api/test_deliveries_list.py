"""The list of deliveries: what it contains, its filters, its pages, the parameters that it refuses, its query plans."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery.models import Delivery, Stop
from tests.cases import in_turn
from tests.delivery.api.calls import LIST, REQUEST, assert_problem, send
from tests.factories import DeliveryFactory, TokenFactory, payload
from tests.tables import renew

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 7, 15, 15, 0, tzinfo=UTC)  # 12:00 in São Paulo


@pytest.fixture
def made(token):
    """Make so many deliveries of the token's account, a minute apart. Returns their ids, the newest first."""

    def make(count, **arguments):
        at = arguments.pop("at", NOON)
        rows = [
            DeliveryFactory.create(**{"token": token, "stops": 1, **arguments}, at=at + timedelta(minutes=number))
            for number in range(count)
        ]
        return [str(row.pk) for row in reversed(rows)]

    return make


def ids(response):
    assert response.status_code == 200, response.content
    return [item["deliveryId"] for item in response.json()["data"]]


def walk(api, *, meanwhile=lambda: None, **query):
    """The ids of every page, one after another; `meanwhile` is called between two pages."""
    found, cursor = [], None
    while True:
        response = api.get(LIST, {**query, **({"cursor": cursor} if cursor else {})})
        found.append(ids(response))
        cursor = response.json()["nextCursor"]
        if cursor is None:
            return found
        meanwhile()


def copies(pattern, count):
    """Copies of a delivery without its parts, each a second older."""
    same = {field.attname: getattr(pattern, field.attname) for field in Delivery._meta.concrete_fields}
    fresh = Delivery._meta.get_field("id").get_default
    return Delivery.objects.bulk_create(
        Delivery(
            **{**same, "id": fresh(), "route_id": fresh(), "created_at": pattern.created_at - timedelta(seconds=number)}
        )
        for number in range(1, count + 1)
    )


class TestDeliveriesList:
    def test_answers_a_summary_of_each(self, api, clock):
        created = send(api, REQUEST, payload(stops=2)).json()

        response = api.get(LIST)

        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        assert response.json() == {
            "data": [
                {
                    "deliveryId": created["deliveryId"],
                    "status": "PENDING",
                    "shippingValue": created["shippingValue"],
                    "route": created["route"],
                    "orders": [
                        {"point": "B", "externalId": "order-1", "status": "PENDING"},
                        {"point": "C", "externalId": "order-2", "status": "PENDING"},
                    ],
                    "createdAt": "2026-07-15T12:00:00-03:00",
                    "updatedAt": "2026-07-15T12:00:00-03:00",
                    "closedAt": None,
                }
            ],
            "nextCursor": None,
        }

    def test_of_an_account_without_deliveries_is_empty(self, api):
        assert api.get(LIST).json() == {"data": [], "nextCursor": None}

    def test_has_fifty_of_them_unless_asked(self, api, token):
        pattern = DeliveryFactory.create(token=token, stops=1)
        copies(pattern, 100)

        assert [len(page) for page in walk(api)] == [50, 50, 1]
        assert [len(page) for page in walk(api, limit="100")] == [100, 1]

    def test_takes_three_queries_for_any_number(self, api, made, django_assert_num_queries):
        made(5, stops=3)
        api.get(LIST)

        with django_assert_num_queries(3):  # token, deliveries, stops
            api.get(LIST)


class TestFilters:
    def test_an_external_id_matches_any_drop_off_exactly(self, api, made):
        made(1, stops=2)
        three = made(1, stops=3)

        for sent, found in [("order-3", three), ("order-4", []), ("order-", []), ("ORDER-3", [])]:
            assert ids(api.get(LIST, {"externalId": sent})) == found

    @pytest.mark.parametrize("external_id", [" padded ", "a/b?c&d=é🛵", "x" * 255])
    def test_an_external_id_is_compared_as_it_was_sent(self, api, external_id):
        body = payload(stops=1)
        body["dropoffs"][0]["externalId"] = external_id
        created = send(api, REQUEST, body).json()["deliveryId"]

        assert ids(api.get(LIST, {"externalId": external_id})) == [created]
        assert ids(api.get(LIST, {"externalId": external_id[:-1]})) == []

    def test_a_status_is_the_deliverys(self, api, made):
        pending, accepted = made(1), made(1, accepted=True)

        assert ids(api.get(LIST, {"status": "PENDING"})) == pending
        assert ids(api.get(LIST, {"status": "ACCEPT"})) == accepted
        assert ids(api.get(LIST, {"status": "FAILED"})) == []

    def test_several_statuses_are_one_list_in_pages(self, api, made):
        mixed = [
            *made(1, at=NOON),
            *made(1, accepted=True, at=NOON + timedelta(minutes=1)),
            *made(2, at=NOON + timedelta(minutes=2)),
        ]
        made(1, collected=True)
        newest_first = [mixed[2], mixed[3], mixed[1], mixed[0]]

        assert walk(api, status="PENDING,ACCEPT", limit="3") == [newest_first[:3], newest_first[3:]]
        assert ids(api.get(LIST, {"status": "ACCEPT,ACCEPT"})) == [mixed[1]]

    def test_ids_are_of_the_own_account_and_environment(self, api, token, made):
        first, _second, third = made(3)
        foreign = DeliveryFactory.create(token=TokenFactory.create())

        assert ids(api.get(LIST, {"deliveryId": f"{third},{foreign.pk},{first}"})) == [first, third]

    def test_moments_select_from_inclusive_to_exclusive_and_whole_days(self, api, made):
        expected = made(1)
        cases = [
            ({"createdFrom": "2026-07-15T12:00:00-03:00"}, 1),
            ({"createdFrom": "2026-07-15T15:00:00Z"}, 1),
            ({"createdFrom": "2026-07-15T12:00:00"}, 1),  # without an offset: the service's
            ({"createdFrom": "2026-07-15T12:00:00.000001"}, 0),
            ({"createdTo": "2026-07-15T12:00:00"}, 0),
            ({"createdTo": "2026-07-15T12:00:01"}, 1),
            ({"createdFrom": "2026-07-15", "createdTo": "2026-07-15"}, 1),
            ({"createdFrom": "2026-07-16"}, 0),
            ({"createdTo": "2026-07-14"}, 0),
            ({"createdFrom": "2026-07-15T20:00:00+09:00", "createdTo": "2026-07-16T00:00:01+09:00"}, 1),
            ({"createdTo": "2026-07-16T00:00:00+09:00"}, 0),
            ({"createdFrom": "0001-01-01", "createdTo": "9999-12-31"}, 1),
            ({"createdFrom": "0001-01-01T00:00+14:00", "createdTo": "9999-12-31T23:59-14:00"}, 1),
            ({"createdFrom": "2026-07-15T00:00:00+23:59"}, 1),
            ({"updatedFrom": "2026-07-15T15:00:00Z"}, 1),
            ({"updatedFrom": "2026-07-15T12:00:00.000001"}, 0),
            ({"updatedFrom": "2026-07-16"}, 0),
        ]

        found = [ids(api.get(LIST, query)) for query, _count in cases]

        assert found == [expected[:count] for _query, count in cases]

    def test_combine(self, api, made):
        made(1, at=NOON - timedelta(days=1))
        expected = made(1)
        made(1, accepted=True)

        query = {"status": "PENDING", "externalId": "order-1", "createdFrom": "2026-07-15"}

        assert ids(api.get(LIST, query)) == expected


@pytest.fixture
def many(token):
    """Five thousand deliveries of ten accounts, as many as make PostgreSQL weigh its plans."""
    renew(Delivery)
    for owner in [token, *TokenFactory.create_batch(9)]:
        pattern = DeliveryFactory.create(token=owner, stops=1, at=NOON)
        stop = pattern.ordered_stops[0]
        place = {name: getattr(stop, name) for name in ("latitude", "longitude", "address", "status")}
        Stop.objects.bulk_create(
            Stop(delivery=row, index=0, external_id=f"id-{number}", **place)
            for number, row in enumerate(copies(pattern, 500))
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE delivery_delivery, delivery_stop")


@pytest.mark.parametrize("wanted", ["Pedido São", "Pedido Sa\u0303o"])
def test_compares_composed_and_decomposed_external_ids_as_one_and_answers_what_was_sent(api, wanted):
    sent = ["Pedido São", "Pedido Sa\u0303o"]
    for external_id in sent:
        body = payload(stops=1)
        body["dropoffs"][0]["externalId"] = external_id
        send(api, REQUEST, body)

    found = ids(api.get(LIST, {"externalId": wanted}))

    kept = Stop.objects.filter(delivery__in=found).order_by("pk")
    assert [stop.external_id for stop in kept] == sent


@pytest.mark.usefixtures("many")
def test_every_query_uses_an_index(api):
    day = {"createdFrom": "2026-07-15T11:55:00", "createdTo": "2026-07-15T11:55:09"}
    for query, index in [
        ({}, "delivery_of_account"),
        ({"status": "COLLECTED"}, "delivery_of_account_status"),
        ({"status": "COLLECTED,FAILED"}, "delivery_of_account_status"),
        ({"deliveryId": ",".join(str(uuid4()) for _number in range(100))}, "delivery_delivery_pkey"),
        ({"externalId": "id-77"}, "stop_external_id"),
        (day, "delivery_of_account"),
        ({"updatedFrom": "2026-07-15"}, "delivery_of_account_updated"),
        ({"updatedFrom": "2026-07-15", "status": "PENDING,FAILED"}, "delivery_of_account_updated"),
    ]:
        with CaptureQueriesContext(connection) as captured:
            api.get(LIST, query)
        listed = next(row["sql"] for row in captured if 'FROM "delivery_delivery"' in row["sql"])

        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {listed}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        assert f" {index} " in plan, query


def test_pages_neither_leave_out_nor_repeat_rows_while_others_write(api, made):
    expected = made(6)

    pages = walk(api, meanwhile=lambda: made(2, at=NOON + timedelta(days=1)), limit="2")

    assert [key for page in pages for key in page] == expected


class TestACursor:
    @pytest.fixture
    def cursor(self, api, made):
        made(3)
        return api.get(LIST, {"limit": "1"}).json()["nextCursor"]

    def test_is_taken_with_another_limit(self, api, cursor):
        assert len(ids(api.get(LIST, {"limit": "2", "cursor": cursor}))) == 2

    def test_that_was_changed_is_refused(self, api, cursor):
        changed = [cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :] for place in (0, -2)]

        for spelling in [*changed, cursor[:-1], cursor + "A", cursor.swapcase(), cursor.partition(":")[0]]:
            assert_problem(api.get(LIST, {"cursor": spelling}), 422, "invalid_cursor")

    def test_that_is_no_cursor_is_refused(self, api):
        for spelling in ["x", ":", "::", "a:b:c", "1", "null", "\0", "é🛵", "x" * 3500, ":" * 1000, "WyIi:x:y"]:
            assert api.get(LIST, {"cursor": spelling}).status_code == 422, spelling[:80]

    @pytest.mark.parametrize(
        ("is_ours", "environment", "query"),
        [(True, "live", {"status": "PENDING"}), (True, "sandbox", {}), (False, "live", {})],
    )
    def test_of_another_query_account_or_environment_is_refused(
        self, token, cursor, client_of, is_ours, environment, query
    ):
        account = {"integrator": token.integrator} if is_ours else {}
        client = client_of(TokenFactory.create(environment=environment, **account))

        assert_problem(client.get(LIST, {**query, "cursor": cursor}), 422, "invalid_cursor")

    def test_of_another_token_of_the_account_is_taken(self, token, cursor, client_of):
        rotated = TokenFactory.create(integrator=token.integrator)

        assert len(ids(client_of(rotated).get(LIST, {"cursor": cursor}))) == 2


def assert_refused(api, name, code, values):
    """Each value is refused by the parameter's name."""
    answers = [assert_problem(api.get(LIST, {name: value}), 422, "invalid_query")["errors"] for value in values]
    named = [[(error["parameter"], error["code"]) for error in errors] for errors in answers]
    assert [pair for pair in zip(values, named, strict=True) if pair[1] != [(name, code)]] == []
    assert all(error["detail"] for errors in answers for error in errors)


class TestBadParameters:
    def test_of_a_limit(self, api):
        numbers = ["0", "-1", "101", "1000000000", "9" * 3000, "1.0", "1e1", " 5", "+5", "5_0", "0x5"]

        assert_refused(api, "limit", "invalid_limit", [*numbers, "x", "NaN", "Infinity", "٥"])

    @pytest.mark.parametrize("name", ["createdFrom", "createdTo", "updatedFrom"])
    def test_of_a_moment(self, api, name):
        values = [
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
            "NaN",
            "-",
            " ",
            "2026-07-15" + " " * 3000,
            "1" * 3500,
            "2026-07-15T12:00:00+24:00",
            "２０２６-07-15",
        ]

        assert_refused(api, name, "invalid_moment", values)

    @in_turn("name", ["limit", "createdFrom", "createdTo", "updatedFrom", "externalId"])
    def test_with_nul(self, api, name):
        body = assert_problem(api.get(f"{LIST}?{name}=2026%00"), 422, "invalid_query")

        assert {error["parameter"] for error in body["errors"]} == {name}

    @pytest.mark.parametrize(("end", "is_refused"), [("2026-07-14T23:59:59", True), ("2026-07-15T00:00:00", False)])
    def test_of_an_end_before_the_beginning(self, api, end, is_refused):
        response = api.get(LIST, {"createdFrom": "2026-07-15", "createdTo": end})

        assert response.status_code == (422 if is_refused else 200)
        if is_refused:
            [error] = assert_problem(response, 422, "invalid_query")["errors"]
            assert (error["parameter"], error["code"]) == ("createdTo", "reversed")

    def test_of_a_status(self, api):
        assert_refused(
            api,
            "status",
            "invalid_choice",
            ["pending", "AVAILABLE", "null", "PENDING,x", "PENDING;ACCEPT", "x" * 200, "%00"],
        )
        detail = api.get(LIST, {"status": "x"}).json()["errors"][0]["detail"]
        assert "PENDING, ACCEPT, COLLECTED, DELIVERED, FAILED" in detail

    def test_of_an_external_id_longer_than_any(self, api):
        assert_refused(api, "externalId", "max_length", ["x" * 256])

    @in_turn(
        "name", ["limit", "cursor", "status", "deliveryId", "externalId", "createdFrom", "createdTo", "updatedFrom"]
    )
    def test_empty(self, api, name):
        assert_refused(api, name, "blank", [""])

    def test_given_twice(self, api):
        body = assert_problem(api.get(f"{LIST}?status=PENDING&status=FAILED"), 422, "invalid_query")

        assert [(error["parameter"], error["code"]) for error in body["errors"]] == [("status", "repeated")]

    def test_are_all_named_at_once(self, api):
        body = assert_problem(api.get(LIST, {"limit": "0", "status": "x", "createdTo": "y"}), 422, "invalid_query")

        assert {error["parameter"] for error in body["errors"]} == {"limit", "status", "createdTo"}

    def test_that_are_not_utf_8_select_nothing(self, api, made):
        made(1)

        assert ids(api.get(f"{LIST}?externalId=%FF%FE")) == []

"""The list of deliveries: what it contains, its filters and its query plans."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery.models import Delivery, Stop
from tests.delivery.api.calls import LIST, REQUEST, send
from tests.delivery.api.lists import NOON, copies, ids, walk
from tests.factories import DeliveryFactory, TokenFactory, payload
from tests.tables import renew


@pytest.mark.django_db
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
                    "closedAt": None,
                }
            ],
            "nextCursor": None,
        }

    def test_of_an_account_without_deliveries_is_empty(self, api):
        assert api.get(LIST).json() == {"data": [], "nextCursor": None}

    def test_shows_the_newest_first(self, api, made):
        expected = made(3)

        assert ids(api.get(LIST)) == expected

    def test_has_fifty_of_them_unless_asked(self, api, token):
        pattern = DeliveryFactory.create(token=token, stops=1)
        copies(pattern, 100)

        assert [len(page) for page in walk(api)] == [50, 50, 1]
        assert [len(page) for page in walk(api, limit="100")] == [100, 1]

    def test_shows_only_the_account_and_environment_of_the_token(self, api, token, made, client_of):
        live = made(1)
        sandbox = TokenFactory.create(integrator=token.integrator, sandbox=True)
        in_sandbox = made(1, token=sandbox)
        DeliveryFactory.create()

        assert ids(api.get(LIST)) == live
        assert ids(client_of(sandbox).get(LIST)) == in_sandbox
        assert ids(client_of(TokenFactory.create()).get(LIST, {"externalId": "order-1"})) == []

    @pytest.mark.parametrize("count", [1, 5])
    def test_takes_three_queries_for_any_number(self, api, made, count, django_assert_num_queries):
        made(count, stops=3)
        api.get(LIST)

        with django_assert_num_queries(3):  # token, deliveries, stops
            api.get(LIST)


@pytest.mark.django_db
class TestFilters:
    @pytest.mark.parametrize(("sent", "found"), [("order-3", 1), ("order-4", 0), ("order-", 0), ("ORDER-3", 0)])
    def test_an_external_id_matches_any_drop_off_exactly(self, api, made, sent, found):
        made(1, stops=2)
        three = made(1, stops=3)

        assert ids(api.get(LIST, {"externalId": sent})) == three[:found]

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

    @pytest.mark.parametrize(
        ("query", "found"),
        [
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
            ({"createdFrom": "0001-01-01", "createdTo": "9999-12-30"}, 1),
            ({"createdFrom": "2026-07-15T00:00:00+23:59"}, 1),
        ],
    )
    def test_moments_select_from_inclusive_to_exclusive_and_whole_days(self, api, made, query, found):
        expected = made(1)

        assert ids(api.get(LIST, query)) == expected[:found]

    def test_combine(self, api, made):
        made(1, at=NOON - timedelta(days=1))
        expected = made(1)
        made(1, accepted=True)

        query = {"status": "PENDING", "externalId": "order-1", "createdFrom": "2026-07-15"}

        assert ids(api.get(LIST, query)) == expected


@pytest.mark.django_db
class TestQueryPlan:
    @pytest.fixture
    def many(self, token):
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

    @pytest.mark.usefixtures("many")
    @pytest.mark.parametrize(
        ("query", "index"),
        [
            ({}, "delivery_of_account"),
            ({"status": "FAILED"}, "delivery_of_account_status"),
            ({"externalId": "id-77"}, "stop_external_id"),
            ({"createdFrom": "2026-07-15T11:55:00", "createdTo": "2026-07-15T11:55:09"}, "delivery_of_account"),
        ],
    )
    def test_uses_an_index(self, api, query, index):
        with CaptureQueriesContext(connection) as captured:
            api.get(LIST, query)
        listed = next(row["sql"] for row in captured if 'FROM "delivery_delivery"' in row["sql"])

        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {listed}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        assert f" {index} " in plan

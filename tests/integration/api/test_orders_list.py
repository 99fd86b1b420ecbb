from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from common.brazil import formats
from integration.actions import orders
from integration.models import Company, Order, SearchCode
from tests.integration.factories import BY, COMPANY, OTHER_COMPANY, SellerFactory, create_order, key_of
from tests.tables import renew

URL = "/api/integration/orders"
NOON = datetime(2026, 7, 15, 15, 0, tzinfo=UTC)  # 12:00 in São Paulo


def codes(response):
    assert response.status_code == 200, response.content
    assert response.json()["success"] is True
    return [order["orderId"] for order in response.json()["data"]]


def assert_refused(response, name):
    assert response.status_code == 422
    body = response.json()
    assert (body["success"], body["message"], body["code"]) == (False, "Dados inválidos", "invalid_payload")
    assert [*body["errors"]] == [name]
    assert all(body["errors"][name])


@pytest.fixture
def made(seller, monkeypatch):
    """Make orders with these ids, a minute apart. Returns their ids, the newest first."""

    def make(*ids, of=seller, at=NOON, **changes):
        for number, code in enumerate(ids):
            with monkeypatch.context() as patch:
                patch.setattr(timezone, "now", lambda moment=at + timedelta(minutes=number): moment)
                create_order(of, orderId=code, **changes)
        return [*reversed(ids)]

    return make


class TestOrdersList:
    def test_answers_a_summary_of_each(self, api, seller):
        order = create_order(seller, trackingCode="TRACK-1")

        response = api.get(URL)

        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        assert response.json() == {
            "success": True,
            "data": [
                {
                    "shippingId": order.pk,
                    "orderId": "A-1",
                    "trackingCode": "TRACK-1",
                    "company_document": COMPANY,
                    "status": "pending",
                    "service": "base",
                    "orderCost": 150.0,
                    "created_at": (created := order.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
                    "updated_at": created,
                    "freight": None,
                }
            ],
            "nextCursor": None,
        }

    def test_has_the_freight_of_each(self, api, seller, tariff):
        Company.objects.update(postcode="01310100")
        order = create_order(seller)

        (listed,) = api.get(URL).json()["data"]

        assert listed["freight"] == {
            "amount": order.freight_centavos, "deadline": order.freight_days, "promisedDate": None,
        }  # fmt: skip  # a body

    def test_holds_every_order_once_though_others_are_made_meanwhile(self, api, made):
        expected = made("1", "2", "3", "4", "5")

        first = api.get(URL, {"limit": "2"})
        made("6", "7", at=NOON + timedelta(hours=1))
        second = api.get(URL, {"limit": "2", "cursor": first.json()["nextCursor"]})
        third = api.get(URL, {"limit": "2", "cursor": second.json()["nextCursor"]})

        assert [*codes(first), *codes(second), *codes(third)] == expected
        assert third.json()["nextCursor"] is None

    def test_is_not_read_on_by_the_cursor_of_another(self, api, seller, other_seller, seller_client, made):
        made("1", "2")
        cursor = api.get(URL, {"limit": "1"}).json()["nextCursor"]
        of_sandbox = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")

        for client, path, query in (
            (seller_client(other_seller), URL, {}), (of_sandbox, URL, {}), (api, URL, {"status": "pending"}),
            (api, "/api/integration/manifests", {}),
        ):  # fmt: skip  # a table
            assert_refused(client.get(path, {**query, "cursor": cursor}), "cursor")

    def test_takes_three_queries_for_any_number(self, api, made, django_assert_num_queries):
        made("1", "2", "3")
        api.get(URL)

        with django_assert_num_queries(3):  # key with seller, orders, companies
            api.get(URL)


class TestFilters:
    @pytest.mark.parametrize("code", ["tracking", "cancel", "a/b c?d&é", "x" * 255])
    def test_an_order_id_is_compared_whole(self, api, made, code):
        made(code, "other")

        assert codes(api.get(URL, {"orderId": code})) == [code]
        assert codes(api.get(URL, {"orderId": code[:-1]})) == []

    def test_an_order_id_that_is_none_finds_those_that_are_alike(self, api, made, other_seller):
        made("A-1", "A.1", "B-1")
        made("a 1", environment=Environment.SANDBOX)
        made("a 1", of=other_seller, company_document=OTHER_COMPANY)

        assert codes(api.get(URL, {"orderId": "A-1"})) == ["A-1"]
        assert codes(api.get(URL, {"orderId": "a 1"})) == ["A.1", "A-1"]
        assert codes(api.get(URL, {"orderId": " - "})) == []

    def test_a_tracking_code_is_compared_as_tracking_does(self, api, made):
        made("A-1", trackingCode="TRACK-1")
        made("A-2")

        assert (
            codes(api.get(URL, {"trackingCode": "TRACK-1"}))
            == codes(api.get(URL, {"trackingCode": "track1"}))
            == ["A-1"]
        )
        assert [codes(api.get(URL, {"trackingCode": each})) for each in ("TRACK", "A-1")] == [[], []]
        assert codes(api.get(URL, {"orderId": "TRACK-1"})) == []

    def test_a_status_is_that_of_now(self, api, made):
        made("A-1", "A-2")
        orders.cancel(order=Order.objects.get(code="A-1"), by=BY, at=timezone.now())

        assert codes(api.get(URL, {"status": "cancelled"})) == ["A-1"]
        assert codes(api.get(URL, {"status": "pending"})) == ["A-2"]
        assert codes(api.get(URL, {"status": "pending,cancelled"})) == ["A-2", "A-1"]

    def test_several_order_ids_may_be_alike_or_hold_commas(self, api, made):
        made("A-1", "A-2", "B,1", "C-1")

        assert codes(api.get(URL, {"orderId": "C-1,a1"})) == ["C-1", "A-1"]
        assert codes(api.get(URL, {"orderId": "B,1"})) == ["B,1"]

    def test_a_company_is_that_of_the_order(self, api, made):
        made("A-1")

        assert codes(api.get(URL, {"company": formats.document(COMPANY)})) == ["A-1"]
        assert codes(api.get(URL, {"company": OTHER_COMPANY})) == []

    def test_moments_select_from_inclusive_to_exclusive_and_whole_days(self, api, made):
        expected = made("A-1")
        cases = [
            ({"createdFrom": "2026-07-15T12:00:00-03:00"}, 1),
            ({"createdFrom": "2026-07-15T12:00:00.000001"}, 0),
            ({"createdTo": "2026-07-15T12:00:00"}, 0),
            ({"createdFrom": "2026-07-15", "createdTo": "2026-07-15"}, 1),
            ({"createdTo": "2026-07-14"}, 0),
            ({"updatedFrom": "2026-07-15T12:00:00"}, 1),
            ({"updatedFrom": "2026-07-15T12:00:00.000001"}, 0),
        ]

        assert [codes(api.get(URL, query)) for query, _count in cases] == [expected[:count] for _query, count in cases]


class TestBadParameters:
    def test_are_refused_by_name_and_in_portuguese(self, api):
        cases = [
            *(("limit", value) for value in ["0", "101", "1000000000", "9" * 3000, "x", "NaN", "-1", "5_0"]),
            *(("createdFrom", value) for value in ["2026-02-30", "x", "20/11/2026", "1" * 3000]),
            *(("updatedFrom", value) for value in ["2026-02-30", "x", "1" * 3000]),
            *(("createdTo", value) for value in ["9999-12-32", "2026-07-15T25:00:00"]),
            *(("status", value) for value in ["PENDING", "x" * 3000]),
            ("orderId", "x" * 256),
            ("orderId", "a\0b"),
            ("trackingCode", "\0"),
            *(("company", value) for value in ["123", "11.222.333/0001-82", "x" * 255]),
            ("cursor", "x"),
            ("cursor", "x" * 3000),
        ]

        for name, value in cases:
            response = api.get(URL, {name: value})

            assert_refused(response, name)
            assert "Enter" not in response.json()["errors"][name][0]

    def test_are_an_end_before_the_beginning(self, api):
        response = api.get(URL, {"createdFrom": "2026-07-15", "createdTo": "2026-07-01"})

        assert_refused(response, "createdTo")
        assert response.json()["errors"]["createdTo"] == ["Fica antes de createdFrom."]

    def test_are_refused_empty_and_twice(self, api):
        moments = ("createdFrom", "createdTo", "updatedFrom")
        for name in ("limit", "cursor", "status", "orderId", "trackingCode", *moments):
            assert_refused(api.get(f"{URL}?{name}="), name)
            assert name in api.get(f"{URL}?{name}=1&{name}=1").json()["errors"]


class TestQueryPlan:
    @pytest.fixture
    def many(self, seller):
        """Five thousand orders of ten sellers, as many as make PostgreSQL weigh its plans."""
        renew(Order)
        order = create_order(seller)
        same = {f.attname: getattr(order, f.attname) for f in Order._meta.fields}
        owners = [seller, *SellerFactory.create_batch(9, documents=())]
        Order.objects.bulk_create(
            Order(
                **{
                    **same,
                    "id": None,
                    "code": f"C-{n}",
                    "tracking_code": f"T-{n}",
                    "seller_id": owners[n % 10].pk,
                    "status": "pending" if n % 50 == 0 else "delivered",
                }
            )
            for n in range(5000)
        )
        SearchCode.objects.bulk_create(
            SearchCode(
                seller_id=made.seller_id, environment=made.environment, order=made, kind=kind, value=getattr(made, name)
            )
            for made in Order.objects.exclude(pk=order.pk)
            for kind, name in ((SearchCode.Kind.ORDER, "code"), (SearchCode.Kind.TRACKING_CODE, "tracking_code"))
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order, integration_searchcode")

    @pytest.mark.usefixtures("many")
    def test_uses_an_index(self, api):
        for query, index in [
            ({}, "order_newest"),
            ({"status": "pending"}, "order_with_status"),
            ({"status": "pending,cancelled"}, "order_with_status"),
            ({"updatedFrom": "2020-01-01"}, "order_updated"),
            ({"updatedFrom": "2020-01-01", "status": "delivered,cancelled"}, "order_updated"),
            ({"orderId": "C-70,C-71"}, "search_code_equal"),
            ({"orderId": "C-70"}, "search_code_equal"),
            ({"trackingCode": "T-70"}, "search_code_equal"),
            ({"trackingCode": "t70"}, "search_code_alike"),
        ]:
            with CaptureQueriesContext(connection) as captured:
                api.get(URL, query)
            listed = next(row["sql"] for row in captured if 'FROM "integration_order"' in row["sql"])

            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN {listed}")
                plan = "\n".join(row[0] for row in cursor.fetchall())

            assert f" {index} " in plan, query

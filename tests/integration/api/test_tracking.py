import re

import pytest
from django.db import connection
from django.db.models import Value
from django.utils import timezone

from integration.actions import orders, tracking
from integration.lifecycle import Status
from integration.models import Order, SearchCode, StatusLog
from tests.cases import in_turn
from tests.integration.factories import ACCESS_KEY, BY, OTHER_COMPANY, create_order, order_body
from tests.tables import renew

URL = "/api/integration/orders/tracking"
CPF = "52998224725"
NOT_FOUND = {"success": False, "message": "Objeto não encontrado neste vendedor e neste ambiente"}


def look_up(api, value, kind="order_number", **more):
    return api.get(URL, {"type": kind, "value": value, **more})


class TestTracking:
    def test_answers_the_code_and_the_log(self, api, seller):
        order = create_order(seller, trackingCode="TRACK-1")
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        (record,) = look_up(api, "TRACK-1").json()["data"]

        assert record.keys() == {"tracking_code", "status_log"}
        first, second = record["status_log"]
        assert first.keys() == {"order_id", "status", "company_id", "via_api", "created_at", "updated_at"}
        assert (first["order_id"], first["company_id"]) == (order.pk, order.company_id)
        assert [(e["status"], e["via_api"]) for e in (first, second)] == [("pending", True), ("collected", False)]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", first["created_at"])

    def test_finds_by_every_code_and_one_that_staff_added(self, api, seller):
        order = create_order(seller, trackingCode="TRACK-1", invoice={**order_body()["invoice"], "value": 150})
        SearchCode.objects.create(seller=seller, order=order, value="PALLET-9")

        for value in ("TRACK-1", "A-1", "123", ACCESS_KEY, str(order.pk), "PALLET-9"):
            assert look_up(api, value).json()["success"] is True

    @pytest.mark.parametrize("value", ["529.982.247-25", "52998224725"])
    def test_finds_by_the_receivers_document(self, api, seller, value):
        create_order(seller)
        create_order(seller, orderId="A-2", receiver={**order_body()["receiver"], "document": "11144477735"})

        assert look_up(api, value, "document").json()["success"] is True
        assert look_up(api, value, "document", document=CPF).json()["success"] is True
        assert look_up(api, value, "document", document="11144477735").json() == NOT_FOUND
        assert look_up(api, value).json() == NOT_FOUND

    def test_finds_no_orders_without_a_document_by_a_mask_alone(self, api, seller):
        create_order(seller, receiver={**order_body()["receiver"], "document": ""})

        assert [look_up(api, value, "document").json() for value in ("-", ".", " / ")] == [NOT_FOUND] * 3

    @in_turn("value", ["a-1", "A1", " a.1 ", "A 1", "track 1", "TRACK1", " ".join(ACCESS_KEY), "12.3"])
    def test_finds_a_code_without_regard_to_case_spaces_dots_and_dashes(self, api, seller, value):
        create_order(seller, trackingCode="TRACK-1", invoice={**order_body()["invoice"], "value": 150})

        assert look_up(api, value).json()["success"] is True
        assert look_up(api, value, document=CPF).json()["success"] is True
        assert look_up(api, value, document="11144477735").json() == NOT_FOUND

    @pytest.mark.parametrize("document", ["", CPF])
    def test_returns_orders_with_the_equal_code_first_however_old(self, api, seller, document):
        for code in ("a-1", *(f"A.{'-' * number}1" for number in range(11))):
            create_order(seller, orderId=code, trackingCode=f"T-{code}")

        data = look_up(api, "a-1", document=document).json()["data"]

        newest = [f"T-A.{'-' * number}1" for number in range(10, 1, -1)]
        assert [record["tracking_code"] for record in data] == ["T-a-1", *newest]

    def test_finds_a_code_of_nothing_but_dashes_by_itself_alone(self, api, seller):
        create_order(seller, orderId="-")
        create_order(seller, orderId="--")

        assert len(look_up(api, "-").json()["data"]) == 1
        assert look_up(api, "-.-").json() == NOT_FOUND

    def test_finds_no_code_that_differs_otherwise(self, api, seller):
        create_order(seller)

        for value in ("A-", "A_1", "A/1", "Á-1", "A-1%", "none", "a\0b", "x" * 5000):
            response = look_up(api, value)

            assert (response.status_code, response.json()) == (200, NOT_FOUND)

    def test_filters_by_the_document_too(self, api, seller):
        create_order(seller)

        create_order(seller, orderId="A-2", receiver={**order_body()["receiver"], "document": ""})

        assert look_up(api, "A-1", document="529.982.247-25").json()["success"] is True
        assert look_up(api, "A-1", document="11144477735").json() == NOT_FOUND
        assert look_up(api, "A-2", document="").json()["success"] is True
        assert look_up(api, "A-2", document="-").json() == NOT_FOUND

    def test_does_not_know_another_sellers_order(self, api, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY)

        assert look_up(api, "A-1").json() == NOT_FOUND
        assert look_up(api, "52998224725", "document").json() == NOT_FOUND

    @pytest.mark.parametrize("count", [10, 11])
    def test_returns_the_newest_ten_each_once(self, api, seller, count):
        """`X` is the number of each invoice, and also the id and the tracking code of the newest order."""
        made = [f"T-{number}" for number in range(1, count)]
        for code in made:
            create_order(seller, orderId=code, trackingCode=code, invoice={"number": "X"})
        create_order(seller, orderId="X", trackingCode="X", invoice={"number": "X"})

        for query in ({"value": "X"}, {"value": "X", "document": CPF}, {"value": CPF, "kind": "document"}):
            data = look_up(api, **query).json()["data"]

            assert [record["tracking_code"] for record in data] == ["X", *reversed(made)][:10]

    def test_needs_a_value(self, api):
        for query in ("", "?type=document", "?value=", "?type=order_number&value=%20", "?type=x"):
            response = api.get(URL + query)

            assert response.status_code == 403
            assert response.json().keys() == {"success", "message", "code"}

    def test_needs_a_type(self, api):
        for query in ("?value=1", "?value=1&type=", "?value=1&type=DOCUMENT"):
            response = api.get(URL + query)

            assert (response.status_code, [*response.json()["errors"]]) == (422, ["type"])


class TestQueryPlan:
    @pytest.fixture
    def many(self, seller):
        """Five thousand orders of one seller, as many as make PostgreSQL weigh its plans."""
        renew(Order)
        order = create_order(seller)
        copies = [
            Order(**{**{f.attname: getattr(order, f.attname) for f in Order._meta.fields}, "id": None,
                     "code": f"C-{n}", "tracking_code": f"T-{n}", "receiver_document": f"{n:011d}"})
            for n in range(5000)
        ]  # fmt: skip  # one row reads as one
        made = Order.objects.bulk_create(copies)
        SearchCode.objects.bulk_create(SearchCode(seller=seller, order=o, kind="order", value=o.code) for o in made)
        entry = StatusLog.objects.get()
        values = {f.attname: getattr(entry, f.attname) for f in StatusLog._meta.fields}
        StatusLog.objects.bulk_create(StatusLog(**{**values, "id": None, "order_id": o.pk}) for o in made)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order, integration_searchcode, integration_statuslog")

    @pytest.mark.usefixtures("many")
    def test_uses_an_index(self, seller):
        code, document = Value("C-77"), "00000000077"

        for found, indexes in (
            (tracking.by_code(seller.pk, "live", code), ["search_code_equal", "search_code_alike"]),
            (tracking.by_both(seller.pk, "live", code, document), ["search_code_equal", "search_code_alike"]),
            (tracking.by_document(seller.pk, "live", document), ["order_receiver"]),
        ):
            plan = found.explain()

            assert [index for index in indexes if index not in plan] == []
            assert "Seq Scan" not in plan

import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from integration import tracking_codes
from integration.models import ApiKey, Order, Seller, StatusLog
from tests.cases import in_turn
from tests.integration.factories import OTHER_COMPANY, order_body, order_with

URL = "/api/integration/orders"
_SENT = ("company_id", "service", "cost", "items", "receiver", "created_at", "updated_at")
DUPLICATE = "Este objeto já foi previamente cadastrado!"


class TestCreate:
    def test_keeps_every_field_and_begins_the_status_log(self, api):
        response = api.post(URL, order_body())

        order, entry = Order.objects.get(), StatusLog.objects.get()
        assert response.status_code == 201
        assert response.json() == {"success": True, "tracking_code": "TRACK-1"}
        assert (order.code, order.service, order.cost) == ("A-1", "base", Decimal("150.5"))
        assert order.receiver == order_body()["receiver"]
        assert order.items[0].keys() == order_body()["items"][0].keys()
        assert order.invoice_data is not None
        assert order.invoice_data.keys() == order_body()["invoice"].keys()
        assert (entry.status, entry.via_api, entry.company.document) == ("pending", True, "11222333000181")
        assert order.created_by == entry.by == f"key {ApiKey.objects.get().hint}"

    @pytest.mark.parametrize("tracking_code", [None, ""])
    def test_generates_a_tracking_code(self, api, tracking_code):
        code = api.post(URL, order_body(trackingCode=tracking_code)).json()["tracking_code"]

        assert code.endswith("BR")
        assert int(code[10]) == tracking_codes.check_digit(code[2:10])

    def test_generates_codes_past_one_that_the_seller_has_sent(self, api):
        first = api.post(URL, order_body(trackingCode=None)).json()["tracking_code"]
        taken = tracking_codes.encode(int(first[2:10]) + 1)
        api.post(URL, order_body(orderId="A-2", trackingCode=taken))

        third = api.post(URL, order_body(orderId="A-3", trackingCode=None))

        assert third.status_code == 201
        assert third.json()["tracking_code"] not in (first, taken)

    @in_turn(
        ("sent", "kept"),
        [
            (0, "0"), (1e-4, "0.0001"), (0.00005, "0.0001"), ("0.00004", "0"), ("12.50", "12.5"),
            (999_999_999_999, "999999999999"), ("999999999999.9999", "999999999999.9999"),
        ],
    )  # fmt: skip  # a list of cases
    def test_keeps_the_cost_to_four_places(self, api, sent, kept):
        assert api.post(URL, order_body(orderCost=sent)).status_code == 201

        assert Order.objects.get().cost == Decimal(kept)

    @in_turn(
        ("path", "value"),
        [
            ("orderId", "x" * 255), ("items.0.description", "x" * 1000), ("items.0.quantity", 2**63 - 1),
            ("items.0.quantity", "9" * 18), ("items.0.quantity", 2.0), ("items.0.price", "9" * 12),
            ("items.0.dimensions", "999999x0x1,999999.999999"), ("invoice.number", 123), ("invoice.series", 1),
            ("volumes", 99), ("volumes", 1.0), ("volumes", None),
        ],
    )  # fmt: skip  # a list of cases
    def test_takes_the_extreme_value_of_a_field(self, api, path, value):
        assert api.post(URL, order_with(path, value)).status_code == 201

    def test_takes_ids_that_are_numbers_as_their_digits_in_every_call(self, api, tariff):
        number = 2**53 + 1  # which a number with a fraction could not hold

        made = api.post(URL, order_body(orderId=number, trackingCode=7))
        label = api.post("/api/integration/labels", {"orderIds": [number], "format": "zpl"}, format="json")
        manifest = api.post("/api/integration/manifests", {"orderIds": [number]}, format="json")
        cancelled = api.post(f"{URL}/cancel", {"orderId": number}, format="json")

        assert made.json() == {"success": True, "tracking_code": "7"}
        assert f"FD{number}^FS" in label.content.decode()
        assert [each["orderId"] for each in manifest.json()["data"]["orders"]] == [str(number)]
        assert cancelled.status_code == 200
        assert Order.objects.values_list("code", "status").get() == (str(number), "cancelled")

    @pytest.mark.parametrize(("count", "status"), [(1000, 201), (1001, 422)])
    def test_takes_a_thousand_items(self, api, count, status):
        item = {"description": "x", "dimensions": "1x1x1,1", "quantity": 1, "price": 1}

        assert api.post(URL, order_body(items=[item] * count)).status_code == status

    @pytest.mark.parametrize("document", ["11.222.333/0001-81", "11222333000181", " 11222333/0001-81 "])
    def test_finds_the_company_with_and_without_mask(self, api, document):
        assert api.post(URL, order_body(company_document=document)).status_code == 201

    def test_takes_an_order_without_its_optional_fields(self, api):
        body = order_body()
        del body["trackingCode"], body["invoice"]
        body["receiver"] = {"name": "Maria", "address": {**body["receiver"]["address"], "complement": None}}

        assert api.post(URL, body).status_code == 201

    def test_looks_for_its_codes_by_their_indexes_where_sellers_have_few_orders(self, api):
        api.post(URL, order_body())
        sent = Order.objects.values(*_SENT).get()
        sellers = Seller.objects.bulk_create(Seller(name="Few") for _number in range(100))
        Order.objects.bulk_create(
            Order(**sent, seller_id=seller.pk, code=f"B-{n}", tracking_code=f"B-{n}")
            for seller in sellers
            for n in range(5)
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order")

        with CaptureQueriesContext(connection) as captured:
            assert api.post(URL, order_body(orderId="A-2", trackingCode="T-2")).status_code == 201
        facts = next(row["sql"] for row in captured if "with_tracking_code" in row["sql"])
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (GENERIC_PLAN) {facts}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        used = re.findall(r"using (\w+) on integration_order .*\n.*Index Cond: .*code\)::text = ", plan)
        assert used == 3 * ["one_order_per_code_in_use"] + 3 * ["one_order_per_tracking_code_in_use"], plan
        assert plan.count("One-Time Filter: (NORMALIZE(") == 4  # before other spellings, which are as this one


class TestRefusal:
    @pytest.mark.parametrize(
        ("document", "status", "message", "code", "begin"),
        [
            (
                "00000000000191",
                404,
                "Empresa não encontrada",
                "company_not_found",
                "Nenhuma empresa tem este documento",
            ),
            (
                OTHER_COMPANY,
                401,
                "Request não altorizado",
                "foreign_company",
                "Esta empresa não é do vendedor da chave",
            ),
        ],
    )
    def test_of_a_missing_and_of_another_sellers_company(
        self, api, other_seller, document, status, message, code, begin
    ):
        response = api.post(URL, order_body(company_document=document))

        assert response.status_code == status
        answer = response.json()
        [fault] = answer.pop("errors")["company_document"]
        assert answer == {"success": False, "message": message, "code": code}
        assert fault.startswith(begin)
        assert not Order.objects.exists()

    @pytest.mark.parametrize("document", ["00.000.000/0001-92", "1" * 255])
    def test_of_a_document_that_is_none_says_that_its_digits_are_wrong(self, api, document):
        response = api.post(URL, order_body(company_document=document))

        assert response.status_code == 404
        assert response.json() == {
            "success": False,
            "message": "Empresa não encontrada",
            "code": "invalid_document",
            "errors": {
                "company_document": [
                    "Não é um CNPJ nem um CPF: o número de dígitos ou os dígitos verificadores não conferem"
                ]
            },
        }
        assert not Order.objects.exists()

    @pytest.mark.parametrize(
        ("changes", "clashing"),
        [
            ({"trackingCode": "TRACK-2"}, ["orderId"]),
            ({"trackingCode": None}, ["orderId"]),
            ({"orderId": "A-2"}, ["trackingCode"]),
            ({}, ["orderId", "trackingCode"]),
        ],
        ids=["orderId", "orderId alone", "trackingCode", "both"],
    )
    def test_of_a_duplicate_names_what_clashes(self, api, changes, clashing):
        api.post(URL, order_body())

        response = api.post(URL, order_body(**changes))

        assert response.status_code == 400
        assert response.json() == {
            "success": False,
            "message": DUPLICATE,
            "code": "duplicate_order",
            "errors": {field: [DUPLICATE] for field in clashing},
        }
        assert (Order.objects.count(), StatusLog.objects.count()) == (1, 1)

    def test_of_an_invalid_payload_precedes_that_of_an_unknown_company(self, api):
        assert api.post(URL, order_body(company_document="x", service="none")).status_code == 422

    @pytest.mark.parametrize("volumes", [0, 100])
    def test_of_too_few_or_too_many_volumes_says_how_many_there_may_be(self, api, volumes):
        response = api.post(URL, order_body(volumes=volumes))

        assert response.json()["errors"] == {"volumes": ["Deve ser um número inteiro de 1 a 99."]}

    def test_of_an_invalid_field_names_it(self, api):
        cases: list[tuple[str, Any]] = [
            ("company_document", None), ("orderId", ""), ("orderId", 12.0), ("orderId", True), ("orderId", "a\0b"),
            ("orderId", "x" * 256),
            ("orderCost", -1), ("orderCost", True), ("orderCost", "１"), ("orderCost", "1_0"), ("orderCost", 10**400),
            ("trackingCode", 1.5), ("service", "BASE"), ("service", ["base"]), ("items", {}), ("items", []),
            ("items.0.dimensions", "10x20"), ("items.0.dimensions", "10x20x30"), ("items.0.dimensions", "1e3x2x3,1"),
            ("items.0.dimensions", "10x20x30,1\n"), ("items.0.quantity", 0), ("items.0.quantity", 1.5),
            ("items.0.quantity", 1e300),
            ("items.0.quantity", 2**63), ("items.0.quantity", "9" * 19), ("orderCost", 10**12),
            ("orderCost", "999999999999.99991"), ("items.0.description", "x" * 1001),
            ("items.0.price", "NaN"), ("items.0.description", None), ("receiver", "Maria"), ("receiver.name", " "),
            ("receiver.address", None), ("receiver.address.city", None), ("receiver.address.zipCode", 1310100),
            ("receiver.document", 1), ("invoice", []), ("invoice", "x"), ("invoice.issueDate", "2026-02-30 00:00:00"),
            ("invoice.issueDate", "2026-11-20"), ("invoice.value", "x"), ("invoice.key", 1),
            ("volumes", 0), ("volumes", 100), ("volumes", "2"), ("volumes", 1.5), ("volumes", True), ("volumes", 2**63),
        ]  # fmt: skip  # a list of cases

        answers = [api.post(URL, order_with(path, value)) for path, value in cases]

        found = [(answer.status_code, answer.json()["message"], [*answer.json()["errors"]]) for answer in answers]
        assert found == [(422, "Dados inválidos", [path]) for path, _value in cases]
        assert not Order.objects.exists()

    def test_of_a_missing_field_names_it(self, api):
        for field in ("company_document", "orderId", "orderCost", "service", "items", "receiver"):
            body = order_body()
            del body[field]

            assert [*api.post(URL, body).json()["errors"]] == [field]

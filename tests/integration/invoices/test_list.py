from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceLink
from tests.cases import in_turn
from tests.integration.factories import ACCESS_KEY, BY, COMPANY, create_order, nfe_xml, send_invoice
from tests.tables import renew

URL = "/api/integration/invoices"
LISTED = "invoice_linked"


def keys(response):
    assert response.status_code == 200, response.content
    return [invoice["key"] for invoice in response.json()["data"]]


def numbered(number):
    return f"{ACCESS_KEY[:-3]}{number:03}"


@pytest.fixture
def made(seller):
    """Four invoices a minute apart, of which the second and the fourth are linked. Returns their keys."""
    for code in ("A-1", "A-2"):
        create_order(seller, orderId=code)
    at = timezone.now() - timedelta(hours=1)
    for number, items in enumerate([("X",), ("A-1", "A-2"), ("Y",), ("A-2",)]):
        raw = nfe_xml(key=numbered(number), items=items).encode()
        send_invoice(seller, raw, at=at + timedelta(minutes=number))
    return [numbered(number) for number in range(4)]


class TestInvoicesList:
    def test_answers_a_summary_of_each(self, api, seller):
        for code in ("A-1", "A-2"):
            create_order(seller, orderId=code)
        stored = send_invoice(seller, nfe_xml(items=("A-1", "A-2")).encode())

        response = api.get(URL)

        assert response.json() == {
            "success": True,
            "data": [
                {
                    "key": ACCESS_KEY,
                    "model": "55",
                    "series": "1",
                    "number": "123",
                    "issuedAt": "2026-11-20T13:00:00.000000Z",
                    "issuer": COMPANY,
                    "value": 150.5,
                    "status": "valid",
                    "linked": True,
                    "orders": ["A-1", "A-2"],
                    "createdAt": stored.received_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                }
            ],
            "nextCursor": None,
        }

    def test_has_what_a_file_does_not_state_empty_or_null(self, api, seller):
        raw = nfe_xml(items=("X",)).replace("<vNF>150.50</vNF>", "").replace("<nNF>123</nNF>", "")
        send_invoice(seller, raw.replace("<dhEmi>2026-11-20T10:00:00-03:00</dhEmi>", "").encode())

        (listed,) = api.get(URL).json()["data"]

        assert (listed["number"], listed["value"], listed["issuedAt"]) == ("", None, None)
        assert (listed["linked"], listed["orders"]) == (False, [])

    def test_is_read_in_pages_with_one_filter(self, api, made):
        of_keys = {"key": f"NFe{made[2]},{made[0]},{'9' * 44}"}
        for query, expected in [
            ({}, made[::-1]),
            ({"linked": "true"}, [made[3], made[1]]),
            ({"linked": "false"}, [made[2], made[0]]),
            (of_keys, [made[2], made[0]]),
        ]:
            first = api.get(URL, {**query, "limit": "1"})
            others = api.get(URL, {**query, "cursor": first.json()["nextCursor"]})

            assert [*keys(first), *keys(others)] == expected

    @pytest.mark.parametrize("sent", ["123", f"{'9' * 44},{'9' * 43}"])
    def test_refuses_keys_that_no_invoice_has(self, api, sent):
        response = api.get(URL, {"key": sent})

        assert response.status_code == 422
        assert response.json()["errors"] == {"key": ["Deve ter os 44 dígitos e letras de uma chave de acesso."]}

    def test_takes_as_many_keys_as_a_url_holds(self, api, made):
        wanted = [*made, *(f"{number:044}" for number in range(76))]

        assert keys(api.get(URL, {"key": ",".join(wanted), "limit": "100"})) == made[::-1]
        refused = api.get(URL, {"key": ",".join([*wanted, "9" * 44])})
        assert refused.json()["errors"] == {"key": ["No máximo 80 valores."]}

    def test_has_invoices_of_the_seller_alone(self, made, other_seller, seller_client):
        assert keys(seller_client(other_seller).get(URL)) == []

    def test_takes_two_queries_for_any_number(self, api, made, django_assert_num_queries):
        api.get(URL)

        with django_assert_num_queries(2):  # key with seller, invoices with the orders' ids
            assert len(keys(api.get(URL))) == len(made)

    @in_turn(
        ("query", "name"),
        [
            ("linked=", "linked"), ("linked=yes", "linked"), ("linked=TRUE", "linked"),
            ("linked=true&linked=true", "linked"), ("limit=101", "limit"), ("cursor=x", "cursor"),
        ],
    )  # fmt: skip  # a list of cases
    def test_refuses_a_bad_parameter_by_name(self, api, query, name):
        response = api.get(f"{URL}?{query}")

        assert (response.status_code, response.json()["code"]) == (422, "invalid_payload")
        assert [*response.json()["errors"]] == [name]

    def test_uses_an_index_of_the_seller(self, api, seller):
        renew(Invoice)
        one = send_invoice(seller, nfe_xml().encode())
        same = {f.attname: getattr(one, f.attname) for f in Invoice._meta.concrete_fields}
        moments = ((n, timezone.now() - timedelta(minutes=n)) for n in range(5000))
        Invoice.objects.bulk_create(
            Invoice(**{**same, "id": None, "access_key": f"{n:044}", "is_linked": n % 50 > 0, "received_at": at})
            for n, at in moments
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_invoice")

        for query, index in [
            ({}, "invoice_newest"),
            ({"linked": "true"}, LISTED),
            ({"linked": "false"}, LISTED),
            ({"key": "9" * 44}, "one_invoice_of_environment_per_access_key"),
        ]:
            with CaptureQueriesContext(connection) as captured:
                api.get(URL, query)
            listed = next(row["sql"] for row in captured if 'FROM "integration_invoice"' in row["sql"])
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN {listed}")
                plan = "\n".join(row[0] for row in cursor.fetchall())

            assert f" {index} " in plan, query
            assert "Seq Scan on integration_invoice " not in plan


class TestIsLinked:
    def test_follows_the_links_whoever_makes_and_deletes_them(self, seller):
        order, invoice = create_order(seller), send_invoice(seller, nfe_xml(items=("X",)).encode())
        states = [Invoice.objects.get().is_linked]

        invoices.link_by_hand(invoice=invoice, order=order, by=BY, at=timezone.now())
        states.append(Invoice.objects.get().is_linked)
        InvoiceLink.objects.all().delete()
        states.append(Invoice.objects.get().is_linked)

        assert states == [False, True, False]

from urllib.parse import quote

from django.utils import timezone

from integration.actions import orders
from integration.bodies import utc
from integration.lifecycle import Status
from integration.models import Order
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    COMPANY,
    OTHER_COMPANY,
    create_order,
    nfe_xml,
    order_body,
    send_invoice,
)

URL = "/api/integration/orders"


def get(api, code):
    return api.get(f"{URL}/{quote(code, safe='/')}")


class TestOrderDetail:
    def test_answers_everything_that_was_sent_and_has_happened(self, api, seller):
        sent = order_body(volumes=3)
        api.post(URL, sent)
        orders.move(
            order=Order.objects.get(),
            to=Status.COLLECTED,
            by=BY,
            at=timezone.now(),
            details=orders.Details(place="CD Cajamar"),
        )
        order = Order.objects.get()

        response = get(api, "A-1")

        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        body = response.json()
        log = body["data"].pop("status_log")
        assert body == {
            "success": True,
            "data": {
                "shippingId": order.pk,
                "orderId": "A-1",
                "trackingCode": "TRACK-1",
                "company_document": COMPANY,
                "status": "collected",
                "service": "base",
                "orderCost": 150.5,
                "created_at": log[0]["created_at"],
                "updated_at": utc(order.updated_at),
                "items": sent["items"],
                "volumes": 3,
                "receiver": sent["receiver"],
                "invoice": sent["invoice"],
                "freight": None,
                "invoices": [],
                "carrier": None,
                "trackingUrl": order.tracking_url,
            },
        }
        tracked = api.get(f"{URL}/tracking", {"type": "order_number", "value": "A-1"}).json()["data"][0]
        reported = [{name: entry.pop(name) for name in ("code", "reason", "place", "occurredAt")} for entry in log]
        assert log == tracked["status_log"]  # which has no more than the specification's keys
        assert reported == [
            {"code": None, "reason": None, "place": place, "occurredAt": entry["created_at"]}
            for entry, place in zip(log, (None, "CD Cajamar"), strict=True)
        ]
        assert [entry["status"] for entry in log] == ["pending", "collected"]

    def test_shows_the_invoices_that_were_linked(self, api, seller):
        create_order(seller)
        other_key = ACCESS_KEY[:-1] + "8"
        invoices = [send_invoice(seller, nfe_xml(key=key).encode()) for key in (ACCESS_KEY, other_key)]

        data = get(api, "A-1").json()["data"]

        shown = data["invoices"]
        assert [invoice.pop("linked_at") for invoice in shown] == [
            invoice.links.get().linked_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") for invoice in invoices
        ]
        assert shown == [
            {
                "key": key,
                "number": "123",
                "series": "1",
                "value": 150.5,
                "issued_at": "2026-11-20T13:00:00.000000Z",
            }
            for key in (ACCESS_KEY, other_key)
        ]
        assert data["invoice"] is None  # that was sent with the order

    def test_takes_an_order_id_of_any_characters(self, api, seller):
        codes = ["a/b", "a/b/c", "/x", "a?b", "a#b", "a%2Fb", "é 🛵", "tracking/", "tracking/1", "x" * 255, "."]

        for code in codes:
            create_order(seller, orderId=code)

        assert [get(api, code).json()["data"]["orderId"] for code in codes] == codes
        assert api.get(f"{URL}/a%2Fb").json()["data"]["orderId"] == "a/b"

    def test_leaves_the_two_fixed_paths_as_they_were(self, api, seller):
        for number, code in enumerate(("tracking", "cancel")):
            create_order(seller, orderId=code, trackingCode=f"T-{number}")

        assert api.get(f"{URL}/tracking").status_code == 403  # a tracking query without a value
        assert api.get(f"{URL}/cancel").status_code == 405
        assert api.post(f"{URL}/cancel", {"orderId": "tracking"}).status_code == 200

    def test_of_an_unknown_order_is_404(self, api, seller):
        create_order(seller)

        for code in ("A-2", "-", "a\0b", "\0", "x" * 3000):
            response = get(api, code)

            assert response.status_code == 404
            message = "Objeto não encontrado neste vendedor e neste ambiente"
            assert response.json() == {"success": False, "message": message, "code": "order_not_found"}
            assert response["Link"] == '</docs/errors/order_not_found>; rel="help"; type="text/html"'

    def test_of_a_path_that_no_endpoint_has_names_what_was_read_as_the_order(self, api, seller):
        create_order(seller)

        for code in ("A-1/", "A-1/labels", f"A-1/{'x' * 100}"):
            message = get(api, code).json()["message"]

            assert message == f"Objeto não encontrado neste vendedor e neste ambiente: '{code[:100]}'"

    def test_is_that_of_the_only_order_whose_id_is_alike(self, api, seller, other_seller):
        create_order(seller)
        create_order(seller, "sandbox", orderId="A1")
        create_order(other_seller, orderId="A1", company_document=OTHER_COMPANY)
        create_order(seller, orderId="B-1", trackingCode="A 1")

        assert [get(api, code).json()["data"]["orderId"] for code in ("A-1", "a-1", "A 1", "A1")] == ["A-1"] * 4
        create_order(seller, orderId="a.1")
        assert [get(api, code).status_code for code in ("A-1", "a.1", "A1", "a-1")] == [200, 200, 404, 404]

    def test_is_cancelled_labelled_and_handed_over_by_an_id_that_is_alike(self, api, seller, tariff):
        create_order(seller)

        label = api.post("/api/integration/labels", {"orderIds": ["a1", "A-1"], "format": "zpl"}, format="json")
        manifest = api.post("/api/integration/manifests", {"orderIds": ["a 1"]}, format="json")
        cancelled = api.post(f"{URL}/cancel", {"orderId": "A1"}, format="json")

        assert (label.status_code, label.content.decode().count("^XA")) == (200, 1)
        assert [each["orderId"] for each in manifest.json()["data"]["orders"]] == ["A-1"]
        assert cancelled.status_code == 200

    def test_takes_four_queries_for_any_number_of_invoices(self, api, seller, django_assert_num_queries):
        create_order(seller)
        for number in range(3):
            send_invoice(seller, nfe_xml(key=f"{ACCESS_KEY[:-1]}{number}").encode())
        get(api, "A-1")

        with django_assert_num_queries(4) as queries:  # key with seller, order with company, status log, invoices
            get(api, "A-1")

        assert not any('"raw"' in query["sql"] for query in queries)

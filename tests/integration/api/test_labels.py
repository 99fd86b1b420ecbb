import pytest
from django.utils import timezone

from integration.actions import orders
from integration.models import Order
from tests.integration.factories import BY, OTHER_COMPANY, create_order
from tests.integration.papers.codes import codes_in, fields_of, pages_of, texts_of

ONE = "/api/integration/orders/{}/label"
SEVERAL = "/api/integration/labels"


@pytest.fixture
def order(seller):
    return create_order(seller, trackingCode="AA123456785BR", volumes=2)


def assert_refused(response, status, code):
    assert (response.status_code, response["Content-Type"]) == (status, "application/json")
    assert (response.json()["success"], response.json()["code"]) == (False, code)


class TestLabel:
    def test_is_a_pdf_of_10_by_15_cm(self, api, order):
        response = api.get(ONE.format("A-1"))

        assert (response.status_code, response["Content-Type"]) == (200, "application/pdf")
        assert response["Content-Disposition"] == 'inline; filename="etiquetas.pdf"'
        pages = pages_of(response.content, dots_per_inch=254)
        assert [[round(side / 10) for side in page.size] for page in pages] == [[100, 150]] * 2
        assert ("Code128", "AA123456785BR") in codes_in(pages[0])

    def test_is_zpl(self, api, order):
        response = api.get(ONE.format("A-1"), {"format": "zpl"})

        assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
        assert "AA123456785BR" in [data for _commands, data in fields_of(response.content.decode())]

    def test_is_that_of_an_order_whose_id_holds_slashes(self, api, seller):
        create_order(seller, orderId="A/1/label")

        response = api.get(ONE.format("A/1/label"))

        assert "Pedido A/1/label" in texts_of(response.content)[0]

    def test_has_a_size_and_a_position(self, api, order):
        (page,) = pages_of(api.get(ONE.format("A-1"), {"size": "a4", "position": "3"}).content)

        assert page.height > page.width
        assert codes_in(page.crop((0, 0, page.width, page.height // 2))) == []
        assert codes_in(page).count(("QRCode", order.tracking_url)) == 2

    def test_is_refused_with_wrong_parameters(self, api, order):
        for query, name in [
            ({"size": "A3"}, "size"),
            ({"position": "5"}, "position"),
            ({"position": "0"}, "position"),
            ({"format": "png"}, "format"),
            ({"format": ""}, "format"),
            ({"format": "zpl", "size": "a6"}, "size"),
        ]:
            response = api.get(ONE.format("A-1"), query)

            assert_refused(response, 422, "invalid_payload")
            assert [*response.json()["errors"]] == [name]

    def test_is_refused_for_a_cancelled_order_in_portuguese(self, api, order):
        orders.cancel(order=order, by=BY, at=timezone.now())

        response = api.get(ONE.format("A-1"))

        assert_refused(response, 409, "order_cancelled")
        assert response.json()["message"] == "O pedido 'A-1' está cancelado"
        assert "errors" not in response.json()

    def test_of_another_seller_or_of_nobody_is_not_found(self, api, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY)

        for code in ("A-1", "nothing", "%00"):
            assert_refused(api.get(ONE.format(code)), 404, "order_not_found")


class TestLabels:
    def test_are_one_file_in_the_sequence_of_the_call(self, api, seller, order):
        create_order(seller, orderId="A-2", volumes=2)

        response = api.post(SEVERAL, {"orderIds": ["A-2", "A-1", "A-2"], "size": "a6"}, format="json")

        assert (response.status_code, response["Content-Type"]) == (200, "application/pdf")
        assert [text.split("Pedido ")[1][:3] for text in texts_of(response.content)] == ["A-2", "A-2", "A-1", "A-1"]

    def test_are_refused_as_a_whole_if_one_is_not_there_or_foreign(self, api, order, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY, orderId="B-1")

        for code in ("B-1", "nothing", "%"):
            response = api.post(SEVERAL, {"orderIds": ["A-1", code]}, format="json")

            assert_refused(response, 404, "order_not_found")
            assert f"'{code}'" in response.json()["message"]

    def test_names_every_fault_by_its_place_in_the_body(self, api, seller, order, other_seller):
        cancelled = create_order(seller, orderId="A-2")
        orders.cancel(order=cancelled, by=BY, at=timezone.now())
        for code, volumes in (("A-3", 99), ("A-4", 99), ("A-5", 1)):  # with which there is no room for the two of A-1
            create_order(seller, orderId=code, volumes=volumes)
        create_order(other_seller, company_document=OTHER_COMPANY, orderId="B-1")

        several = api.post(SEVERAL, {"orderIds": ["A-2", "A-3", "B-1", "A-4", "A-5", "A-1", "A-3"]}, format="json")
        too_many = api.post(SEVERAL, {"orderIds": ["A-3", "A-4", "A-5", "A-1"]}, format="json")

        assert_refused(several, 422, "orders_refused")
        assert several.json()["errors"] == {
            "orderIds.0": ["O pedido 'A-2' está cancelado"],
            "orderIds.2": ["Objeto não encontrado neste vendedor e neste ambiente: 'B-1'"],
            "orderIds.5": ["São mais de 200 volumes, o máximo de etiquetas em um arquivo"],
        }
        assert_refused(too_many, 409, "too_many_labels")
        assert [*too_many.json()["errors"]] == ["orderIds.3"]

    def test_are_refused_for_a_wrong_body(self, api, order):
        for body, name in [
            ({}, "orderIds"),
            ({"orderIds": []}, "orderIds"),
            ({"orderIds": "A-1"}, "orderIds"),
            ({"orderIds": [1.5]}, "orderIds.0"),
            ({"orderIds": ["a\0"]}, "orderIds.0"),
            ({"orderIds": ["x"] * 101}, "orderIds"),
            ({"orderIds": ["A-1"], "position": True}, "position"),
            ({"orderIds": ["A-1"], "size": ["a4"]}, "size"),
        ]:
            response = api.post(SEVERAL, body, format="json")

            assert_refused(response, 422, "invalid_payload")
            assert [*response.json()["errors"]] == [name], body

    def test_take_as_many_queries_for_any_number(self, api, seller, order, django_assert_num_queries):
        codes = [create_order(seller, orderId=f"B-{number}").code for number in range(5)]
        api.get(ONE.format("A-1"))

        with django_assert_num_queries(3):  # key with seller; orders with companies; links with invoices
            api.post(SEVERAL, {"orderIds": codes}, format="json")

    def test_change_nothing(self, api, order):
        before = Order.objects.values().get()

        api.get(ONE.format("A-1"))

        assert Order.objects.values().get() == before


class TestFiles:
    """Paths with one media type each."""

    @pytest.mark.parametrize("paper", [{}, {"size": "a6"}, {"size": "a4", "position": 3}])
    def test_are_the_pdfs_of_the_earlier_calls_each_time(self, api, order, paper):
        one = [api.get(ONE.format("A-1") + end, paper) for end in ("", ".pdf", ".pdf")]
        several = [api.post(SEVERAL + end, {"orderIds": ["A-1"], **paper}, format="json") for end in ("", ".pdf")]

        (content,) = {answer.content for answer in one + several}
        assert len(pages_of(content)) == (1 if "position" in paper else 2)
        for answer in one + several:
            assert (answer.status_code, answer["Content-Type"]) == (200, "application/pdf")
            assert answer["Content-Disposition"] == 'inline; filename="etiquetas.pdf"'

    def test_are_zpl_that_is_no_text(self, api, order):
        text = api.get(ONE.format("A-1"), {"format": "zpl"}).content
        for answer in (
            api.get(ONE.format("A-1") + ".zpl"),
            api.post(SEVERAL + ".zpl", {"orderIds": ["A-1"]}, format="json"),
        ):
            assert (answer.status_code, answer.content) == (200, text)
            assert answer["Content-Type"] == "application/octet-stream"
            assert answer["Content-Disposition"] == 'inline; filename="etiquetas.zpl"'

    @pytest.mark.parametrize("end", ["pdf", "zpl"])
    def test_are_those_of_the_own_orders_whose_ids_may_hold_slashes(self, api, seller, other_seller, end):
        create_order(seller, orderId="A/1/label")
        create_order(other_seller, company_document=OTHER_COMPANY)

        assert api.get(ONE.format("A/1/label") + f".{end}").status_code == 200
        for code in ("A-1", "nothing", "%00"):
            assert_refused(api.get(ONE.format(code) + f".{end}"), 404, "order_not_found")
            assert_refused(api.post(f"{SEVERAL}.{end}", {"orderIds": [code]}, format="json"), 404, "order_not_found")

    def test_have_a_paper_where_they_are_pdfs(self, api, order):
        for query, name in (({"size": "A3"}, "size"), ({"position": "5"}, "position")):
            response = api.get(ONE.format("A-1") + ".pdf", query)

            assert_refused(response, 422, "invalid_payload")
            assert [*response.json()["errors"]] == [name]
        ignored = api.post(SEVERAL + ".zpl", {"orderIds": ["A-1"], "size": "a4"}, format="json")
        assert (ignored.status_code, ignored["Rota-Warnings"][:25]) == (200, '"#/size";code=unknown_key')
        other = api.get(ONE.format("A-1") + ".pdf", {"format": "zpl"})
        assert (other["Content-Type"], other["Rota-Warnings"][:9]) == ("application/pdf", '"?format"')

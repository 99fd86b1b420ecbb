"""The page on which staff find, export and forget one person's data."""

import json

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from access.models import PersonRequest
from common.postgresql.forgetting import forgetting
from delivery.models import Stop
from integration.invoices.models import Invoice
from tests.cases import in_turn
from tests.delivery.personal_data import JOAO, MARIA, closed, everything, requested
from tests.integration.factories import nfe_xml, send_invoice

PAGE = reverse("panel:personal_data")
pytestmark = pytest.mark.django_db


def typed(number, do="", kind="phone"):
    return {"kind": kind, "number": number, "do": do}


class TestThePage:
    def test_shows_what_there_is_and_changes_nothing(self, staff):
        open_ = requested(MARIA)
        closed(MARIA)
        before = everything()

        response = staff.post(PAGE, typed("(11) 97777-0001"))

        assert response.context["found"].stops == 2
        assert response.context["rows"]["stops"] == list(Stop.objects.filter(contact_phone=MARIA).order_by("-pk"))
        assert f"/admin/delivery/delivery/{open_.pk}/change/" in response.content.decode()
        assert str(open_.pk) in response.content.decode()
        assert everything() == before
        assert not PersonRequest.objects.exists()

    def test_says_that_nothing_is_stored(self, staff):
        with translation.override("pt-br"):
            page = staff.post(PAGE, typed(MARIA), headers={"Accept-Language": "pt-br"}).content.decode()

        assert "Não há nada guardado sobre esta pessoa." in page

    def test_forgets_and_logs_who_did_it(self, staff):
        closed(MARIA)
        closed(JOAO)

        response = staff.post(PAGE, typed(MARIA, "forget"), follow=True)

        request = PersonRequest.objects.get()
        assert (request.stops, request.requested_by.startswith("user ")) == (1, True)
        assert Stop.objects.get(forgotten_at__isnull=False).contact_phone == ""
        assert Stop.objects.get(contact_phone=JOAO).contact_name == "Maria Souza"
        assert "…0001" in response.content.decode()
        assert "97777" not in response.content.decode()

    def test_keeps_the_request_while_something_is_open(self, staff):
        requested(MARIA)

        staff.post(PAGE, typed(MARIA, "forget"))

        assert PersonRequest.objects.get().finished_at is None
        assert Stop.objects.filter(contact_phone=MARIA).count() == 1

    def test_exports_as_a_download_and_logs_it(self, staff):
        closed(MARIA, JOAO)

        response = staff.post(PAGE, typed(MARIA, "export"))

        assert response["Content-Disposition"] == 'attachment; filename="personal-data.json"'
        assert [stop["phone"] for stop in json.loads(response.getvalue())["dropoffs"]] == [MARIA]
        assert PersonRequest.objects.get().kind == "export"

    @in_turn(
        "sent",
        [
            typed("97777-0001", "forget"), typed("", "forget"), typed("1" * 41, "forget"),
            typed(MARIA, "forget", "document"), typed(MARIA, "forget", "name"), {},
        ],
    )  # fmt: skip  # a table
    def test_refuses_half_a_number(self, staff, sent):
        closed(MARIA)
        before = everything()

        assert staff.post(PAGE, sent).status_code == 422

        assert everything() == before
        assert not PersonRequest.objects.exists()


class TestAnInvoiceWhoseFileIsDeleted:
    @pytest.fixture
    def invoice(self, shop):
        return send_invoice(shop.seller, nfe_xml(items=["A-77"]).encode())

    def addresses(self, invoice):
        """Its page and its file, in the panel and in the admin."""
        own = [invoice.seller_id, "live", invoice.pk]
        return [
            (reverse("panel:seller_invoice", args=own), reverse("panel:seller_invoice_file", args=own)),
            (
                reverse("admin:integration_invoice_change", args=own[2:]),
                reverse("admin:integration_invoice_file", args=own[2:]),
            ),
        ]

    def test_is_shown_without_it(self, staff, invoice):
        pages = self.addresses(invoice)
        assert [(file in staff.get(page).content.decode(), staff.get(file).status_code) for page, file in pages] == [
            (True, 200)
        ] * 2

        with forgetting():
            Invoice.objects.filter(pk=invoice.pk).update(raw=b"", forgotten_at=timezone.now())

        assert [(file in staff.get(page).content.decode(), staff.get(file).status_code) for page, file in pages] == [
            (False, 404)
        ] * 2
        assert [staff.get(page).status_code for page, _file in pages] == [200, 200]

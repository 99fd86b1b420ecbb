"""What SERVICE_ALIASES and INVOICE_PATHS open: the operator's words for the specification's."""

import sys
from importlib import reload

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import clear_url_caches

from integration.invoices.models import Invoice
from integration.models import Order
from tests.integration.factories import create_order, nfe_xml, order_body

ORDERS = "/api/integration/orders"


class TestAnAlias:
    @pytest.fixture(autouse=True)
    def aliases(self, settings):
        settings.SERVICE_ALIASES = {"brand": "base", "fast": "next"}

    def test_is_taken_for_its_service_which_answers_show(self, api):
        api.post(ORDERS, order_body(service="fast"))

        assert Order.objects.get().service == "next"
        assert api.get(ORDERS).json()["data"][0]["service"] == "next"

    @pytest.mark.parametrize("service", ["Brand", "slow", ["brand"], {"brand": 1}, None, True])
    def test_is_the_whole_name(self, api, service):
        response = api.post(ORDERS, order_body(service=service))

        assert (response.status_code, [*response.json()["errors"]]) == (422, ["service"])
        assert not Order.objects.exists()

    def test_is_named_where_another_word_is_refused(self, api):
        response = api.post(ORDERS, order_body(service="slow"))

        assert response.json()["errors"] == {"service": ["Deve ser um destes: base, next, turbo, brand, fast."]}


class TestAPath:
    @pytest.fixture(autouse=True)
    def paths(self, settings):
        """The URLs with another path. They are read once, when the process starts."""
        settings.INVOICE_PATHS = ["brand"]
        _read_urls()
        yield
        settings.INVOICE_PATHS = []
        _read_urls()

    @pytest.mark.parametrize("segment", ["brand", "marketplace"])
    def test_takes_an_invoice_as_marketplace_does(self, api, seller, segment):
        create_order(seller)
        file = SimpleUploadedFile("nota.xml", nfe_xml().encode())

        response = api.post(f"/api/integration/invoices/{segment}", {"nfe": file}, format="multipart")

        assert response.json() == {"success": True, "message": "Nota fiscal salva com sucesso"}
        assert Invoice.objects.count() == 1

    def test_is_one_of_those_that_the_setting_names(self, api):
        assert api.post("/api/integration/invoices/other").status_code == 404


def _read_urls():
    for name in ("integration.urls", "config.urls"):
        reload(sys.modules[name])
    clear_url_caches()

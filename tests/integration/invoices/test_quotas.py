"""What a seller may send and have kept of invoices: bytes in all, and a number in 24 hours."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.errors import InvoiceStorageFull, TooManyInvoices
from integration.invoices.models import Invoice, InvoiceReference
from integration.models import Seller
from tests.cases import in_turn
from tests.integration.factories import ACCESS_KEY, key_of, nfe_xml, send_invoice, upload

MB = 1024 * 1024
HOUR = timedelta(hours=1)
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def sandbox_api(seller):
    return APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")


def xml(number, *, size=0):
    """An invoice with a key of its own, of `size` bytes."""
    raw = nfe_xml(key=f"{ACCESS_KEY[:-3]}{number:03}").encode()
    return raw + b" " * (size - len(raw))


def limit(seller, **limits):
    Seller.objects.filter(pk=seller.pk).update(**limits)


def kept():
    return Invoice.objects.count(), InvoiceReference.objects.count(), Seller.objects.order_by("pk")[0].invoice_bytes


class TestSpace:
    def test_of_the_quota_is_used_to_the_last_byte_and_not_further(self, api, seller):
        limit(seller, invoice_quota_mb=1)

        assert upload(api, xml(1, size=MB - 5000)).status_code == 200
        assert upload(api, xml(2, size=5001)).status_code == 409
        assert upload(api, xml(3, size=5000)).status_code == 200
        assert kept() == (2, 2, MB)

    def test_that_is_full_says_what_to_do_and_keeps_nothing(self, api, seller):
        limit(seller, invoice_quota_mb=1)
        upload(api, xml(1, size=MB))

        response = upload(api, xml(2))

        assert response.status_code == 409
        assert response.json() == {
            "success": False,
            "message": "O espaço deste vendedor para notas fiscais (1 MB) está cheio e esta não foi salva. "
            "Peça a quem opera este serviço um limite maior",
            "code": "invoice_storage_full",
        }
        assert kept() == (1, 1, MB)

    def test_that_is_full_still_answers_an_invoice_that_is_kept(self, api, seller):
        limit(seller, invoice_quota_mb=1)
        upload(api, xml(1, size=MB))

        response = upload(api, xml(1))

        assert response.status_code == 200
        assert kept() == (1, 1, MB)

    @in_turn(("default", "own", "status"), [(1, None, 409), (1, 2, 200), (2, 1, 409), (1, 0, 200), (0, None, 200)])
    def test_is_the_sellers_own_quota_or_the_default(self, api, seller, settings, default, own, status):
        settings.INVOICE_QUOTA_MB = default
        limit(seller, invoice_quota_mb=own)
        upload(api, xml(1, size=MB))

        assert upload(api, xml(2)).status_code == status

    def test_is_each_sellers_own(self, seller, other_seller):
        limit(seller, invoice_quota_mb=1)
        send_invoice(seller, xml(1, size=MB))

        send_invoice(other_seller, xml(1, size=MB))

        assert set(Seller.objects.values_list("invoice_bytes", flat=True)) == {MB}

    def test_is_each_environments_own(self, api, sandbox_api, seller):
        limit(seller, invoice_quota_mb=1)

        answers = [upload(each, xml(number, size=MB)).status_code for number in (1, 2) for each in (sandbox_api, api)]

        assert answers == [200, 200, 409, 409]
        assert Seller.objects.values_list("invoice_bytes", "sandbox_invoice_bytes").get() == (MB, MB)


class TestNumber:
    @pytest.fixture(autouse=True)
    def two_a_day(self, settings):
        settings.INVOICES_PER_DAY = 2

    def test_refuses_one_more_and_says_when(self, api, seller):
        for number in (1, 2):
            assert upload(api, xml(number)).status_code == 200
        Invoice.objects.filter(access_key__endswith="001").update(received_at=timezone.now() - 23 * HOUR)

        response = upload(api, xml(3))

        seconds = int(response["Retry-After"])
        assert response.status_code == 429
        assert 3590 <= seconds <= 3600
        assert response.json() == {
            "success": False,
            "message": "Este vendedor já enviou 2 notas fiscais em 24 horas, o máximo permitido. "
            f"Tente novamente em {seconds} segundos",
            "code": "too_many_invoices",
        }
        assert kept()[:2] == (2, 2)

    @pytest.mark.parametrize(("seconds", "retry_after"), [(86_398.5, 2), (86_399, 1), (86_399.9, 1)])
    def test_counts_the_last_24_hours(self, seller, seconds, retry_after):
        for number in (1, 2):
            send_invoice(seller, xml(number), at=NOW + (number - 1) * HOUR)

        with pytest.raises(TooManyInvoices) as caught:
            send_invoice(seller, xml(3), at=NOW + timedelta(seconds=seconds))
        send_invoice(seller, xml(3), at=NOW + 24 * HOUR)

        assert caught.value.retry_after == retry_after
        assert Invoice.objects.count() == 3

    def test_is_counted_in_each_environment(self, api, sandbox_api):
        answers = [upload(each, xml(number)).status_code for number in (1, 2, 3) for each in (sandbox_api, api)]

        assert answers == [200, 200, 200, 200, 429, 429]

    def test_still_answers_an_invoice_that_is_kept(self, api, seller):
        for number in (1, 2):
            upload(api, xml(number))

        assert upload(api, xml(1)).status_code == 200
        assert kept()[:2] == (2, 2)

    @pytest.mark.parametrize(("own", "status"), [(None, 429), (3, 200), (1, 429), (0, 200)])
    def test_is_the_sellers_own_or_the_default(self, api, seller, own, status):
        for number in (1, 2):
            upload(api, xml(number))
        limit(seller, invoices_per_day=own)

        assert upload(api, xml(3)).status_code == status


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("limits", "refusal"),
    [({"invoices_per_day": 1}, TooManyInvoices), ({"invoice_quota_mb": 1}, InvoiceStorageFull)],
)
def test_of_invoices_sent_at_once_no_more_than_allowed_are_kept(seller, at_once, limits, refusal):
    limit(seller, **limits)

    results = at_once(*[lambda number=number: send_invoice(seller, xml(number, size=MB)) for number in range(4)])

    assert sorted(type(result).__name__ for result in results) == sorted(["Invoice", *[refusal.__name__] * 3])
    assert kept() == (1, 1, MB)


class TestBytesOfASeller:
    def test_follow_invoices_that_are_deleted_by_hand(self, seller):
        for number in (1, 2):
            send_invoice(seller, xml(number, size=2000 * number))

        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM integration_invoicereference")
            cursor.execute("DELETE FROM integration_invoice WHERE octet_length(raw) = 2000")

        assert Seller.objects.get().invoice_bytes == 4000

    @pytest.mark.parametrize("change", [{"raw": b"x"}, {"seller": None}])
    def test_cannot_be_wrong_because_a_file_changed(self, seller, other_seller, change):
        send_invoice(seller, xml(1))
        changed = {**change, "seller": other_seller} if "seller" in change else change

        with pytest.raises(ProgrammingError, match="Cannot update rows"), transaction.atomic():
            Invoice.objects.update(**changed)

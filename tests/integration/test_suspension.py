"""Suspending a seller, what it refuses meanwhile, the number of its keys, and lifting the suspension."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.accounts import keys, sellers
from integration.actions import orders
from integration.errors import AccountSuspended, TooManyKeys
from integration.lifecycle import Status
from integration.models import ApiKey, Order, Seller
from tests.integration.factories import BY, create_order, key_of, order_body

NOW = timezone.now()


def suspend(seller, reason="unpaid"):
    return sellers.suspend(seller=seller, reason=reason, by="user ana", at=NOW)


class TestSuspend:
    def test_refuses_keys_with_a_message_of_its_own(self, seller, api):
        suspend(seller)

        response = api.post("/api/integration/orders", order_body())

        assert response.status_code == 401
        assert response.json() == {
            "success": False,
            "message": "A conta deste vendedor está suspensa. Fale com quem opera este serviço",
            "code": "account_suspended",
        }
        assert response["WWW-Authenticate"] == 'Basic realm="rota"'
        assert not Order.objects.exists()
        assert ApiKey.objects.get().last_used_at is None

    def test_needs_one_query(self, seller, django_assert_num_queries):
        clear_text = key_of(seller)
        suspend(seller)

        with django_assert_num_queries(1), pytest.raises(AccountSuspended):
            keys.authenticate(clear_text, at=NOW)

    def test_keeps_when_by_whom_and_why_and_writes_it_to_the_log(self, seller, caplog):
        with caplog.at_level("INFO", logger="integration.accounts.sellers"):
            assert suspend(seller, " unpaid\n") is True
            assert suspend(seller, "other") is False

        row = Seller.objects.get()
        assert (row.suspended_at, row.suspended_by, row.suspension_reason) == (NOW, "user ana", "unpaid")
        assert [record.getMessage() for record in caplog.records] == [
            f"seller {seller.reference} suspended by user ana: 'unpaid'"
        ]


class TestSuspendedSeller:
    def test_is_issued_no_key(self, seller):
        suspend(seller)

        with pytest.raises(AccountSuspended):
            keys.issue(seller=seller, by=BY, at=NOW)

        assert not ApiKey.objects.exists()

    def test_has_its_orders_moved_on(self, seller):
        order = create_order(seller)
        suspend(seller)

        orders.move(order=order, to=Status.DELIVERED, by=BY, at=NOW)

        assert Order.objects.get().status == "delivered"


class TestLiftSuspension:
    def test_restores_everything_as_it_was(self, seller, caplog):
        client = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")
        before = list(ApiKey.objects.values_list()), list(Seller.objects.values_list())
        suspend(seller)

        with caplog.at_level("INFO", logger="integration.accounts.sellers"):
            assert sellers.lift_suspension(seller=seller, by="user bob") is True
            assert sellers.lift_suspension(seller=seller, by="user bob") is False

        assert (list(ApiKey.objects.values_list()), list(Seller.objects.values_list())) == before
        assert client.get("/api/integration/orders/tracking?type=document&value=1").status_code == 200
        assert caplog.text.count("lifted by user bob") == 1


def test_the_database_refuses_half_a_suspension(seller):
    at: dict[str, Any] = {"suspended_at": NOW}
    by, why = {"suspended_by": BY}, {"suspension_reason": "unpaid"}

    for half in (at, at | by, at | why, by, why):
        with pytest.raises(IntegrityError, match="seller_suspension_has_who_and_why"), transaction.atomic():
            Seller.objects.update(**half)


class TestNumberOfKeys:
    @pytest.fixture
    def full(self, seller):
        for _further in range(keys.MOST_VALID):
            key_of(seller)
        return seller

    def test_has_a_limit_for_each_seller_and_environment_and_counts_valid_ones_only(self, full, other_seller):
        key_of(full, Environment.SANDBOX)
        key_of(other_seller)
        with pytest.raises(TooManyKeys):
            key_of(full)
        live = full.keys.filter(environment="live")
        assert live.count() == 20

        keys.revoke(key=live.latest("pk"), by=BY, at=NOW)

        key_of(full)

        assert live.count() == 21

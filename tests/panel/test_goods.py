"""Goods in hand on the pages of those who dispatch."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.lifecycle import Trigger
from delivery.models import GoodsInHand
from panel import open_alerts
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory

NOW = timezone.now()


def in_hand():
    driver = DriverFactory.create(name="Ana Boa")
    delivery = DeliveryFactory.create(accepted=True, driver=driver, at=NOW - timedelta(minutes=9))
    deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW - timedelta(minutes=5))
    driver_moves.perform(driver=driver, sent=SentMove(uuid4(), delivery.pk, Trigger.COLLECT, NOW), at=NOW)
    return GoodsInHand.objects.get(delivery=delivery)


@pytest.fixture
def row(db):
    return in_hand()


class TestGoodsInHand:
    def test_of_the_board_show_goods_in_hand_and_record_that_they_are_back(self, dispatcher, row):
        addresses = reverse("panel:board_routes"), f"{reverse('panel:board_cards')}?ids={row.delivery_id}"
        for address in addresses:
            assert row.driver.name in dispatcher.get(address).json()["goods"]
            assert dispatcher.get(address, {"environment": "sandbox"}).json()["goods"] == ""

        told = f"{reverse('panel:board_cards')}?ids={row.delivery_id}:"
        for environment, has_some in (("live", True), ("sandbox", False), ("live", True)):  # known the second time
            goods = dispatcher.get(f"{told}a1", {"environment": environment} if not has_some else {}).json()["goods"]
            assert (row.driver.name in goods) is has_some
        dispatcher.post(reverse("panel:board_goods_back", args=[row.pk]))

        row.refresh_from_db()
        assert row.back_by.startswith("user ")
        assert [dispatcher.get(address).json()["goods"] for address in addresses] == ["", ""]

    def test_of_its_delivery_name_whoever_has_them_until_they_are_back(self, staff, row):
        account = row.delivery.integrator_id
        other = DeliveryFactory.create(token=TokenFactory.create(integrator=row.delivery.integrator), accepted=True)

        def goods_of(delivery):
            return list(staff.get(reverse("panel:delivery", args=[account, "live", delivery])).context["goods"])

        assert (goods_of(row.delivery_id), goods_of(other.pk)) == ([row], [])
        GoodsInHand.objects.update(back_at=NOW, back_by=BY)
        assert goods_of(row.delivery_id) == []

    def test_of_the_admin_show_goods_in_hand_and_record_that_they_are_back(self, admin_client, row):
        page = reverse("admin:delivery_delivery_change", args=[row.delivery_id])
        address = reverse("admin:delivery_delivery_goods_back", args=[row.delivery_id])
        of_another = in_hand()
        assert address in admin_client.get(page).content.decode()

        admin_client.post(address)

        assert GoodsInHand.objects.out().get() == of_another
        assert address not in admin_client.get(page).content.decode()

    def test_of_alerts_name_goods_in_hand(self, row):
        (alert,) = [each for each in open_alerts.of_all_accounts(at=NOW) if each.kind == "goods"]

        assert (alert.subject, row.driver.name in alert.details) == (row.delivery, True)

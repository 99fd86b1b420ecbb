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
from tests.factories import BY, DeliveryFactory, DriverFactory

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

        dispatcher.post(reverse("panel:board_goods_back", args=[row.pk]))

        row.refresh_from_db()
        assert row.back_by.startswith("user ")
        assert [dispatcher.get(address).json()["goods"] for address in addresses] == ["", ""]

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

"""Cancelling deliveries in the admin: the fees are named and agreed to first."""

import pytest
from django.urls import reverse

from common.formats import money
from delivery.actions.deliveries import fee_of_cancelling
from delivery.models import Delivery
from tests.delivery.admin.moving import LIST, agree, choose, press, status
from tests.factories import PICKUP, DeliveryFactory, DriverFactory, TokenFactory


class TestCancelling:
    @pytest.fixture
    def deliveries(self, db):
        token = TokenFactory.create()
        return [DeliveryFactory.create(token=token, collected=True), DeliveryFactory.create(token=token)]

    def test_names_each_fee_and_their_sum_first(self, dispatcher, deliveries):
        data = {"action": "move_cancel", "_selected_action": [str(delivery.pk) for delivery in deliveries]}
        fee, price = fee_of_cancelling(deliveries[0]), deliveries[0].shipping_value

        page = dispatcher.post(LIST, data).content.decode()

        assert fee > 0
        assert f"Fee {money(fee)}; the delivery costs {money(price)}." in page
        assert "Nobody pays a fee" in page
        assert f"Cancel, fee {money(fee)}" in page
        assert [status(delivery)[0] for delivery in deliveries] == ["COLLECTED", "PENDING"]

    def test_happens_when_the_dispatcher_agrees(self, dispatcher, deliveries):
        fields = agree(dispatcher, "cancel", *deliveries, reason="closed")

        choose(dispatcher, "cancel", *deliveries, **fields)

        assert [status(delivery)[0] for delivery in deliveries] == ["FAILED", "FAILED"]
        assert {*Delivery.objects.values_list("cancel_reason", flat=True)} == {"closed"}

    def test_asks_again_when_a_fee_has_changed_meanwhile(self, dispatcher, deliveries):
        DriverFactory.create(at_point=PICKUP)
        fields = agree(dispatcher, "cancel", *deliveries)
        press(dispatcher, deliveries[1], "accept")
        data = {"action": "move_cancel", "_selected_action": [str(delivery.pk) for delivery in deliveries]}

        page = dispatcher.post(LIST, {**data, **fields}).content.decode()

        assert "Something has changed meanwhile" in page
        assert [status(delivery)[0] for delivery in deliveries] == ["COLLECTED", "ACCEPT"]

    def test_says_what_cannot_be_cancelled_and_asks_no_fee_for_it(self, dispatcher, deliveries):
        choose(dispatcher, "cancel", deliveries[0], **agree(dispatcher, "cancel", deliveries[0]))
        data = {"action": "move_cancel", "_selected_action": [str(delivery.pk) for delivery in deliveries]}

        page = dispatcher.post(LIST, data).content.decode()

        assert page.count("It cannot be cancelled any more") == 1
        assert "Cancel without a fee" in page

    def test_from_the_page_of_a_delivery_asks_first_too(self, dispatcher, deliveries):
        url = reverse("admin:delivery_delivery_move", args=[deliveries[0].pk, "cancel"])

        page = dispatcher.post(url).content.decode()

        assert "Cancel this delivery?" in page
        assert status(deliveries[0])[0] == "COLLECTED"

import json
from typing import Any

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Tariff
from tests.delivery.api.calls import CANCEL, INFO, assert_field_refused, send
from tests.factories import BY, DeliveryFactory


def cancel(api, delivery, **body):
    return api.post(CANCEL.format(delivery.pk), body)


@pytest.mark.django_db
class TestCancelBeforePickup:
    @pytest.mark.parametrize("accepted", [False, True])
    def test_answers_the_querys_object_without_a_cancellation(self, api, token, accepted):
        delivery = DeliveryFactory.create(token=token, accepted=accepted)

        answer = cancel(api, delivery).json()

        assert "cancellation" not in answer
        assert answer == api.get(INFO.format(delivery.pk)).json()
        assert (answer["deliveryId"], answer["shippingValue"]) == (str(delivery.pk), 33.46)

    def test_needs_no_body_and_writes_one_event(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        assert api.post(CANCEL.format(delivery.pk)).status_code == 200

        assert Delivery.objects.get().cancel_reason == ""
        assert [json.loads(event.body)["status"] for event in delivery.events.order_by("sequence")] == [
            "PENDING",
            "FAILED",
        ]


@pytest.mark.django_db
class TestCancelAfterPickup:
    def test_sends_what_is_open_back_to_the_origin(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())

        answer = cancel(api, delivery, reason="wrong goods").json()

        assert [order["status"] for order in answer["orders"]] == ["DELIVERED", "FAILED", "FAILED"]
        assert answer["cancellation"] == {"reason": "wrong goods", "fee": 33.46, "returnToOrigin": True}
        assert answer == api.get(INFO.format(delivery.pk)).json()
        after = Delivery.objects.get()
        assert (after.status, after.route_status, after.driver) == ("FAILED", "RETURNING", delivery.driver)

    def test_charges_the_tariffs_share_of_the_moment_of_the_request(self, api, token):
        Tariff.objects.update(cancel_percent_collected=50)
        delivery = DeliveryFactory.create(token=token, collected=True, stops=2)
        Tariff.objects.update(cancel_percent_collected=80)

        answer = cancel(api, delivery).json()

        assert answer["cancellation"] == {"reason": "", "fee": 10.02, "returnToOrigin": True}

    def test_stays_visible_after_the_return(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True)
        answer = cancel(api, delivery, reason="late").json()

        deliveries.return_(delivery=delivery, by=BY, at=timezone.now())

        assert api.get(INFO.format(delivery.pk)).json() == answer


@pytest.mark.django_db
class TestCancelAgain:
    @pytest.mark.parametrize("stage", [{}, {"accepted": True}, {"collected": True}])
    def test_gives_the_same_answer_and_changes_nothing(self, api, token, stage):
        delivery = DeliveryFactory.create(token=token, **stage)
        first = cancel(api, delivery, reason="first")
        events = delivery.events.count()

        second = cancel(api, delivery, reason="second")

        assert (second.status_code, second.json()) == (200, first.json())
        assert Delivery.objects.get().cancel_reason == "first"
        assert (delivery.events.count(), delivery.transitions.count()) == (events, events)


@pytest.mark.django_db
class TestReason:
    def test_that_is_no_text_of_255_characters_is_422(self, api, token):
        reasons: list[Any] = ["x" * 256, "é" * 256, 1, 1.5, True, [], {}, ["late"], "a\x00b", "\ud800"]
        delivery = DeliveryFactory.create(token=token)

        for reason in reasons:
            assert_field_refused(send(api, CANCEL.format(delivery.pk), {"reason": reason}), "#/reason")

        after = Delivery.objects.get()
        assert (after.status, after.cancelled_at) == ("PENDING", None)
        assert (after.events.count(), after.transitions.count()) == (1, 1)

    @pytest.mark.parametrize("reason", ["", None, "é" * 255, "Qualquer motivo"])
    def test_may_be_any_text_or_missing(self, api, token, reason):
        delivery = DeliveryFactory.create(token=token, collected=True)

        answer = cancel(api, delivery, reason=reason).json()

        assert answer["cancellation"]["reason"] == (reason or "")

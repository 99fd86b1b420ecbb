"""The notices of an account's overview, exactly at the limits of time and one second past them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import EventState, PickupPoint, Token, WebhookEvent, WebhookQueueItem
from panel import attention
from tests.factories import DeliveryFactory, PickupPointFactory

NO_TOKEN, TOKENS_END = "No valid token", "Every token ends within a day"
FAILING = "failed at its last attempt"
WAITING, NO_PICKUP, DEAD = "waiting for a driver", "no pickup point", "of the last seven days"


@pytest.fixture
def texts(with_url):
    """The texts of the notices at a moment; the shop's delivery was requested at its `created_at`."""

    def at(moment):
        account, endpoint = with_url.integrator, with_url.endpoint
        return [notice.text for notice in attention.notices(account, "live", [endpoint], at=moment)]

    return at


def has(texts, part):
    return any(part in text for text in texts)


class TestWaitingDeliveries:
    @pytest.mark.parametrize(("seconds", "is_noticed"), [(599, False), (600, True)])
    def test_are_noticed_after_ten_minutes(self, texts, with_url, seconds, is_noticed):
        found = texts(with_url.delivery.created_at + timedelta(seconds=seconds))

        assert has(found, WAITING) is is_noticed

    @pytest.mark.parametrize(("seconds", "is_noticed"), [(-1, True), (0, False)])
    def test_are_noticed_until_their_offer_ends(self, texts, with_url, seconds, is_noticed):
        found = texts(with_url.delivery.offer_expires_at + timedelta(seconds=seconds))

        assert has(found, WAITING) is is_noticed

    def test_are_not_noticed_once_a_driver_has_them(self, texts, with_url):
        moment = with_url.delivery.created_at + timedelta(minutes=11)
        DeliveryFactory.create(token=with_url.token, accepted=True, at=with_url.delivery.created_at)

        (text,) = [text for text in texts(moment) if WAITING in text]

        assert text.startswith("1 delivery ")


class TestDeadEvents:
    @pytest.mark.parametrize(("seconds", "is_noticed"), [(0, True), (1, False)])
    def test_are_noticed_for_seven_days(self, texts, with_url, seconds, is_noticed):
        WebhookEvent.objects.update(state=EventState.DEAD)

        found = texts(with_url.event.created_at + timedelta(days=7, seconds=seconds))

        assert has(found, DEAD) is is_noticed


class TestFailingEvents:
    def test_are_noticed_while_they_are_tried_again(self, texts, with_url):
        event = WebhookEvent.objects.get(delivery=DeliveryFactory.create(token=with_url.token))
        WebhookQueueItem.objects.filter(event=event).update(tries=1)
        WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=1)

        assert has(texts(timezone.now()), FAILING)
        with_url.endpoint.enabled = False
        assert not has(texts(timezone.now()), FAILING)


class TestTokens:
    @pytest.mark.parametrize(("seconds", "is_noticed"), [(0, True), (1, False), (None, False)])
    def test_that_all_end_within_a_day_are_noticed(self, texts, with_url, seconds, is_noticed):
        now = timezone.now()
        Token.objects.update(expires_at=None if seconds is None else now + timedelta(days=1, seconds=seconds))

        found = texts(now)

        assert has(found, TOKENS_END) is is_noticed
        assert not has(found, NO_TOKEN)

    def test_that_are_all_revoked_are_noticed(self, texts):
        Token.objects.update(revoked_at=timezone.now(), revoked_by="user ana")

        assert has(texts(timezone.now()), NO_TOKEN)


class TestPickupPoints:
    def test_that_are_missing_are_noticed_unless_every_pickup_is_allowed(self, texts, with_url):
        assert not has(texts(timezone.now()), NO_PICKUP)
        PickupPoint.objects.all().delete()
        assert has(texts(timezone.now()), NO_PICKUP)

        with_url.integrator.allow_any_pickup = True

        assert not has(texts(timezone.now()), NO_PICKUP)

    def test_that_are_not_active_do_not_count(self, texts, with_url):
        PickupPoint.objects.update(active=False)
        assert has(texts(timezone.now()), NO_PICKUP)

        PickupPointFactory.create(integrator=with_url.integrator)

        assert not has(texts(timezone.now()), NO_PICKUP)


def test_the_most_severe_notices_come_first(with_url):
    Token.objects.update(revoked_at=timezone.now(), revoked_by="user ana")
    PickupPoint.objects.all().delete()

    found = attention.notices(with_url.integrator, "live", [with_url.endpoint], at=timezone.now())

    assert [notice.is_grave for notice in found] == [True, False]

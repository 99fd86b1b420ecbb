"""The notices of an account's overview. What they count is in `tests/counted`."""

from copy import copy

import pytest
from django.utils import timezone

from delivery.models import PickupPoint, Token, WebhookEvent, WebhookQueueItem
from panel import attention
from tests.factories import DeliveryFactory

FAILING = "failed at its last attempt"
NO_PICKUP = "no pickup point"


@pytest.fixture
def texts(with_url):
    """The texts of the notices at a moment; the shop's delivery was requested at its `created_at`."""

    def at(moment):
        account, endpoint = with_url.integrator, with_url.endpoint
        return [notice.text for notice in attention.notices(account, "live", [endpoint], at=moment)]

    return at


def has(texts, part):
    return any(part in text for text in texts)


class TestFailingEvents:
    def test_are_noticed_while_they_are_tried_again(self, texts, with_url):
        event = WebhookEvent.objects.get(delivery=DeliveryFactory.create(token=with_url.token))
        WebhookQueueItem.objects.filter(event=event).update(tries=1)
        WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=1)

        assert has(texts(timezone.now()), FAILING)
        with_url.endpoint.enabled = False
        assert not has(texts(timezone.now()), FAILING)


class TestWebhooks:
    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({}, []),
            ({"enabled": False}, ["Webhooks are off"]),
            ({"failures": 9}, ["failed 9 times in a row"]),
            ({"enabled": False, "failures": 9}, ["Webhooks are off"]),
            ({"enabled": False, "url": ""}, []),
            ({"failures": 9, "url": ""}, []),
        ],
    )
    def test_that_are_not_received_are_noticed_once_where_a_url_is_set(self, with_url, changes, told):
        now = timezone.now()
        for name, value in {**changes, "failing_since": now if "failures" in changes else None}.items():
            setattr(with_url.endpoint, name, value)

        found = attention.of_webhooks([with_url.endpoint], at=now)

        assert [text for text, notice in zip(told, found, strict=True) if text not in notice.text] == []
        assert all(notice.is_grave for notice in found)

    def test_of_a_further_endpoint_name_it_and_lead_to_it(self, with_url):
        first, further = with_url.endpoint, copy(with_url.endpoint)
        further.number, further.enabled = 2, False

        (notice,) = attention.of_webhooks([first, further], at=timezone.now())

        assert (notice.text.startswith(f"{further.host}: Webhooks are off"), notice.number) == (True, 2)

    @pytest.mark.parametrize(
        ("changes", "failing", "dead", "expected"),
        [
            ({"enabled": False}, 2, 3, ["Webhooks are off", "3 events of"]),
            ({"failures": 9}, 2, 0, ["The webhook failed 9 times"]),
            ({"failures": 1}, 2, 0, ["2 events failed"]),
            ({}, 0, 1, ["1 event of"]),
        ],
    )
    def test_say_what_keeps_events_back_once_and_beside_it_what_is_lost(
        self, with_url, changes, failing, dead, expected
    ):
        for name, value in changes.items():
            setattr(with_url.endpoint, name, value)

        found = attention._of_webhook(with_url.endpoint, failing, dead)

        assert len(found) == len(expected)
        for notice, text in zip(found, expected, strict=True):
            assert notice.text.startswith(text)
            assert notice.is_grave is not text.startswith("2 events failed")


class TestPickupPoints:
    def test_that_are_missing_are_noticed_unless_every_pickup_is_allowed(self, texts, with_url):
        assert not has(texts(timezone.now()), NO_PICKUP)
        PickupPoint.objects.all().delete()
        assert has(texts(timezone.now()), NO_PICKUP)

        with_url.integrator.allow_any_pickup = True

        assert not has(texts(timezone.now()), NO_PICKUP)


def test_the_most_severe_notices_come_first(with_url):
    Token.objects.update(revoked_at=timezone.now(), revoked_by="user ana")
    PickupPoint.objects.all().delete()

    found = attention.notices(with_url.integrator, "live", [with_url.endpoint], at=timezone.now())

    assert [notice.is_grave for notice in found] == [True, False]

"""What open pages are told, read from a real Redis."""

from contextlib import ExitStack
from datetime import timedelta
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from common import connections
from common.connections import BackOff
from common.pages import page_updates as technique
from common.pages.page_updates import ANYTHING, CHANNEL, Message
from common.webhooks import endpoints, replays
from common.webhooks.http_client import Result
from common.webhooks.outbox import ClaimedItem
from common.webhooks.settlement import settle
from delivery.actions import deliveries, drivers, goods, schedule, stops
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.geo.position_filter import SentPosition
from delivery.lifecycle import Trigger
from delivery.models import Delivery, Driver, Environment, EventState, GoodsInHand
from delivery.webhooks.outbox import OUTBOX
from tests.delivery.scheduled import scheduled
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory
from tests.ports import free_port

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def told(django_capture_on_commit_callbacks):
    """Returns the messages of all topics since its last call, as (topic, text).

    Before it returns them it does what the changes since have left for after their commit.
    """
    with (
        ExitStack() as changes,
        Redis.from_url(settings.REDIS_URL, decode_responses=True) as client,
        client.pubsub() as pubsub,
    ):
        changes.enter_context(django_capture_on_commit_callbacks(execute=True))
        pubsub.psubscribe(f"{CHANNEL}*")

        def received():
            while (message := pubsub.get_message(timeout=30)) is not None and message["type"] != "pmessage":
                pass  # confirmations
            while message is not None and message["data"] != "end":
                yield message["channel"].removeprefix(CHANNEL), message["data"]
                message = pubsub.get_message(timeout=30)

        def read():
            changes.close()
            changes.enter_context(django_capture_on_commit_callbacks(execute=True))
            client.publish(f"{CHANNEL}end", "end")
            return sorted(received())

        yield read


@pytest.fixture
def token():
    return TokenFactory.create()


@pytest.fixture
def endpoint(token):
    found = token.integrator.endpoints.get(environment=Environment.LIVE)
    return endpoints.set_url(endpoint=found, url="http://127.0.0.1:9/", by=BY, at=NOW)


def of_delivery(delivery, kind="delivery", phones=()):
    """A message for each of these topics. `phones`: those of drivers' phones."""
    text = f"{kind}:{delivery.pk}"
    return sorted((topic, text) for topic in (f"account:{delivery.integrator_id}:live", "board:live", *phones))


OFFERS = "offers:live:MOTORCYCLE"
AT_ONCE = Retry(NoBackoff(), 0)  # otherwise the client waits seconds between its tries


class TestDelivery:
    @pytest.mark.parametrize("has_url", [True, False])
    def test_is_announced_to_its_account_and_the_board(self, token, told, request, has_url):
        if has_url:
            request.getfixturevalue("endpoint")
            told()

        delivery = DeliveryFactory.create(token=token, stops=1)

        assert told() == of_delivery(delivery, phones=[OFFERS])

    def test_is_announced_at_each_transition(self, token, told):
        driver = DriverFactory.create()
        delivery = DeliveryFactory.create(token=token, stops=1)
        told()

        messages = []
        for move in (
            lambda: deliveries.accept(delivery=delivery, driver=driver, by=BY, at=NOW),
            lambda: deliveries.collect(delivery=delivery, by=BY, at=NOW),
            lambda: deliveries.fail(delivery=delivery, point="B", reason="Closed", by=BY, at=NOW),
            lambda: deliveries.return_(delivery=delivery, by=BY, at=NOW),
        ):
            move()
            messages.append(told())

        phone = f"driver:{driver.pk}"
        assert messages[0] == of_delivery(delivery, phones=[OFFERS, phone])
        assert messages[1:] == [of_delivery(delivery, phones=[phone])] * 3

    @pytest.mark.parametrize("end", ["cancel", "expire"])
    def test_is_announced_to_phones_when_the_offer_ends(self, token, told, end):
        delivery = DeliveryFactory.create(token=token, stops=1)
        told()

        if end == "cancel":
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW)
        else:
            deliveries.expire(delivery=delivery, by=BY, at=delivery.offer_expires_at)

        assert told() == of_delivery(delivery, phones=[OFFERS])

    def test_is_announced_to_the_driver_who_loses_the_route(self, token, told):
        former, other = DriverFactory.create_batch(2)
        delivery = DeliveryFactory.create(token=token, accepted=True, driver=former)
        told()

        deliveries.reassign(delivery=delivery, driver=other, by=BY, at=NOW)

        phones = [OFFERS, f"driver:{former.pk}", f"driver:{other.pk}"]
        assert told() == of_delivery(delivery, phones=phones)

    def test_is_announced_to_the_phone_of_who_holds_it_when_the_shop_changes_a_stop(self, token, told):
        delivery, offered = DeliveryFactory.create(token=token, accepted=True), DeliveryFactory.create(token=token)
        told()
        messages = []

        for each in (delivery, offered, offered):  # the second time nothing is changed
            values = {"instructions": "Knock"}
            stops.change(delivery=each, point="B", values=values, by=BY, at=NOW)
            messages.append(told())

        assert messages == [of_delivery(delivery, phones=[f"driver:{delivery.driver_id}"]), of_delivery(offered), []]

    def test_is_announced_to_the_phone_that_declines_it(self, token, told):
        delivery, driver = DeliveryFactory.create(token=token), DriverFactory.create()
        told()

        drivers.decline(delivery=delivery, driver=driver, at=NOW)

        assert told() == of_delivery(delivery, phones=[f"driver:{driver.pk}"])

    def test_is_announced_when_its_offer_is_expected_at_another_moment(self, token, told):
        delivery = scheduled(timedelta(minutes=50), at=NOW, token=token)
        told()
        DriverFactory.create(at_point=PICKUP)
        messages = []

        for _twice in range(2):
            schedule.plan(at=NOW)
            messages.append(told())

        assert messages == [of_delivery(delivery), []]

    def test_is_announced_when_its_goods_are_out_and_when_they_are_back(self, token, told):
        former, delivery = DriverFactory.create(), DeliveryFactory.create(token=token, at=NOW - timedelta(hours=1))
        deliveries.accept(delivery=delivery, driver=former, by=BY, at=NOW - timedelta(minutes=50))
        deliveries.reassign(delivery=delivery, driver=DriverFactory.create(), by=BY, at=NOW - timedelta(minutes=9))
        phones = [OFFERS, *(f"driver:{pk}" for pk in (former.pk, Delivery.objects.get(pk=delivery.pk).driver_id))]
        told()
        messages = []

        def collected():
            sent = SentMove(uuid4(), delivery.pk, Trigger.COLLECT, NOW - timedelta(minutes=20))
            driver_moves.perform(driver=former, sent=sent, at=NOW)

        def is_back():
            goods.record_back(goods=GoodsInHand.objects.get(), by=BY, at=NOW)

        for act in (collected, collected, is_back, is_back):
            act()
            messages.append(told())

        assert messages == [of_delivery(delivery, phones=phones), []] * 2

    def test_is_not_announced_when_the_change_is_rolled_back(self, token, told):
        delivery = DeliveryFactory.create(token=token)
        told()

        with transaction.atomic():
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW)
            transaction.set_rollback(True)

        assert told() == []


class TestPositions:
    def test_of_a_driver_who_holds_a_route_are_announced_once_for_each_topic(self, token, told):
        delivery = DeliveryFactory.create(token=token, accepted=True)
        told()

        drivers.set_position(driver=delivery.driver, point=PICKUP, by=BY, at=NOW)
        one = told()
        reported = [SentPosition(PICKUP, NOW - timedelta(seconds=age)) for age in (0, 1)]
        drivers.store_positions(driver=delivery.driver, sent=reported, by=BY)

        assert one == told() == of_delivery(delivery, "position")

    def test_are_not_announced_after_the_route(self, token, told):
        delivery = DeliveryFactory.create(token=token, accepted=True)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW)
        told()

        drivers.set_position(driver=delivery.driver, point=PICKUP, by=BY, at=NOW)

        assert told() == []


class TestDuty:
    def test_is_announced_to_the_board_of_its_environment_and_the_phone(self, told):
        live, sandbox = DriverFactory.create(), DriverFactory.create(environment=Environment.SANDBOX)

        drivers.set_duty([live, sandbox], on_duty=False)

        texts = {live.environment: f"driver:{live.pk}", sandbox.environment: f"driver:{sandbox.pk}"}
        assert told() == sorted(
            (topic, text) for environment, text in texts.items() for topic in (f"board:{environment}", text)
        )
        assert not Driver.objects.filter(on_duty=True).exists()


class TestWebhooks:
    def test_are_announced_when_their_attempts_are_settled(self, token, endpoint, told):
        made = [DeliveryFactory.create(token=token).events.get() for _delivery in range(2)]
        lease = uuid4()
        outcomes = []
        for event in made:
            item = event.queue_item
            item.lease = lease
            item.save()
            claimed = ClaimedItem(item.pk, lease, event.pk, endpoint.pk, event.delivery_id, 1, event.body)
            outcomes.append((claimed, Result(at=NOW, status_code=204)))
        told()

        settle(OUTBOX, outcomes, at=NOW)

        ((topic, text),) = told()
        assert (topic, set(text.split())) == (f"endpoint:{endpoint.pk}", {f"event:{event.pk}" for event in made})
        assert {event.__class__.objects.get(pk=event.pk).state for event in made} == {EventState.SENT}

    def test_are_announced_when_they_are_sent_again(self, token, endpoint, told):
        event = DeliveryFactory.create(token=token).events.get()
        type(event).objects.update(state=EventState.DEAD)
        told()

        replays.replay(events=type(event).objects.filter(pk=event.pk), by=BY, at=NOW)

        assert told() == [(f"endpoint:{endpoint.pk}", f"event:{event.pk}")]

    def test_of_a_test_are_announced(self, endpoint, told):
        told()

        event = endpoints.send_test(endpoint=endpoint, by=BY, at=NOW)

        assert told() == [(f"endpoint:{endpoint.pk}", f"event:{event.pk}")]

    def test_are_announced_to_be_on_or_off_or_elsewhere(self, endpoint, told):
        told()

        endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=NOW)
        endpoints.set_enabled(endpoint=endpoint, enabled=True, by=BY, at=NOW)
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=NOW)

        assert told() == [(f"endpoint:{endpoint.pk}", "endpoint")] * 3


class TestMessage:
    def test_names_at_most_32_ids(self):
        assert Message("board:live", ["a"] * 32).text == " ".join(["a"] * 32)
        assert Message("board:live", ["a"] * 33).text == ANYTHING

    def test_groups_the_ids_of_a_topic(self):
        first, second, third = uuid4(), uuid4(), uuid4()

        assert OUTBOX.messages([(1, first), (2, second), (1, third)]) == [
            Message("endpoint:1", [f"event:{first}", f"event:{third}"]),
            Message("endpoint:2", [f"event:{second}"]),
        ]


class TestRedisAway:
    def test_is_not_asked_again_for_two_seconds(self, monkeypatch, caplog):
        clock, asked = [1000.0], []
        monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: clock[0]))
        monkeypatch.setattr(technique, "_back_off", BackOff(2))
        away = Redis(port=free_port(), socket_connect_timeout=1, retry=AT_ONCE)

        def ask():
            asked.append(clock[0])
            return away

        monkeypatch.setattr(technique, "redis", ask)

        for clock[0] in (1000.0, 1001.9, 1002.0):
            technique.publish(Message("board:live", ["a"]), Message("board:sandbox", ["b"]))

        assert asked == [1000.0, 1002.0]
        assert caplog.text.count("not told of a change") == 2

    def test_finds_no_page_that_is_open(self, monkeypatch, caplog):
        monkeypatch.setattr(technique, "redis", lambda: Redis(port=free_port(), retry=AT_ONCE))

        assert technique.subscribed(["board:live"]) == set()
        assert "Which pages are open is not known" in caplog.text

    def test_refuses_no_change(self, token, monkeypatch, django_capture_on_commit_callbacks):
        monkeypatch.setattr(technique, "_back_off", BackOff(2))
        monkeypatch.setattr(technique, "redis", lambda: Redis(port=9, socket_connect_timeout=1, retry=AT_ONCE))

        with django_capture_on_commit_callbacks(execute=True):
            delivery = DeliveryFactory.create(token=token)

        assert delivery.transitions.count() == 1

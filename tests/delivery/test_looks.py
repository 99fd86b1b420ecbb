"""How often phones report: more often while somebody looks at where their drivers are."""

import json
from contextlib import contextmanager
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.utils import timezone
from redis import RedisError

from common import connections
from common.pages.page_updates import CHANNEL
from config.gathered_positions import GatheredPositions
from delivery import looks, page_updates
from delivery.actions.drivers import set_position
from delivery.api.views import note_look
from delivery.models import Delivery
from tests.cases import in_turn
from tests.delivery.api.calls import INFO, LOCATION
from tests.delivery.drivers.test_positions import at_pickup, environ, report
from tests.delivery.receivers.links import path_of
from tests.factories import BY, PICKUP, DeliveryFactory, TokenFactory


@pytest.fixture(autouse=True)
def nobody_has_looked(monkeypatch):
    monkeypatch.setattr(looks, "_noted", {})
    monkeypatch.setattr(looks, "_back_off", connections.BackOff(2))


@pytest.fixture
def noted(monkeypatch):
    """The drivers at whom somebody looks."""
    found: list[UUID] = []
    monkeypatch.setattr(looks, "note", found.append)
    return found


@contextmanager
def subscribed(*topics):
    """A page that is told of these topics. Yields what reads its messages."""
    client = connections.new_redis(settings.REDIS_URL, seconds=5)
    with client.pubsub() as page:
        page.subscribe(*(CHANNEL + topic for topic in topics))
        for _topic in topics:
            assert page.get_message(timeout=5)["type"] == "subscribe"

        def read():
            return page.get_message(timeout=5)["data"].decode()

        yield read
    client.close()


def every_seconds(sender):
    (answer,) = GatheredPositions().together([environ(sender, report(PICKUP))])
    assert answer is not None
    return json.loads(answer.body)["everySeconds"]


class TestPhone:
    def test_reports_seldom_while_nobody_looks(self, db):
        assert every_seconds(at_pickup()) == 20

    @in_turn(
        ("page", "has_route", "seconds"),
        [
            ("board of live", False, 5),
            ("board of live", True, 5),
            ("board of sandbox", True, 20),
            ("account", True, 5),
            ("account", False, 20),
            ("sandbox of the account", True, 20),
            ("another account", True, 20),
        ],
    )
    def test_reports_often_while_a_page_shows_its_driver(self, db, page, has_route, seconds):
        sender, token = at_pickup(), TokenFactory.create()
        if has_route:
            DeliveryFactory.create(token=token, accepted=True, driver=sender.driver)
        topic = {
            "board of live": page_updates.board("live"),
            "board of sandbox": page_updates.board("sandbox"),
            "account": page_updates.account(token.integrator_id, "live"),
            "sandbox of the account": page_updates.account(token.integrator_id, "sandbox"),
            "another account": page_updates.account(uuid4(), "live"),
        }[page]

        with subscribed(topic):
            assert every_seconds(sender) == seconds

    def test_reports_often_after_a_look(self, db):
        sender, other = at_pickup(), at_pickup()

        looks.note(sender.driver.pk)

        assert (every_seconds(sender), every_seconds(other)) == (5, 20)

    def test_reports_often_while_redis_is_away(self, db, monkeypatch):
        monkeypatch.setattr(looks, "redis", away)
        sender = at_pickup()

        looks.note(sender.driver.pk)

        assert every_seconds(sender) == 5

    def test_is_told_by_its_stream_of_the_first_look(self, db):
        driver = uuid4()

        with subscribed(page_updates.driver(driver)) as read:
            looks.note(driver)
            looks._noted.clear()
            looks.note(driver)
            connections.redis().publish(CHANNEL + page_updates.driver(driver), "last")

            assert [read(), read()] == [looks.REPORT, "last"]

    def test_is_told_by_its_stream_of_the_first_board(self, db):
        offers = page_updates.offers("live", "CAR")
        with subscribed(offers, page_updates.board("live")) as read:
            looks.note_board("live", ["CAR"])
            connections.redis().publish(CHANNEL + offers, "last")
            assert read() == "last"
        with subscribed(offers) as read:
            looks.note_board("live", ["CAR"])
            assert read() == looks.REPORT


def away():
    raise RedisError("away")


class TestNote:
    def test_asks_redis_once_in_a_while(self, monkeypatch):
        driver = uuid4()
        looks.note(driver)
        monkeypatch.setattr(looks, "redis", None)  # which would fail

        looks.note(driver)

    @pytest.mark.django_db
    @pytest.mark.parametrize("path", [INFO, LOCATION])
    @pytest.mark.parametrize("is_held", [True, False])
    def test_is_made_by_calls_that_show_where_the_driver_is(self, api, token, path, is_held, noted):
        delivery = DeliveryFactory.create(token=token, accepted=is_held)

        assert api.get(path.format(delivery.pk)).status_code == 200

        assert noted == ([delivery.driver_id] if is_held else [])

    @pytest.mark.parametrize(
        ("changes", "is_noted"),
        [({}, True), ({"environment": "sandbox"}, False), ({"route_status": "FINISHED"}, False)],
    )
    def test_is_not_made_of_who_has_no_phone_or_is_not_shown(self, changes, is_noted, noted):
        shown = {"driver_id": uuid4(), "environment": "live", "route_status": "ACCEPTED"}

        note_look(Delivery(**(shown | changes)))

        assert bool(noted) is is_noted

    @pytest.mark.django_db
    @pytest.mark.parametrize("is_shown", [True, False])
    def test_is_made_by_the_receivers_page(self, client, is_shown, noted):
        delivery = DeliveryFactory.create(stops=1, **{"collected" if is_shown else "accepted": True})
        set_position(driver=delivery.driver, point=PICKUP, by=BY, at=timezone.now())

        assert client.get(path_of(delivery)).status_code == 200

        assert noted == ([delivery.driver_id] if is_shown else [])

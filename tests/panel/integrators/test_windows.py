"""Windows of deliveries on pages: the fields of a form, the board, the list and the receiver's page."""

import re
from datetime import datetime, timedelta

import pytest
from django.utils import timezone, translation

from common.brazil import formats
from delivery.actions import deliveries
from delivery.lifecycle import Mode
from delivery.windows import Window
from panel.dispatch import board
from panel.integrators.delivery_forms import WindowsForm
from tests.cases import in_turn
from tests.delivery.receivers.links import path_of, text_of
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DeliveryFactory

pytestmark = pytest.mark.django_db
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def local(ahead, pattern="%Y-%m-%dT%H:%M"):
    """A moment so long from now as a browser sends it."""
    return (timezone.localtime() + ahead).strftime(pattern)


class TestForm:
    @pytest.mark.parametrize("pattern", ["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M"])
    def test_reads_moments_of_the_service_as_browsers_and_people_write_them(self, pattern):
        found = WindowsForm({"a_ready_at": local(2 * HOUR, pattern)})

        assert found.is_valid()
        ready = found.of("a").ready_at
        assert ready is not None
        assert abs(ready - timezone.now() - 2 * HOUR) < MINUTE

    @pytest.mark.parametrize("text", ["tomorrow", "2026-11-27T25:00", "1" * 5000])
    def test_refuses_what_is_no_moment(self, text):
        assert list(WindowsForm({"b_deadline_at": text}).errors) == ["b_deadline_at"]


class TestBoard:
    def test_shows_scheduled_routes_of_two_days_with_their_moments(self):
        now = timezone.now()
        soon = scheduled(3 * HOUR, at=now)
        scheduled(49 * HOUR, at=now)

        (route,) = board.routes("live")

        assert (route["id"], route["status"]) == (str(soon.pk), "SCHEDULED")
        assert route["due"] == (now + 3 * HOUR).timestamp()
        (card,) = board.cards("live", [soon.pk]).values()
        assert "31 min before" in card  # the way of a driver of whom nothing is known
        assert len(route["points"]) == 2

    def test_has_another_card_once_a_route_is_offered(self):
        delivery = scheduled(3 * HOUR, at=timezone.now())
        before = board.routes("live")[0]["version"]
        (card,) = board.cards("live", [delivery.pk]).values()
        assert "Offer now" in card

        deliveries.offer(delivery=delivery, by=BY, at=timezone.now())

        assert board.routes("live")[0]["version"] != before
        (card,) = board.cards("live", [delivery.pk]).values()
        assert "Offer now" not in card
        assert "Assign driver" in card


class TestText:
    @in_turn(
        ("start", "end", "text"),
        [
            (14, 15, "14:00 to 15:00"),
            (14, None, "from 14:00"),
            (None, 15, "until 15:00"),
            (None, None, ""),
            (38, 39, "27 Nov 14:00 to 15:00"),
            (23, 25, "23:00 to 27 Nov 01:00"),
        ],
    )
    def test_names_days_that_are_not_today(self, start, end, text):
        midnight = datetime(2026, 11, 26, tzinfo=timezone.get_current_timezone())
        window = [hour and midnight + hour * HOUR for hour in (start, end)]

        with translation.override("en"):
            assert formats.window(*window, at=midnight) == text


class TestReceiversPage:
    def test_says_what_is_planned(self, client):
        now = timezone.now()
        window = Window(now + 2 * HOUR, now + 3 * HOUR)
        found = scheduled(pickup=Window(now + HOUR), dropoffs=[window, Window()], at=now)
        inward = scheduled(pickup=Window(), dropoffs=[window], at=now, mode=Mode.REVERSE)

        with translation.override("en"):
            planned = formats.window(window.ready_at, window.deadline_at, at=now)
            from_a = formats.window(found.scheduled_for, None, at=now)
        own, other, of_sender = (
            text_of(client.get(path, headers={"accept-language": "en"}))
            for path in (path_of(found), path_of(found, 1), path_of(inward))
        )

        assert "Your delivery is scheduled." in own
        assert f"Planned {planned}" in own
        assert f"Planned {from_a} " in other
        assert "The pickup is scheduled." in of_sender
        assert f"Planned {planned}" in of_sender


class TestList:
    def test_has_scheduled_deliveries_apart_from_those_that_wait_for_a_driver(self, member, url, shop):
        found = scheduled(3 * HOUR, at=timezone.now(), token=shop.token)
        links = [url("delivery", each.pk) for each in (found, shop.delivery)]

        pages = {
            status: member.get(f"{url('deliveries')}?status={status}").content.decode()
            for status in ("SCHEDULED", "PENDING", "")
        }

        assert {status: [link in page for link in links] for status, page in pages.items()} == {
            "SCHEDULED": [True, False], "PENDING": [False, True], "": [True, True]
        }  # fmt: skip  # a table

    def test_says_how_late_each_is_and_names_two_of_its_orders(self, member, url, shop):
        late = DeliveryFactory.create(token=shop.token, accepted=True, at=timezone.now() - 42 * MINUTE)
        DeliveryFactory.create(token=shop.token, at=timezone.now())

        for query in ({}, {"q": "order-"}):  # by the index of the list, and by a part of a name
            page = " ".join(member.get(url("deliveries"), query).content.decode().split())

            assert re.findall(r"([\d\s]+min) late", page) == [" 12 min"]
            assert f'href="{url("delivery", late.pk)}">order-1, order-2 +1</a>' in page


class TestDelivery:
    def test_says_when_it_is_collected_and_offered(self, member, url, shop):
        now = timezone.now()
        pickup, stop = Window(now + 5 * HOUR, now + 6 * HOUR), Window(None, now + 7 * HOUR)
        found = scheduled(pickup=pickup, dropoffs=[stop], at=now, token=shop.token)

        text = text_of(member.get(url("delivery", found.pk)))

        with translation.override("en"):
            for window in (pickup, stop):
                assert formats.window(window.ready_at, window.deadline_at, at=now) in text
        assert "offered to drivers in 4 h" in text
        assert "Waiting for a driver" not in text

"""The page of a delivery."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from common.brazil.phones import shown as phone_shown
from delivery.actions import deliveries, proofs
from delivery.actions.proofs import Proof
from delivery.geo.distance import Point
from delivery.models import ArrivalEstimate, Delivery
from delivery.payload import Options, Place
from delivery.receivers import actions as receivers
from tests.delivery.proofs import asking_for, pin_of
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DROPOFFS, DeliveryFactory, DriverFactory, add_endpoint, validated_payload
from tests.photos import photo


def shows_pin(content, delivery):
    return re.search(rf"<code\s*>{pin_of(delivery)}</code>", content) is not None


class TestPoints:
    def test_have_their_whole_address(self, member, url, shop):
        address = {
            "street": "Rua Augusta", "number": "12", "complement": "Apto 42", "district": "Consolação",
            "city": "São Paulo", "state": "SP", "zipcode": "01310200",
        }  # fmt: skip  # a table
        stop = Place(point=Point(*DROPOFFS[0]), address=address, contact_name="Maria")
        payload = validated_payload(dropoffs=[stop])
        delivery = deliveries.request(token=shop.token, payload=payload, by=BY, at=timezone.now())

        page = member.get(url("delivery", delivery.pk)).content.decode()
        text = " ".join(re.sub(r"<[^>]+>", " ", page).split())

        assert "Rua Augusta, 12 · Apto 42 · Consolação · São Paulo/SP · CEP 01310-200" in text


class TestStops:
    @pytest.fixture
    def asked(self, shop):
        return asking_for(Options(instructions="Ring twice", has_pin=True), Options(), token=shop.token, collected=True)

    def test_have_a_receivers_page_to_copy_each(self, member, url, asked):
        addresses = receivers.addresses(list(asked.stops.all()), at=timezone.now()).values()

        content = member.get(url("delivery", asked.pk)).content.decode()

        shown = re.findall(r'<code class="unseen" id="tracking-[BC]">(.*?)</code>', content)
        assert shown == list(addresses)
        assert content.count('data-copy="tracking-') == 2

    def test_say_what_was_asked_for_and_when_the_driver_arrives(self, member, url, asked):
        now = timezone.localtime()
        begin, middle, end = (now + timedelta(minutes=minutes) for minutes in (5, 9, 15))
        ArrivalEstimate.objects.create(
            stop=asked.stops.get(index=0),
            arrives_at=middle, earliest=begin, latest=end, computed_at=now, engine="distance",
        )  # fmt: skip

        content = member.get(url("delivery", asked.pk)).content.decode()

        assert content.count(f"about {middle:%H:%M}, between {begin:%H:%M} and {end:%H:%M}") == 1
        assert f"about <b>{middle:%H:%M}</b>, between {begin:%H:%M} and {end:%H:%M}" in content
        assert "Ring twice" in content
        assert shows_pin(content, asked)

    def test_say_that_the_driver_is_late_and_was_last_heard_of_when(self, member, url, asked):
        now = timezone.localtime()
        ArrivalEstimate.objects.create(
            stop=asked.stops.get(index=0), arrives_at=now, earliest=now, latest=now + timedelta(minutes=9),
            computed_at=now, signal_at=now - timedelta(minutes=21), engine="distance",
        )  # fmt: skip

        content = member.get(url("delivery", asked.pk)).content.decode()

        text = rf"late, last signal (\d+ \w+ )?{now - timedelta(minutes=21):%H:%M}"
        assert len(re.findall(rf'<b class="bad-text">{text}</b>', content)) == 2
        assert "about <b>" not in content

    def test_have_their_proof(self, member, url, asked, photo_folder):
        now = timezone.now()
        driver = Delivery.objects.select_related("driver").get(pk=asked.pk).driver
        assert driver is not None
        proofs.add(driver=driver, upload=uuid4(), delivery=asked.pk, point="B", content=photo(), taken_at=now, at=now)
        proof = Proof(received_by="Dona Rita", pin=pin_of(asked))
        proofs.deliver(delivery=asked, point="B", proof=proof, by=BY, at=now)

        content = member.get(url("delivery", asked.pk)).content.decode()

        (address,) = re.findall(r'href="(/api/photos/[^"]+)"', content)
        assert member.get(address)["Content-Type"] == "image/jpeg"
        assert "Dona Rita" in content
        assert "confirmed at" in content
        assert not shows_pin(content, asked)

    def test_have_no_link_that_has_ended(self, member, url, shop):
        end = timezone.now() - timedelta(hours=48)
        delivery = DeliveryFactory.create(token=shop.token, stops=1, at=end)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=end)

        assert "tracking-B" not in member.get(url("delivery", delivery.pk)).content.decode()


class TestPage:
    def test_is_named_after_its_orders(self, member, url, shop):
        assert "<h1>order-1, order-2</h1>" in member.get(url("delivery", shop.delivery.pk)).content.decode()

    def test_says_how_many_orders_were_not_delivered_of_one_on_its_way(self, member, url, shop):
        delivery = DeliveryFactory.create(token=shop.token, collected=True)
        deliveries.fail(delivery=delivery, point="B", reason="Closed", by=BY, at=timezone.now())

        for page in ("deliveries", "delivery"):
            path = url(page, *([delivery.pk] if page == "delivery" else []))
            assert "1 of 3 not delivered" in member.get(path).content.decode()

    def test_shows_one_badge_where_delivery_and_route_have_one_name(self, member, url, shop):
        content = member.get(url("delivery", shop.delivery.pk)).content.decode()

        state = content[content.index('id="state"') : content.index('id="map"')]
        assert state.count("badge") == 1
        assert "Waiting for a driver" in state


class TestNow:
    """What the page says first."""

    @staticmethod
    def text(content):
        state = content.split('id="state"')[1].split("</section>")[0]
        return " ".join(re.sub(r"<[^>]+>", " ", state.partition(">")[2]).split())

    def test_names_the_next_stop_how_late_it_is_and_the_drivers_phone(self, member, url, shop):
        day_before = timezone.now() - timedelta(days=1)
        delivery = DeliveryFactory.create(token=shop.token, collected=True, at=day_before)

        shown = self.text(member.get(url("delivery", delivery.pk)).content.decode())

        assert re.search(r"\d+ h \d+ min late", shown)
        assert "Next stop B " in shown
        assert f"{delivery.driver.name} {phone_shown(delivery.driver.phone)}" in shown

    def test_has_no_phone_of_a_driver_whose_route_has_ended(self, member, url, shop):
        delivery = DeliveryFactory.create(token=shop.token, collected=True, stops=1)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())

        shown = self.text(member.get(url("delivery", delivery.pk)).content.decode())

        assert delivery.driver.name in shown
        assert phone_shown(delivery.driver.phone) not in shown

    def test_says_nothing_of_a_next_stop_when_it_has_ended(self, member, url, shop):
        delivery = DeliveryFactory.create(token=shop.token, at=timezone.now() - timedelta(days=1))
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        shown = self.text(member.get(url("delivery", delivery.pk)).content.decode())

        assert shown.startswith("Cancelled ")
        assert "Next stop" not in shown
        assert "none yet" not in shown  # of a driver
        assert "late" not in shown


class TestHistory:
    def test_has_the_event_of_each_change_that_is_told(self, member, url, shop):
        """Of the first endpoint. That a route is offered is told to nobody."""
        add_endpoint(shop.token)
        at = timezone.now()
        delivery = scheduled(timedelta(hours=3), at=at, token=shop.token)
        minutes = [at + timedelta(minutes=number) for number in range(1, 3)]
        deliveries.offer(delivery=delivery, by=BY, at=minutes[0])
        deliveries.accept(delivery=delivery, driver=DriverFactory.create(), by=BY, at=minutes[1])

        steps = member.get(url("delivery", delivery.pk)).context["steps"]

        request, acceptance = delivery.events.filter(endpoint=shop.endpoint).order_by("sequence")
        assert [(step.change.trigger, step.event) for step in steps] == [
            ("accept", acceptance), ("offer", None), ("request", request),
        ]  # fmt: skip  # a table

    def test_says_once_that_no_url_was_set(self, member, url, shop):
        delivery = DeliveryFactory.create(token=shop.token, accepted=True)
        mark, event = "No URL was set", url("event", delivery.events.earliest("pk").pk)
        before = member.get(url("delivery", delivery.pk)).content.decode()
        delivery.events.update(state="sent")

        after = member.get(url("delivery", delivery.pk)).content.decode()

        assert [page.count(mark) for page in (before, after)] == [1, 0]
        assert [event in page for page in (before, after)] == [False, True]


class TestWays:
    def test_lead_dispatchers_to_the_route_on_the_board_while_it_is_there(self, as_role, url, shop):
        page, board = url("delivery", shop.delivery.pk), f"/panel/board/?environment=live&amp;route={shop.delivery.pk}"
        of_staff = as_role("account staff").get(page).content.decode()
        superuser = as_role("superuser")

        before = superuser.get(page).content.decode()
        deliveries.cancel(delivery=shop.delivery, reason="", by=BY, at=timezone.now())

        assert board in before
        assert board not in of_staff
        assert board not in superuser.get(page).content.decode()

    def test_from_the_board_lead_where_the_person_may_see_it(self, as_role, url, shop):
        member, dispatcher = as_role("member"), as_role("dispatcher")
        path, unknown = (reverse("panel:any_delivery", args=[key]) for key in (shop.delivery.pk, uuid4()))

        assert member.get(path).headers["Location"] == url("delivery", shop.delivery.pk)
        assert dispatcher.get(path).headers["Location"] == f"/admin/delivery/delivery/{shop.delivery.pk}/change/"
        assert dispatcher.get(unknown).status_code == 404

"""The dispatcher's screen: every move from the page and from the list, fees, refusals, permissions, and the stops."""

import html
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from common.actors import actor_name
from common.brazil.formats import money, short_id
from common.brazil.phones import shown as phone_shown
from common.webhooks import endpoints
from delivery import lifecycle
from delivery.actions import deliveries, moves, proofs, stops
from delivery.actions.proofs import Proof
from delivery.geo.distance import Point
from delivery.lifecycle import Mode, OnFailure
from delivery.models import Delivery
from delivery.payload import Options, Place
from delivery.receivers import actions as receivers
from tests.cases import in_turn
from tests.delivery.admin.conftest import person
from tests.delivery.in_progress import in_progress
from tests.delivery.proofs import asking_for, pin_of
from tests.factories import (
    BY,
    PICKUP,
    DeliveryFactory,
    DriverFactory,
    TariffFactory,
    TokenFactory,
    add_endpoint,
    validated_payload,
)
from tests.photos import photo

LIST = reverse("admin:delivery_delivery_changelist")


def page(delivery):
    return reverse("admin:delivery_delivery_change", args=[delivery.pk])


def press(client, delivery, name, **fields):
    """A button on the delivery's page. Returns what the page says then."""
    url = reverse("admin:delivery_delivery_move", args=[delivery.pk, name])
    response = client.post(url, {"confirmed": "yes", **fields}, follow=True)
    return [str(message) for message in response.context["messages"]]


def chosen(name, *deliveries):
    return {"action": f"move_{name}", "_selected_action": [str(delivery.pk) for delivery in deliveries]}


def choose(client, name, *deliveries, **fields):
    """An action of the list."""
    response = client.post(LIST, {**chosen(name, *deliveries), "confirmed": "yes", **fields}, follow=True)
    return [str(message) for message in response.context["messages"]]


def agree(client, *deliveries, **fields):
    """What the page that asks before deliveries are cancelled sends when the dispatcher agrees."""
    page = client.post(LIST, chosen("cancel", *deliveries)).context
    agreed = {f"agreed-{row.pk}": row.agreed for row in page["rows"]}
    return {**agreed, "confirmed": "yes", **fields}


def status(delivery):
    fresh = Delivery.objects.get(pk=delivery.pk)
    return fresh.status, fresh.route_status


def buttons(client, delivery):
    return {name for name in moves.MOVES if f'/move/{name}/"' in client.get(page(delivery)).content.decode()}


class TestLateness:
    def test_is_told_and_filtered_as_on_the_board(self, dispatcher):
        ago = timezone.now() - timedelta(minutes=25)
        late = DeliveryFactory.create(at=ago)
        DeliveryFactory.create()
        DeliveryFactory.create(token=TokenFactory.create(sandbox=True), at=ago)

        everything = dispatcher.get(LIST)
        filtered = dispatcher.get(LIST, {"late": "yes"})

        assert len(everything.context["cl"].result_list) == 3
        assert [each.pk for each in filtered.context["cl"].result_list] == [late.pk]
        assert re.findall(r'<span class="badge bad"[^>]*>\d+\smin late<', filtered.content.decode())
        assert "min late<" in dispatcher.get(page(late)).content.decode()


class TestPage:
    @pytest.mark.parametrize("route_status", lifecycle.IN_PROGRESS)
    def test_offers_the_moves_allowed_now(self, dispatcher, route_status):
        delivery = in_progress(route_status)

        assert buttons(dispatcher, delivery) == set(moves.allowed(delivery))

    def test_names_a_status_once(self, dispatcher):
        delivery = DeliveryFactory.create()
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        summary = dispatcher.get(page(delivery)).content.decode().partition('id="summary"')[2].partition("<dl")[0]

        assert (summary.count("badge"), "Cancelled" in summary) == (1, True)

    def test_has_the_drivers_phone_while_the_route_lasts_for_those_who_may_look_at_drivers(self, client, db):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        views = ("view_delivery", "view_driver")
        people = [person("rita", *views[:1]), person("vera", *views)]

        def who_sees_it():
            for each in people:
                client.force_login(each)
                if phone_shown(delivery.driver.phone) in client.get(page(delivery)).content.decode():
                    yield each.username

        assert [*who_sees_it()] == ["vera"]
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())
        assert [*who_sees_it()] == []

    def test_names_the_endpoint_of_each_event(self, admin_client):
        token = TokenFactory.create()
        first = token.integrator.endpoints.get(environment=token.environment)
        endpoints.set_url(endpoint=first, url="http://127.0.0.1:9/first", by=BY, at=timezone.now())
        removed = add_endpoint(token)
        delivery = DeliveryFactory.create(token=token)
        endpoints.remove(endpoint=removed, by=BY, at=timezone.now())

        events = (
            admin_client.get(page(delivery)).content.decode().partition('id="events"')[2].partition("</section>")[0]
        )

        assert re.findall(r'<li class="soft">\s*(.*?)\s*</li>', events) == ["127.0.0.1:9/first", "No URL"]

    def test_offers_open_points_and_eligible_drivers_only(self, dispatcher):
        DriverFactory.create(name="Near", at_point=PICKUP)
        busy = DriverFactory.create(name="Busy")
        collected = DeliveryFactory.create(collected=True, driver=busy)
        press(dispatcher, collected, "deliver", point="B")

        content = dispatcher.get(page(collected)).content.decode()
        offer = dispatcher.get(page(DeliveryFactory.create())).content.decode()

        assert 'value="C"' in content
        assert 'value="B"' not in content
        assert "Near · Motorcycle · 0.0 km" in offer
        assert busy.name not in offer.split('id="moves"')[1]

    def test_plays_a_delivery_to_its_end(self, dispatcher):
        driver, delivery = DriverFactory.create(), DeliveryFactory.create(stops=2, mode=Mode.RETURN)

        press(dispatcher, delivery, "accept", driver=str(driver.pk))
        press(dispatcher, delivery, "position", position="-23.56, -46.65")
        press(dispatcher, delivery, "collect")
        press(dispatcher, delivery, "deliver", point="B")
        press(dispatcher, delivery, "fail", point="C", reason="Recusado")
        said = press(dispatcher, delivery, "return")

        assert status(delivery) == ("DELIVERED", "FINISHED")
        assert said == [f"Route {short_id(delivery.pk)}: {driver.name} is back at A."]
        assert driver.latest_position().recorded_by == "user dora"
        assert {*delivery.transitions.exclude(trigger="request").values_list("by", flat=True)} == {"user dora"}
        assert LogEntry.objects.filter(object_id=str(delivery.pk)).count() == 6

    @pytest.mark.parametrize(
        ("name", "fields", "why"),
        [
            ("collect", {}, "Cannot collect while the route is AVAILABLE"),
            ("fail", {"point": "B", "reason": ""}, "Say why"),
            ("accept", {"driver": "nobody"}, "No driver has the id"),
        ],
    )
    def test_says_why_a_move_is_refused(self, dispatcher, name, fields, why):
        delivery = DeliveryFactory.create()

        said = press(dispatcher, delivery, name, **fields)

        assert why in html.unescape(said[0])
        assert status(delivery) == ("PENDING", "AVAILABLE")
        assert LogEntry.objects.count() == 0

    def test_writes_no_script_that_a_receiver_sent(self, dispatcher):
        delivery = DeliveryFactory.create(collected=True)
        press(dispatcher, delivery, "fail", point="B", reason="<script>alert(1)</script>")

        assert "<script>alert" not in dispatcher.get(page(delivery)).content.decode()

    def test_has_no_field_to_write_a_status_into(self, dispatcher):
        content = dispatcher.get(page(DeliveryFactory.create())).content.decode()

        assert 'name="status"' not in content
        assert 'name="_save"' not in content


class TestList:
    def test_moves_the_rest_when_one_is_refused(self, dispatcher):
        ready, early = DeliveryFactory.create(accepted=True), DeliveryFactory.create()

        said = choose(dispatcher, "collect", ready, early)

        assert (status(ready)[0], status(early)[0]) == ("COLLECTED", "PENDING")
        assert sum("Cannot collect" in text for text in said) == 1

    def test_takes_the_chosen_driver(self, dispatcher):
        DriverFactory.create(at_point=PICKUP)
        driver, delivery = DriverFactory.create(), DeliveryFactory.create()

        choose(dispatcher, "accept", delivery, driver=str(driver.pk))

        assert Delivery.objects.get(pk=delivery.pk).driver == driver

    @pytest.mark.parametrize("find", [lambda d: str(d.pk), lambda _d: "order-2"])
    def test_finds_by_delivery_id_and_external_id(self, dispatcher, find):
        delivery = DeliveryFactory.create()
        DeliveryFactory.create(stops=1)

        response = dispatcher.get(LIST, {"q": find(delivery)})

        assert [row.pk for row in response.context["cl"].result_list] == [delivery.pk]

    def test_are_called_by_the_numbers_of_their_orders_and_else_by_their_ids(self, dispatcher):
        place = Place(point=Point(*PICKUP), address={})
        with_names = DeliveryFactory.create()
        without = DeliveryFactory.create(payload=validated_payload(dropoffs=[place]))

        page = dispatcher.get(LIST).content.decode()

        links = {each.pk: reverse("admin:delivery_delivery_change", args=[each.pk]) for each in (with_names, without)}
        assert f'href="{links[with_names.pk]}">order-1 +2</a>' in page
        assert f'href="{links[without.pk]}" title="{without.pk}">{short_id(without.pk)}</a>' in page


class TestReasons:
    def test_are_chosen_from_the_same_list_as_on_the_board(self, dispatcher):
        delivery = DeliveryFactory.create(collected=True)

        offer = dispatcher.get(page(delivery)).content.decode()
        fields = {"point": "B", "code": "ABSENT", "reason": "rang twice"}
        asked = dispatcher.post(reverse("admin:delivery_delivery_move", args=[delivery.pk, "fail"]), fields)
        press(dispatcher, delivery, "fail", **fields)

        assert "Failure code: Nobody there" in asked.content.decode()
        assert "Reason: rang twice" in asked.content.decode()
        assert '<option value="ABSENT">Nobody there</option>' in offer
        assert delivery.stops.get(index=0).failure == "Nobody there: rang twice"

    def test_are_recorded_once_for_a_visit_that_was_recorded_meanwhile(self, dispatcher):
        delivery = asking_for(Options(on_failure=OnFailure.RETRY), Options(), collected=True)
        shown = dispatcher.get(page(delivery)).content.decode()
        url = reverse("admin:delivery_delivery_move", args=[delivery.pk, "fail"])
        fields = {"point": "B", "code": "ABSENT"}
        asked = dispatcher.post(url, fields).content.decode()
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=timezone.now())

        for known in ({"untried": "BC"}, {f"agreed-{delivery.pk}": "BC"}):
            dispatcher.post(url, {**fields, **known, "confirmed": "yes"})

        assert 'name="untried" value="BC"' in shown
        assert f'name="agreed-{delivery.pk}" value="BC"' in asked
        assert delivery.stops.get(index=0).status == "COLLECTED"

    def test_are_for_a_point_that_is_named_by_recipient_and_street(self, dispatcher):
        stop = Place(point=PICKUP, address={"street": "Rua Augusta", "number": "500"}, contact_name="Maria")
        delivery = DeliveryFactory.create(collected=True, payload=validated_payload(dropoffs=[stop, stop]))

        assert "B · Maria · Rua Augusta, 500" in dispatcher.get(page(delivery)).content.decode()
        assert "Maria · Rua Augusta, 500" in dispatcher.get(LIST).content.decode()


class TestPermissions:
    def test_an_onlooker_sees_no_buttons_and_moves_nothing(self, onlooker):
        delivery = DeliveryFactory.create(accepted=True)

        assert buttons(onlooker, delivery) == set()
        url = reverse("admin:delivery_delivery_move", args=[delivery.pk, "collect"])
        assert onlooker.post(url).status_code == 403
        choose(onlooker, "collect", delivery)

        assert status(delivery) == ("ACCEPT", "ACCEPTED")

    def test_a_move_is_a_post_with_a_csrf_token(self, dispatcher, client):
        delivery = DeliveryFactory.create(accepted=True)
        url = reverse("admin:delivery_delivery_move", args=[delivery.pk, "collect"])
        client.handler.enforce_csrf_checks = True

        assert client.get(url).status_code == 405
        assert client.post(url).status_code == 403

        assert status(delivery) == ("ACCEPT", "ACCEPTED")


class TestCancelling:
    @pytest.fixture
    def deliveries(self, db):
        token = TokenFactory.create()
        return [DeliveryFactory.create(token=token, collected=True), DeliveryFactory.create(token=token)]

    def test_names_each_fee_and_their_sum_first(self, dispatcher, deliveries):
        fee, price = deliveries[0].fee_of_cancelling, deliveries[0].shipping_value

        asked = dispatcher.post(LIST, chosen("cancel", *deliveries))
        page = asked.content.decode()

        assert fee > 0
        assert sorted(len(row.facts) for row in asked.context["rows"]) == [1, 2]
        assert f"Fee {money(fee)}; the route costs {money(price)}." in page
        assert "Nobody pays a fee" in page
        assert page.count("The driver takes the goods back to A.") == 1  # of what is collected
        assert f"Cancel, fee {money(fee)}" in page
        assert [status(delivery)[0] for delivery in deliveries] == ["COLLECTED", "PENDING"]

    def test_of_a_held_route_without_a_fee_does_not_say_that_it_has_no_driver(self, dispatcher):
        TariffFactory.create(cancel_percent_accepted=0)
        free = DeliveryFactory.create(accepted=True)

        page = dispatcher.post(LIST, chosen("cancel", free)).content.decode()

        assert "Cancelling now costs nothing." in page
        assert "no driver is assigned" not in page

    def test_happens_when_the_dispatcher_agrees(self, dispatcher, deliveries):
        fields = agree(dispatcher, *deliveries, reason="closed")

        choose(dispatcher, "cancel", *deliveries, **fields)

        assert [status(delivery)[0] for delivery in deliveries] == ["FAILED", "FAILED"]
        assert {*Delivery.objects.values_list("cancel_reason", flat=True)} == {"closed"}

    def test_asks_again_when_a_fee_has_changed_meanwhile(self, dispatcher, deliveries):
        DriverFactory.create(at_point=PICKUP)
        fields = agree(dispatcher, *deliveries)
        press(dispatcher, deliveries[1], "accept")

        page = dispatcher.post(LIST, {**chosen("cancel", *deliveries), **fields}).content.decode()

        assert "Something has changed meanwhile" in page
        assert [status(delivery)[0] for delivery in deliveries] == ["COLLECTED", "ACCEPT"]

    def test_asks_again_when_the_goods_were_collected_meanwhile_though_the_fee_is_the_same(self, dispatcher):
        TariffFactory.create(cancel_percent_accepted=50, cancel_percent_collected=50)
        accepted = DeliveryFactory.create(accepted=True)
        fields = agree(dispatcher, accepted)
        press(dispatcher, accepted, "collect")

        page = dispatcher.post(LIST, {**chosen("cancel", accepted), **fields}).content.decode()

        assert "Something has changed meanwhile" in page
        assert status(accepted)[0] == "COLLECTED"

    def test_says_what_cannot_be_cancelled_and_asks_no_fee_for_it(self, dispatcher, deliveries):
        choose(dispatcher, "cancel", deliveries[0], **agree(dispatcher, deliveries[0]))

        page = dispatcher.post(LIST, chosen("cancel", *deliveries)).content.decode()

        assert page.count("It cannot be cancelled any more") == 1
        assert "Cancel without a fee" in page

    def test_from_the_page_of_a_delivery_asks_first_too(self, dispatcher, deliveries):
        delivery = deliveries[0]

        page = dispatcher.post(reverse("admin:delivery_delivery_move", args=[delivery.pk, "cancel"])).content.decode()
        asked = status(delivery)
        press(dispatcher, delivery, "cancel", **agree(dispatcher, delivery))

        assert "Cancel this delivery?" in page
        assert (asked, status(delivery)) == (("COLLECTED", "COLLECTED"), ("FAILED", "RETURNING"))


@pytest.fixture
def asked(db):
    return asking_for(Options(instructions="Ring twice", has_pin=True, needs_photo=True), Options(), collected=True)


def section(client, delivery):
    found = re.search(r'<section[^>]+id="stops".*?</section>', client.get(page(delivery)).content.decode(), re.DOTALL)
    assert found
    return found[0]


class TestStops:
    def test_show_what_was_asked_for_without_the_pin(self, dispatcher, asked):
        content = section(dispatcher, asked)

        assert "Ring twice" in content
        assert "one is asked for" in content
        assert pin_of(asked) not in content

    def test_have_a_link_to_copy_each(self, dispatcher, asked):
        addresses = receivers.addresses(list(asked.stops.all()), at=timezone.now()).values()

        assert re.findall(r'data-copy="(.*?)"', section(dispatcher, asked)) == list(addresses)

    def test_show_the_proof(self, dispatcher, asked, photo_folder):
        now, driver = timezone.now(), Delivery.objects.select_related("driver").get(pk=asked.pk).driver
        assert driver is not None
        upload = uuid4()
        proofs.add(driver=driver, upload=upload, delivery=asked.pk, point="B", content=photo(), taken_at=now, at=now)
        proof = Proof(received_by="Dona Rita", pin=pin_of(asked), photos=(upload,))
        proofs.deliver(delivery=asked, point="B", proof=proof, by=BY, at=now)

        content = section(dispatcher, asked)

        (address,) = re.findall(r'src="(/api/photos/[^"]+)"', content)
        assert dispatcher.get(address)["Content-Type"] == "image/jpeg"
        assert "Dona Rita" in content
        assert "confirmed at" in content

    def test_of_a_reverse_route_are_where_goods_are_collected(self, admin_client):
        found = DeliveryFactory.create(stops=1, mode=Mode.REVERSE, accepted=True)
        deliveries.collect(delivery=found, point="B", by=BY, at=timezone.now())
        deliveries.return_(delivery=found, by=BY, at=timezone.now())

        shown = " ".join(admin_client.get(page(found)).content.decode().split())

        for text in ("Destination A", "Collected at B</b>", "Delivered at A</b>"):
            assert text in shown
        assert "Collected at A" not in shown

    def test_have_what_the_shop_has_changed(self, dispatcher, asked):
        shown = dispatcher.get(page(asked)).content.decode()
        values = {"instructions": "Knock"}
        stops.change(delivery=asked, point="B", values=values, by="member ana", at=timezone.now())

        changed = dispatcher.get(page(asked)).content.decode()

        assert 'id="changes"' not in shown
        found = re.search(r'id="changes".*?</section>', changed, re.DOTALL)
        assert found
        assert all(text in found[0] for text in ("B ·", "Instructions", actor_name("member ana")))


class TestParts:
    """What the page shows beside the stops, and folds."""

    def test_are_a_summary_the_history_and_the_events(self, admin_client):
        delivery = DeliveryFactory.create(collected=True)
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="rang", by=BY, at=timezone.now())

        shown = parts(admin_client, delivery)

        assert money(delivery.shipping_value) in shown["summary"]
        assert delivery.integrator.name in shown["summary"]
        assert "Nobody there: rang" in shown["history"]
        assert shown["history"].index("Not delivered at B") < shown["history"].index("Requested")
        assert [f"#{event.sequence} " in shown["events"] for event in delivery.events.all()] == [True] * 4

    def test_are_shown_to_those_who_may_view_the_rows(self, dispatcher):
        """The dispatcher of these tests may view deliveries only; the role may view all of them."""
        delivery = DeliveryFactory.create(collected=True)

        shown = parts(dispatcher, delivery)

        assert {"history", "events"}.isdisjoint(shown)
        assert delivery.ordered_stops[0].external_id not in shown["stops"]


def parts(client, delivery):
    """The sections of the page by their ids, without their tags."""
    content = " ".join(client.get(page(delivery)).content.decode().split())
    found = re.findall(r'<section class="card" id="(\w+)"(.*?)</section>', content)
    return {name: " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()) for name, text in found}


class TestOnlyPoint:
    def test_is_not_asked_for(self, dispatcher):
        delivery = DeliveryFactory.create(collected=True, stops=2)
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=timezone.now())

        form = re.search(
            r'action="[^"]+/move/deliver/".*?</form>', dispatcher.get(page(delivery)).content.decode(), re.DOTALL
        )
        assert form is not None
        assert '<input type="hidden" name="point" value="C"' in form[0]
        dispatcher.post(LIST, {**chosen("deliver", delivery), "confirmed": "yes"})

        assert [stop.status for stop in Delivery.objects.get(pk=delivery.pk).ordered_stops] == ["FAILED", "DELIVERED"]

    def test_is_asked_for_where_there_are_two(self, dispatcher):
        delivery = DeliveryFactory.create(collected=True, stops=2)

        dispatcher.post(LIST, {**chosen("deliver", delivery), "confirmed": "yes"})

        assert {stop.status for stop in Delivery.objects.get(pk=delivery.pk).ordered_stops} == {"COLLECTED"}


class TestSearch:
    @in_turn("text", ["order-1", "RDER-1", "order-3", "nome da lo", "ana b"])
    def test_finds_part_of_an_order_and_of_names(self, dispatcher, text):
        driver = DriverFactory.create(name="Ana Boa")
        found = DeliveryFactory.create(accepted=True, driver=driver)
        type(found.integrator).objects.filter(pk=found.integrator_id).update(name="Nome da Loja")
        DeliveryFactory.create(stops=2, payload=validated_payload(dropoffs=[Place(PICKUP, {}, external_id="x")]))

        shown = dispatcher.get(LIST, {"q": text}).content.decode()

        assert page(found) in shown
        assert dispatcher.get(LIST, {"q": "nothing"}).content.decode().count("/change/") < shown.count("/change/")

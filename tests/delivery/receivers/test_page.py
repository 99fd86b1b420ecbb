"""What a receiver reads in each state of the delivery."""

import re
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pgtrigger
import pytest
from django.utils import timezone, translation

from common.brazil import formats
from delivery import bodies
from delivery.actions import arrivals, deliveries, drivers, proofs
from delivery.geo.distance import Point, away_from
from delivery.lifecycle import Mode, OnFailure
from delivery.models import ArrivalEstimate, Driver, LatestPosition, ReceiverNote, Stop, StopProof
from delivery.payload import Options
from delivery.receivers import stop_state
from tests.cases import in_turn
from tests.delivery.proofs import pin_of
from tests.delivery.receivers.links import delivery, driver_of, path_of, places, text_of
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, validated_payload
from tests.photos import photo
from tests.zones import IN_EACH_ZONE, delivery_in

pytestmark = pytest.mark.django_db
NOW = timezone.now()
NONE = Options()


@pytest.fixture
def read(client):
    """The text of the page of a delivery's stop, in English."""
    return lambda found, index=0, language="en": text_of(
        client.get(path_of(found, index), HTTP_ACCEPT_LANGUAGE=language)
    )


def has_map(client, found, index=0):
    return 'id="places"' in client.get(path_of(found, index)).content.decode()


def move(name, found, **values):
    return getattr(deliveries, name)(delivery=found, by=BY, at=timezone.now(), **values)


class TestDistance:
    @in_turn(
        ("metres", "english", "portuguese"),
        [
            (3, "50 m from you", "a 50 m de você"),
            (660, "650 m from you", "a 650 m de você"),
            (974, "950 m from you", "a 950 m de você"),
            (980, "1.0 km from you", "a 1,0 km de você"),
            (2340, "2.3 km from you", "a 2,3 km de você"),
        ],
    )
    def test_is_the_drivers_from_the_stop(self, read, metres, english, portuguese):
        found = delivery(collected=True)
        away = away_from(Stop.objects.get(delivery=found).point, metres=metres, bearing=70)
        drivers.set_position(driver=driver_of(found), point=away, by=BY, at=timezone.now())

        assert english in read(found)
        assert portuguese in read(found, language="pt-BR")

    def test_is_not_told_before_the_driver_has_the_order_nor_of_an_old_position(self, read):
        to_shop, old = delivery(accepted=True), delivery(collected=True)
        LatestPosition.objects.filter(pk=driver_of(old).pk).update(recorded_at=timezone.now() - timedelta(minutes=5))

        assert "from you" not in read(to_shop)
        assert "from you" not in read(old)


class TestSentence:
    @pytest.mark.parametrize(
        ("moves", "english", "portuguese"),
        [
            ((), "The shop is preparing your order.", "A loja está preparando o seu pedido."),
            (("accept",), "Ana is on the way to the shop.", "Ana está a caminho da loja."),
            (("accept", "collect"), "Ana is on the way to you.", "Ana está a caminho do seu endereço."),
        ],
    )
    def test_says_what_happens_now(self, read, moves, english, portuguese):
        found = delivery(moves=moves)

        assert english in read(found)
        assert portuguese in read(found, language="pt-BR")

    def test_says_how_many_stops_come_first(self, read):
        found = delivery(NONE, NONE, NONE, collected=True)

        assert "1 stop comes before yours" in read(found, 1)
        assert "2 stops come before yours" in read(found, 2)
        move("fail", found, point="B", reason="Closed")
        assert "Ana is on the way to you." in read(found, 1)
        assert "1 stop comes before yours" in read(found, 2)

    def test_says_that_it_was_delivered_and_when(self, read):
        found = delivery(collected=True)
        move("deliver", found, point="B")

        closed_at = timezone.localtime(found.transitions.latest("id").at)
        assert "Your order was delivered." in read(found)
        assert f"{closed_at:%H:%M}" in read(found)

    @in_turn(
        ("mode", "moves", "closed"),  # the numbers of the moves that close B and C
        [
            (Mode.DEFAULT, "accept, collect, deliver C", [None, 3]),
            (Mode.DEFAULT, "accept, collect, deliver C, fail B, fail B, return_", [5, 3]),
            (Mode.DEFAULT, "accept, collect, fail B, deliver C, deliver B", [5, 4]),
            (Mode.DEFAULT, "accept, collect, fail B, recall B, deliver C, return_", [4, 5]),
            (Mode.DEFAULT, "accept, collect, fail B, deliver C, recall B, return_", [5, 4]),
            (Mode.DEFAULT, "expire", [1, 1]),
            (Mode.DEFAULT, "accept, cancel", [2, 2]),
            (Mode.DEFAULT, "accept, collect, deliver B, cancel, return_", [3, 4]),
            (Mode.DEFAULT, "accept, collect, fail B, cancel, return_", [4, 4]),
            (Mode.REVERSE, "accept, collect B, fail C", [None, 3]),
            (Mode.REVERSE, "accept, collect B, fail C, return_", [4, 3]),
            (Mode.REVERSE, "accept, collect B, cancel, return_", [4, 3]),
        ],
    )
    def test_has_the_moment_of_the_move_that_closed_the_stop_as_the_api_has_that_of_its_report(
        self, mode, moves, closed
    ):
        begin, hour = NOW - timedelta(hours=9), timedelta(hours=1)
        stops = places(*[Options(on_failure=OnFailure.RETRY if mode is Mode.DEFAULT else OnFailure.RETURN)] * 2)
        found = DeliveryFactory.create(payload=validated_payload(dropoffs=stops, mode=mode), at=begin)
        reported = {}

        for number, each in enumerate(moves.split(", "), 1):
            name, _space, point = each.partition(" ")
            moment, told = begin + number * hour, {"point": point} if point else {}
            if name == "accept":
                moment, told = begin, {"driver": DriverFactory.create()}  # before the offer expires
            if name in ("fail", "cancel"):
                told["reason"] = "Closed"
            if name in ("deliver", "fail", "return_"):  # sent later
                moment, told["made_at"] = moment + hour / 2, moment
            found = getattr(deliveries, name)(delivery=found, by=BY, at=moment, **told)
            reported[number] = bodies.moment(moment)

        shown = Stop.objects.filter(delivery=found).select_related("delivery__driver").order_by("index")
        assert [stop_state.read(stop, at=NOW).closed_at for stop in shown] == [
            number and begin + number * hour for number in closed
        ]
        if mode is Mode.REVERSE and "cancel" in moves:  # the sender reads when what was collected has arrived
            closed = [moves.split(", ").index("cancel") + 1] * 2
        orders = bodies.detail(found, tracking={}, at=NOW)["orders"]
        assert [order["closedAt"] for order in orders] == [reported.get(number) for number in closed]

    def test_says_why_it_was_not_delivered(self, read):
        found = delivery(NONE, NONE, collected=True)
        move("fail", found, point="B", reason="Nobody opened the door")

        assert "Your order was not delivered. " in read(found)
        assert "Nobody opened the door" in read(found)
        assert "Nobody opened the door" not in read(found, 1)

    def test_says_that_the_delivery_was_cancelled_without_the_shops_reason(self, read):
        found = delivery(accepted=True)
        move("cancel", found, reason="The customer did not pay")

        assert "The delivery was cancelled." in read(found)
        assert "did not pay" not in read(found)

    def test_says_that_no_driver_took_it(self, read):
        found = delivery()
        deliveries.expire(delivery=found, by=BY, at=found.offer_expires_at)

        assert "No driver took it." in read(found)

    def test_names_no_simulated_driver(self, read):
        found = delivery(accepted=True)
        with pgtrigger.ignore("delivery.Driver:driver_fits_open_route"):
            Driver.objects.update(environment="sandbox", simulated_for=found.integrator)

        assert "The driver is on the way to the shop." in read(found)


class TestProgress:
    @pytest.mark.parametrize(("moves", "done"), [((), 1), (("accept",), 2), (("accept", "collect"), 3)])
    def test_has_a_step_for_each_state(self, client, moves, done):
        content = client.get(path_of(delivery(moves=moves)), HTTP_ACCEPT_LANGUAGE="en").content.decode()
        steps = re.findall(r"<li (.*?)>\s*(.*?)\s*</li>", content)

        assert [name for _state, name in steps] == ["Preparing", "To the shop", "On the way", "Delivered"]
        assert ['class="done"' in state for state, _name in steps] == [number < done for number in range(4)]
        assert ["aria-current" in state for state, _name in steps] == [number == done - 1 for number in range(4)]

    @pytest.mark.parametrize(
        ("moves", "last", "steps"),
        [
            ((), "cancel", ["Preparing", "Not delivered"]),
            ((), "expire", ["Preparing", "Not delivered"]),
            (("accept",), "cancel", ["Preparing", "To the shop", "Not delivered"]),
            (("accept", "collect"), "cancel", ["Preparing", "To the shop", "On the way", "Not delivered"]),
        ],
    )
    def test_is_without_the_steps_that_its_end_left_out(self, client, moves, last, steps):
        found = delivery(moves=moves)
        if last == "cancel":
            move("cancel", found, reason="x")
        else:
            deliveries.expire(delivery=found, by=BY, at=found.offer_expires_at)

        content = client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en").content.decode()

        assert re.findall(r'<li class="done".*?>\s*(.*?)\s*</li>', content) == steps

    def test_ends_with_what_became_of_it(self, client):
        found = delivery(collected=True)
        move("fail", found, point="B", reason="Closed")

        content = client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en").content.decode()

        assert re.findall(r'aria-current="step">\s*(.*?)\s*</li>', content) == ["Not delivered"]


class TestMap:
    def test_is_there_while_the_driver_has_the_goods_and_the_stop_is_open(self, client):
        found = delivery(NONE, NONE)
        seen = [has_map(client, found)]
        for name, values in (("accept", {"driver": None}), ("collect", {}), ("deliver", {"point": "B"})):
            move(name, found, **values)
            seen.append(has_map(client, found))

        assert seen == [False, False, True, False]
        assert has_map(client, found, 1)

    def test_has_the_drivers_place_and_the_stops(self, client):
        DriverFactory.create(at_point=Point(-23.6, -46.7))  # of another route
        found = delivery(collected=True)
        drivers.set_position(driver=driver_of(found), point=Point(-23.5501, -46.6302), by=BY, at=timezone.now())

        content = client.get(path_of(found)).content.decode()

        stop = Stop.objects.get(delivery=found)
        assert '"driver": {"lat": -23.5501, "lng": -46.6302, "name": "Ana"}' in content
        assert f'"stop": {{"lat": {stop.latitude}, "lng": {stop.longitude}}}' in content

    def test_has_no_place_of_a_driver_who_was_not_heard_of_for_long(self, client):
        found = delivery(collected=True)
        LatestPosition.objects.update(recorded_at=timezone.now() - timedelta(minutes=16))

        assert '"driver": null' in client.get(path_of(found)).content.decode()

    def test_says_of_when_an_old_place_is(self, read):
        found = delivery(collected=True)
        assert "position is of" not in read(found)

        seen = timezone.now() - timedelta(minutes=5)
        LatestPosition.objects.update(recorded_at=seen)

        assert f"The driver's position is of {timezone.localtime(seen):%H:%M}." in read(found)


class TestArrival:
    def test_is_shown_with_its_spread_until_the_stop_is_closed(self, read):
        found = delivery(collected=True)
        at = timezone.localtime(NOW)
        ArrivalEstimate.objects.create(
            stop=found.stops.get(),
            arrives_at=at + timedelta(minutes=20),
            earliest=at + timedelta(minutes=15),
            latest=at + timedelta(minutes=30),
            computed_at=at,
            engine="distance",
        )
        begin, middle, end = (f"{at + timedelta(minutes=minutes):%H:%M}" for minutes in (15, 20, 30))

        assert f"Arrives at about {middle} between {begin} and {end}" in read(found)
        move("deliver", found, point="B")
        assert "Arrives" not in read(found)

    def test_is_not_told_while_a_phone_is_silent(self, read):
        seen = NOW - timedelta(minutes=21)
        found = delivery(collected=True, at=seen)
        LatestPosition.objects.update(recorded_at=seen)
        arrivals.renew(at=NOW)

        for language, text in (("en", "late, last signal"), ("pt-br", "atrasada, último sinal")):
            with translation.override(language):
                told = formats.time_of_day(seen, at=timezone.now())  # with the day, shortly after midnight
            assert f"{text} {told}" in read(found, language=language)
        assert "Arrives" not in read(found)


class TestTimes:
    @IN_EACH_ZONE
    def test_are_those_of_the_receivers_place(self, client, city):
        found = delivery_in(city)

        content = client.get(path_of(found)).content.decode()

        assert re.search(rf"<b>[^<]* {city.time}</b>", content)
        assert f'data-zone="{found.stops.get().zone}"' in content


class TestContacts:
    @pytest.mark.parametrize(("moves", "driver"), [((), False), (("accept",), False), (("accept", "collect"), True)])
    def test_are_the_shops_always_and_the_drivers_while_the_stop_is_under_way(self, client, moves, driver):
        content = client.get(path_of(delivery(moves=moves))).content.decode()

        assert 'href="tel:+551133330000"' in content
        assert ('href="tel:+5511988880000"' in content) is driver

    def test_are_without_the_driver_after_the_delivery(self, client):
        found = delivery(NONE, NONE, collected=True)
        move("deliver", found, point="B")

        content = client.get(path_of(found)).content.decode()

        assert "98888" not in content
        assert "Ana" not in content


class TestPin:
    def test_is_shown_until_the_stop_is_closed(self, read):
        found = delivery(Options(has_pin=True), NONE, collected=True)
        pin = pin_of(found)

        assert f"Your PIN {pin} Tell it to the driver" in read(found)
        assert "PIN" not in read(found, 1)
        move("deliver", found, point="B")
        assert pin not in read(found)

    def test_is_shown_no_longer_when_it_is_of_no_use(self, read):
        found = delivery(Options(has_pin=True), collected=True)
        StopProof.objects.create(stop=found.stops.get(), wrong_pins=5)

        assert "PIN" not in read(found)


class TestInstructions:
    def test_are_those_of_this_stop(self, read):
        found = delivery(Options(instructions="Ring twice"), Options(instructions="Dog bites"))

        assert "Ring twice" in read(found)
        assert "Dog bites" not in read(found)


class TestProof:
    def test_is_who_received_and_the_photos_of_this_stop(self, client, photo_folder):
        found = delivery(NONE, NONE, collected=True)
        for point, upload in (("B", uuid4()), ("C", uuid4())):
            proofs.add(
                driver=driver_of(found), upload=upload, delivery=found.pk,
                point=point, content=photo(), taken_at=NOW, at=timezone.now(),
            )  # fmt: skip
        stop = found.stops.get(index=0)
        StopProof.objects.create(stop=stop, received_by="Dona Rita")
        before = client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en").content.decode()
        move("deliver", found, point="B")

        content = client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en").content.decode()

        assert "Dona Rita" not in before
        assert "<img" not in before
        assert "Received by Dona Rita" in content
        (address,) = re.findall(r'<img\s+src="([^"]+)"', content)
        assert client.get(address)["Content-Type"] == "image/jpeg"
        assert stop.photos.get().pk.hex in address

    def test_is_left_out_where_there_is_none(self, read):
        found = delivery(collected=True)
        move("deliver", found, point="B")

        assert "Proof" not in read(found)


class TestOtherPeople:
    """Every text of the other stops, the route and its price is looked for in the whole answer."""

    @pytest.mark.parametrize("moves", [(), ("accept",), ("accept", "collect"), ("accept", "collect", "deliver")])
    def test_are_named_nowhere(self, client, moves):
        found = delivery(
            Options(has_pin=True, instructions="Ring"),
            *[Options(has_pin=True, instructions="Dog")] * 2,
            moves=moves,
            driver=DriverFactory.create(name="Ana Souza Lima", at_point=Point(-23.5, -46.6)),
        )
        if "deliver" in moves:
            move("deliver", found, point="B")
            move("fail", found, point="C", reason="Moved to Recife")
        found.refresh_from_db()
        first, *others = found.stops.all()
        secrets = [
            str(found.pk), found.pk.hex, str(found.route_id), str(found.integrator_id), str(found.driver_id),
            "Souza", "Lima", "Maria Silva", "97777-000", "977770", "Recife", "Dog", "R$",
            f"{found.shipping_value}", f"{found.shipping_value}".replace(".", ","), f"{found.distance_km}",
            found.integrator.name, str(found.token and found.token.hint),
        ]  # fmt: skip
        for stop in others:
            secrets += [
                stop.contact_name, stop.contact_phone, stop.external_id, stop.address["street"],
                stop.address["district"], f"{stop.latitude}", f"{stop.longitude}",
            ]  # fmt: skip

        path = path_of(found)
        response = client.get(path)

        content = response.content.decode().replace(path.strip("/").split("/")[1], "")
        sent = content + str(response.headers)
        assert [secret for secret in secrets if secret in sent] == []
        pins = "|".join(stop.options.pin for stop in others)
        assert not re.search(rf"(?<![\w.])({pins})(?!\w)", sent)  # four digits occur within other numbers
        assert first.address["street"] in content


class TestFailure:
    @pytest.mark.parametrize(
        ("language", "told"),
        [
            ("en", "Nobody there: rang twice Your order goes back to the shop."),
            ("pt-br", "Ninguém no local: rang twice Seu pedido volta para a loja."),
        ],
    )
    def test_is_told_in_the_readers_language_with_what_follows(self, client, language, told):
        found = delivery(moves=("accept", "collect"))
        move("fail", found, point="B", code="ABSENT", reason="rang twice")

        text = text_of(client.get(path_of(found), HTTP_ACCEPT_LANGUAGE=language))

        assert re.search(r"(Order|Pedido) PEDIDO-0", text)
        assert told in re.sub(r" (Preparing|Preparando).*?(Not delivered|Não entregue) ", " ", text)

    @in_turn(
        ("moves", "text"),
        [
            ("cancel", "Your order is still at the shop. Ask Padaria Sol what happens next."),
            ("accept, cancel", "Your order is still at the shop."),
            ("accept, collect, fail", "Your order goes back to the shop. Ask Padaria Sol for a new delivery"),
            ("accept, collect, fail, return_", "Your order is back at the shop. Ask Padaria Sol for a new delivery"),
            ("accept, collect, cancel, return_", "Your order is back at the shop."),
        ],
    )
    def test_says_where_the_order_is(self, read, moves, text):
        found = delivery()
        values: dict[str, dict[str, Any]] = {
            "accept": {"driver": None},
            "fail": {"point": "B", "reason": "x"},
            "cancel": {"reason": ""},
        }

        for name in moves.split(", "):
            move(name, found, **values.get(name, {}))

        assert text in read(found)


class TestNote:
    def send(self, client, found, **fields):
        return client.post(path_of(found), fields, HTTP_ACCEPT_LANGUAGE="en")

    def test_replaces_the_one_before(self, client):
        found = delivery(moves=("accept", "collect"))

        for receives, hint, told in (
            ("Porter", "Leave it at the desk", "Porter · Leave it at the desk"),
            ("Porter", "Gate 2", "Porter · Gate 2"),
            ("", "Gate 2", "Gate 2"),
        ):
            assert self.send(client, found, receives=receives, hint=hint).status_code == 302
            assert f"The driver sees: {told}" in text_of(client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en"))

        assert ReceiverNote.objects.count() == 1
        self.send(client, found, receives=" ", hint="")
        assert not ReceiverNote.objects.exists()

    def test_is_taken_as_long_as_the_stop_is_open(self, client):
        found = delivery(moves=("accept", "collect"))
        move("deliver", found, point="B")

        response = self.send(client, found, receives="Porter")

        assert response.status_code == 302
        assert not ReceiverNote.objects.exists()
        assert "For the driver" not in text_of(client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en"))

    def test_has_a_length(self, client):
        found = delivery()

        response = self.send(client, found, hint="x" * 161)

        assert response.status_code == 422
        assert "at most 160 characters" in text_of(response)
        assert not ReceiverNote.objects.exists()

    def test_is_taken_ten_times_an_hour(self, client):
        found = delivery(NONE, NONE)

        statuses = [self.send(client, found, hint=str(number)).status_code for number in range(11)]

        assert statuses == [302] * 10 + [429]
        assert ReceiverNote.objects.get().hint == "9"
        assert client.post(path_of(found, 1), {"hint": "of another stop"}).status_code == 302


class TestFirstAttempt:
    def test_is_told_until_the_driver_has_come_again(self, read):
        found = delivery(Options(on_failure=OnFailure.RETRY), NONE, collected=True)
        move("fail", found, point="B", code="ABSENT", reason="")

        assert "(Nobody there), and comes again after the other stops" in read(found)
        assert "1 stop comes before yours" in read(found)
        move("deliver", found, point="B")
        assert "comes again" not in read(found)

    def test_of_an_order_left_at_the_door_shows_that(self, read):
        found = delivery(Options(on_failure=OnFailure.LEAVE), collected=True)
        move("deliver", found, point="B")
        StopProof.objects.create(stop=Stop.objects.get(delivery=found), left_at_door=True)

        assert "Left at the door" in read(found)


class TestReverse:
    """The receiver of the page is the sender."""

    @pytest.fixture
    def found(self):
        return DeliveryFactory.create(payload=validated_payload(stops=2, mode=Mode.REVERSE))

    def test_says_what_happens_now(self, read, found, client):
        told = [read(found)]
        for name, values in (
            ("accept", {"driver": DriverFactory.create(name="Ana Lima", at_point=PICKUP)}),
            ("collect", {"point": "B"}),
            ("collect", {"point": "C"}),
            ("return_", {}),
        ):
            move(name, found, **values)
            told.append(read(found))
            if name == "accept":
                assert "Ana comes to collect; 1 stop comes before yours." in read(found, 1)

        for text, part in zip(
            told,
            (
                "A driver is being looked for.",
                "Ana is on the way to you, to collect.",
                "The driver has collected it and brings it to the shop.",
                "The driver has collected it and brings it to the shop.",
                "What you sent has arrived at the shop.",
            ),
            strict=True,
        ):
            assert part in text

    @pytest.mark.parametrize(
        ("moves", "steps"),
        [
            ("cancel", ["Requested", "Not collected"]),
            ("accept, cancel", ["Requested", "On the way", "Not collected"]),
            ("accept, fail", ["Requested", "On the way", "Not collected"]),
            ("accept, collect, cancel, return_", ["Requested", "On the way", "Collected", "At the shop"]),
        ],
    )
    def test_has_the_steps_that_were_made(self, client, found, moves, steps):
        at_b = {"point": "B"}
        values: dict[str, dict[str, Any]] = {
            "accept": {"driver": None},
            "collect": at_b,
            "fail": at_b | {"reason": "x"},
            "cancel": {"reason": ""},
        }
        DriverFactory.create(at_point=PICKUP)
        for name in moves.split(", "):
            move(name, found, **values.get(name, {}))

        content = client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en").content.decode()

        assert re.findall(r'<li class="done".*?>\s*(.*?)\s*</li>', content) == steps

    def test_is_named_after_the_pickup(self, client, found):
        page = client.get(path_of(found), HTTP_ACCEPT_LANGUAGE="en").content.decode()

        assert f"<title>Pickup for {found.contact_name}" in " ".join(page.split())

    def test_shows_the_driver_only_on_the_way_to_the_sender(self, client, found):
        shown = [has_map(client, found)]
        move("accept", found, driver=DriverFactory.create(name="Ana Lima", at_point=PICKUP))
        shown.append(has_map(client, found))
        move("collect", found, point="B")
        shown.append(has_map(client, found))

        assert shown == [False, True, False]

    def test_says_after_a_cancellation_where_the_goods_go(self, read, found):
        move("accept", found, driver=DriverFactory.create(name="Ana Lima", at_point=PICKUP))
        move("collect", found, point="B")
        move("cancel", found, reason="")

        assert "What you sent goes to the shop." in read(found)
        assert "The pickup was cancelled." in read(found)
        assert "It was not collected." in read(found, 1)
        move("return_", found)
        assert "What you sent has arrived at the shop." in read(found)

    def test_says_that_nothing_was_collected(self, read, found):
        move("accept", found, driver=DriverFactory.create(name="Ana Lima", at_point=PICKUP))
        move("fail", found, point="B", code="CLOSED", reason="")

        assert "It was not collected." in read(found)
        assert "Place closed" in read(found)

"""Moves and positions that phones send over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from delivery.drivers import phone_data
from delivery.models import DriverDevice, DriverMove, DriverPosition, Transition
from tests.cases import in_turn
from tests.delivery.drivers.phones import move, now
from tests.factories import PICKUP, DeliveryFactory

pytestmark = pytest.mark.django_db


def position(**changes):
    return {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "accuracy": 6.5, "at": now(), **changes}


def sent(**lists):
    return {"sentAt": now(), **lists}


@pytest.mark.parametrize(("name", "most"), [("moves", 50), ("positions", 100)])
def test_a_call_has_the_most_items_and_no_more(ana, delivery, name, most):
    items = [move(delivery) if name == "moves" else position()]

    answers = [ana.post(f"{name}/", sent(**{name: items * count})) for count in (most, most + 1)]

    assert [answer.status_code for answer in answers] == [200, 422]


class TestMoves:
    def test_are_made_in_order_and_answered_each(self, ana, delivery):
        moves = [
            move(delivery),
            move(delivery, "deliver", point="B"),
            move(delivery, "deliver", point="B"),
            move(delivery, "fail", point="C", reason="Nobody there"),
        ]

        answer = ana.post("moves/", sent(moves=moves)).json()

        assert [(outcome["id"], outcome["done"]) for outcome in answer["outcomes"]] == [
            (item["id"], item is not moves[2]) for item in moves
        ]
        assert answer["outcomes"][2]["code"] == "stop_not_open"
        assert answer["route"]["next"] == ["return"]

    def test_keep_their_moments_by_the_services_clock(self, ana, delivery):
        """The phone's clock is two hours behind, and the move was made ten minutes before it was sent."""
        phones = timezone.now() - timedelta(hours=2)
        made = move(delivery, madeAt=(phones - timedelta(minutes=10)).isoformat())

        ana.post("moves/", {"sentAt": phones.isoformat(), "moves": [made]})

        stored = Transition.objects.latest("id").made_at or timezone.now()
        assert abs(timezone.now() - timedelta(minutes=10) - stored) < timedelta(seconds=30)

    def test_of_an_unknown_and_of_another_drivers_delivery_refuse_themselves_only(self, ana, delivery):
        other = DeliveryFactory.create(accepted=True)
        unknown = move(delivery, deliveryId=str(uuid4()))

        answer = ana.post("moves/", sent(moves=[unknown, move(other), move(delivery)])).json()

        first, second, third = answer["outcomes"]
        assert {**first, "id": ""} == {**second, "id": ""}
        assert (first["code"], third["done"]) == ("not_your_route", True)

    @in_turn(
        ("name", "values"),
        [
            ("id", ["1", None]),
            ("deliveryId", ["x" * 36]),
            ("trigger", ["accept", ["collect"]]),
            ("point", ["BC", {}]),
            ("reason", ["x" * 256, "\0", "\ud800"]),
            ("madeAt", ["yesterday", "2026-11-22T10:00:00", "0001-01-01T00:00:00+00:00", "1" * 5000, 5, None]),
            ("madeAt", ["9999-12-31T23:59:59+00:00", "2026-13-01T00:00:00+00:00"]),
        ],
    )
    def test_of_another_form_are_refused_by_themselves(self, ana, delivery, name, values):
        good = move(delivery)
        for value in values:
            bad = move(delivery, **{name: value})

            refused, made = ana.post("moves/", sent(moves=[bad, good])).json()["outcomes"]

            assert (refused["done"], refused["code"]) == (False, "invalid_report"), value
            assert refused["id"] == bad["id"] or name == "id"
            assert made == {"id": good["id"], "done": True, "code": "", "detail": ""}
        assert DriverMove.objects.count() == 1

    def test_that_are_no_objects_are_refused_by_themselves(self, ana, delivery):
        refused, made = ana.post("moves/", sent(moves=[None, move(delivery)])).json()["outcomes"]

        assert (refused["id"], refused["code"], made["done"]) == (None, "invalid_report", True)

    def test_need_a_list(self, ana):
        bodies: list[Any] = [{}, {"sentAt": now(), "moves": None}, {"sentAt": now(), "moves": 5}]

        assert [ana.post("moves/", body).status_code for body in bodies] == [422] * 3

    @pytest.mark.parametrize("clock", [{}, {"sentAt": "x"}, {"sentAt": None}, {"sentAt": "9999-12-31T23:59:59Z"}])
    def test_that_were_sent_nobody_knows_when_have_the_moments_of_the_phone_but_none_ahead(self, ana, clock):
        hour_ago = timezone.now() - timedelta(hours=1)
        delivery = DeliveryFactory.create(accepted=True, driver=ana.driver, at=hour_ago, stops=1)
        earlier, ahead = (timezone.now() + timedelta(minutes=minutes) for minutes in (-10, 10))
        made = [move(delivery, madeAt=earlier.isoformat())]
        made.append(move(delivery, "deliver", point="B", madeAt=ahead.isoformat()))

        outcomes = ana.post("moves/", {**clock, "moves": made}).json()["outcomes"]

        assert [outcome["done"] for outcome in outcomes] == [True, True]
        first, second = Transition.objects.order_by("-id")[:2][::-1]
        assert (first.made_at, second.made_at) == (earlier, None)
        assert second.at <= timezone.now()

    def test_are_json_objects(self, ana):
        for raw in ("", "[]", "nonsense", "[" * 5000, '{"a":' * 10 + "1" + "}" * 10):
            assert ana.client.post("/driver/moves/", raw, content_type="application/json").status_code == 422

    def test_have_128_kib_at_most(self, ana):
        raw = '{"a": "' + "x" * 131_072 + '"}'

        response = ana.client.post("/driver/moves/", raw, content_type="application/json")

        assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


class TestPositions:
    def test_are_recorded_and_counted(self, ana):
        DriverPosition.objects.all().delete()
        ana.driver.latest.delete()
        reported = [position(), position(latitude=0, longitude=0)]

        answer = ana.post("positions/", sent(positions=reported)).json()

        assert answer == {"kept": 1, "dropped": {"outside_service_area": 1}}
        kept = DriverPosition.objects.get()
        assert (kept.point, kept.accuracy_m, kept.recorded_by) == (PICKUP, 6.5, "driver Ana")

    def test_are_stored_once_when_they_are_sent_again(self, ana):
        """The answer was lost, and the second request took 0.3 s longer than the first."""
        DriverPosition.objects.all().delete()
        ana.driver.latest.delete()
        at = timezone.now() - timedelta(seconds=10)
        reported = [position(at=(at + timedelta(seconds=second)).isoformat()) for second in range(3)]
        sent_at = timezone.now() - timedelta(seconds=1)

        for moment in (sent_at, sent_at - timedelta(seconds=0.3)):
            answer = ana.post("positions/", {"sentAt": moment.isoformat(), "positions": reported})

        assert answer.json() == {"kept": 0, "dropped": {"out_of_order": 3}}
        assert DriverPosition.objects.count() == 3

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("latitude", ["1", True]),
            ("longitude", [None, 10**400]),
            ("at", ["", 1, "+058871-03-20T10:00:00.000Z"]),
        ],
        ids=["latitude", "longitude", "at"],
    )
    def test_of_another_form_are_dropped_and_counted_by_themselves(self, ana, name, values):
        for value in values:
            reported = [position(), position(**{name: value}), None]

            answer = ana.post("positions/", sent(positions=reported)).json()

            assert answer == {"kept": 1, "dropped": {"impossible": 2}}, value
        assert DriverDevice.objects.get().dropped_positions == 2 * len(values)

    @pytest.mark.parametrize("changes", [{"heardAt": ""}, {"heardAt": None}, {"heardAt": 5}])
    def test_without_a_readable_moment_of_hearing_have_their_own(self, changes):
        at = timezone.now()
        body = {"sentAt": at.isoformat(), "positions": [position(at=at.isoformat(), **changes)]}

        (found,) = phone_data.positions(body, at=at)

        assert (found.at, found.told_at, found.point) == (at, at, PICKUP)

    @pytest.mark.parametrize("accuracy", ["near", -(10**400), [], None])
    def test_without_a_readable_accuracy_are_kept(self, ana, accuracy):
        DriverPosition.objects.all().delete()
        ana.driver.latest.delete()

        answer = ana.post("positions/", sent(positions=[position(accuracy=accuracy)])).json()

        assert answer == {"kept": 1, "dropped": {}}
        assert DriverPosition.objects.get().accuracy_m is None

    @pytest.mark.parametrize("clock", [{}, {"sentAt": "x"}, {"sentAt": None}])
    def test_that_were_sent_nobody_knows_when_have_the_moments_of_the_phone(self, clock):
        at = timezone.now()
        moments = [at - timedelta(minutes=1), at + timedelta(minutes=1)]
        sent_ = [position(at=each.isoformat(), heardAt=each.isoformat()) for each in moments]

        found = phone_data.positions({**clock, "positions": sent_}, at=at)

        assert [each.at for each in found] == [moments[0], at]

    @pytest.mark.parametrize("told", ["2007-04-15T00:00:00Z", "1970-01-01T00:00:00Z", "+058871-03-20T10:00:00Z", None])
    def test_of_a_receiver_with_a_wrong_date_are_from_when_the_page_heard_of_them(self, told):
        """A counter of weeks with ten bits begins again after 1024 weeks; other receivers have no date at all."""
        at = timezone.now()
        heard = at - timedelta(seconds=20)
        reported = position(at=told, heardAt=heard.isoformat())

        (found,) = phone_data.positions({"sentAt": at.isoformat(), "positions": [reported]}, at=at)

        assert (found.at, found.point) == (heard, PICKUP)

    def test_of_a_phone_whose_clock_was_never_set_have_their_moments(self):
        at, phones = timezone.now(), datetime(1970, 1, 1, tzinfo=UTC)
        heard = (phones - timedelta(seconds=20)).isoformat()
        reported = position(at=(at - timedelta(seconds=20)).isoformat(), heardAt=heard)

        (found,) = phone_data.positions({"sentAt": phones.isoformat(), "positions": [reported]}, at=at)

        assert found.at == at - timedelta(seconds=20)

    def test_are_a_hundred_at_most(self, ana):
        assert ana.post("positions/", sent(positions=[position()] * 101)).status_code == 422

    @in_turn(
        ("sent", "told", "heard", "age"),
        [
            (-3600, -4200, None, 600),
            (-7200, 0, None, 0),
            (-30, 0, None, 0),
            (0, -480, 0, 480),
            (0, -20, 7180, 20),
        ],
    )
    def test_have_their_moments_by_the_services_clock(self, sent, told, heard, age):
        """In seconds after now, by the clock that each moment is by. An older page does not say when it heard."""
        at = timezone.now()
        moments = {"at": told} if heard is None else {"at": told, "heardAt": heard}
        reported = position(**{name: (at + timedelta(seconds=moment)).isoformat() for name, moment in moments.items()})
        body = {"sentAt": (at + timedelta(seconds=sent)).isoformat(), "positions": [reported]}

        (found,) = phone_data.positions(body, at=at)

        assert found.at == at - timedelta(seconds=age)

    @in_turn("ahead", [-7200, -30, -4, 4, 30, 900, 7200])
    @in_turn("source", ["phone", "satellites"])
    def test_have_their_moments_whatever_the_clocks_of_the_phone_and_of_their_source(self, ahead, source):
        """`ahead`: seconds of the phone's clock. The page heard of the position 20 s before it sent it."""
        at, wrong = timezone.now(), timedelta(seconds=ahead)
        found_at = at - timedelta(seconds=20)
        told = position(
            at=(found_at + (wrong if source == "phone" else timedelta(0))).isoformat(),
            heardAt=(found_at + wrong).isoformat(),
        )

        (found,) = phone_data.positions({"sentAt": (at + wrong).isoformat(), "positions": [told]}, at=at)

        assert abs(found.at - found_at) <= timedelta(seconds=5)


class TestAnyCall:
    @in_turn(
        ("method", "path"),
        [
            ("get", "state/"),
            ("post", "duty/"),
            ("post", "offers/01890000-0000-7000-8000-000000000000/accept/"),
            ("post", "moves/"),
            ("post", "positions/"),
            ("get", "updates/"),
            ("get", "push/"),
            ("post", "push/"),
            ("delete", "push/"),
            ("post", "photos/"),
        ],
    )
    def test_needs_a_session(self, client, method, path):
        response = getattr(client, method)(f"/driver/{path}", content_type="application/json")

        assert (response.status_code, response.json()["code"]) == (401, "logged_out")

    def test_needs_the_csrf_token_of_the_state(self, ana, delivery):
        ana.client.handler.enforce_csrf_checks = True

        refused = ana.post("moves/", sent(moves=[move(delivery)]))
        token = ana.state()["csrf"]
        done = ana.client.post(
            "/driver/moves/",
            sent(moves=[move(delivery)]),
            content_type="application/json",
            headers={"x-csrftoken": token},
        )

        assert (refused.status_code, done.status_code) == (403, 200)
        assert DriverMove.objects.count() == 1


class TestPhoto:
    @pytest.mark.parametrize(("sent", "minutes"), [(True, 10), (False, 70), ("x", 70)])
    def test_was_taken_by_the_services_clock(self, sent, minutes):
        """The phone's clock is an hour behind. Nothing readable says when it was sent: see `clock_error`."""
        at = timezone.now()
        phones = at - timedelta(hours=1)
        query = {"id": str(uuid4()), "deliveryId": str(uuid4()), "point": "B"}
        query |= {"takenAt": (phones - timedelta(minutes=10)).isoformat()}
        query |= {"sentAt": phones.isoformat() if sent is True else sent} if sent else {}

        assert phone_data.photo(query, at=at).taken_at == at - timedelta(minutes=minutes)

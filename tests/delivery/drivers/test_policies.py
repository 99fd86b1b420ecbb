"""What a phone is told of policies, first attempts, changes and reverse routes, and what it sends of them."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from delivery.actions import deliveries, stops
from delivery.lifecycle import Mode, OnFailure
from delivery.models import StopProof
from delivery.payload import Options
from tests.delivery.drivers.phones import move, now
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory
from tests.photos import photo

pytestmark = pytest.mark.django_db


def send_moves(phone, *moves):
    return phone.post("moves/", {"sentAt": now(), "moves": list(moves)}).json()


def point(answer, label):
    return next(each for each in answer["route"]["points"] if each["label"] == label)


class TestRetry:
    def test_puts_the_stop_behind_the_others(self, ana):
        retry = Options(on_failure=OnFailure.RETRY)
        delivery = asking_for(retry, Options(), driver=ana.driver, collected=True)

        answer = send_moves(ana, move(delivery, "fail", point="B", code="ABSENT"))

        assert answer["route"]["ahead"] == ["C", "B"]
        assert [point(answer, label)["wasTried"] for label in "BC"] == [True, False]
        again = send_moves(ana, move(delivery, "fail", point="B", code="ABSENT", wasTried=True))
        assert [outcome["done"] for outcome in again["outcomes"]] == [True]
        assert (again["route"]["ahead"], point(again, "B")["status"]) == (["C"], "FAILED")

    @pytest.mark.parametrize("known", [{"wasTried": False}, {}])  # a page of the version before does not say so
    def test_does_not_count_a_visit_twice_that_the_dispatcher_has_recorded(self, ana, known):
        delivery = asking_for(Options(on_failure=OnFailure.RETRY), Options(), driver=ana.driver, collected=True)
        made_at = (timezone.now() - timedelta(minutes=1)).isoformat()
        made = move(delivery, "fail", point="B", code="ABSENT", madeAt=made_at, **known)
        deliveries.fail(delivery=delivery, point="B", code="CLOSED", reason="", by=BY, at=timezone.now())

        answer = send_moves(ana, made)

        assert answer["outcomes"][0]["code"] == "attempt_recorded"
        assert (answer["route"]["ahead"], point(answer, "B")["status"]) == (["C", "B"], "COLLECTED")


class TestLeave:
    def test_is_reported_with_a_photo(self, ana, photo_folder):
        delivery = asking_for(Options(on_failure=OnFailure.LEAVE), Options(), driver=ana.driver, collected=True)
        upload = uuid4()

        refused = send_moves(ana, move(delivery, "deliver", point="B", left=True))
        ana.upload(photo(), delivery, upload=upload)
        done = send_moves(ana, move(delivery, "deliver", point="B", left=True, photos=[str(upload)]))

        assert [refused["outcomes"][0]["code"], done["outcomes"][0]["code"]] == ["photo_required", ""]
        assert point(done, "B")["onFailure"] == "LEAVE"
        assert StopProof.objects.get().left_at_door

    def test_is_true_or_false(self, ana, delivery):
        answer = ana.post("moves/", {"sentAt": now(), "moves": [move(delivery, "deliver", point="B", left="yes")]})

        assert answer.json()["outcomes"][0]["code"] == "invalid_report"


class TestChange:
    def test_is_marked(self, ana, delivery):
        at = timezone.now()
        stops.change(delivery=delivery, point="C", values={"instructions": "Knock"}, by=BY, at=at)

        state = ana.state()

        assert point(state, "B")["changedAt"] is None
        assert point(state, "C")["changedAt"] == timezone.localtime(at).isoformat()

    def test_is_the_latest(self, ana, delivery):
        first, second = timezone.now() - timedelta(minutes=1), timezone.now()
        for at, text in ((first, "Knock"), (second, "Ring")):
            stops.change(delivery=delivery, point="C", values={"instructions": text}, by=BY, at=at)

        assert point(ana.state(), "C")["changedAt"] == timezone.localtime(second).isoformat()


class TestPhotosOfFailures:
    @pytest.mark.parametrize(("setting", "codes"), [(False, []), (True, ["CLOSED", "ADDRESS_NOT_FOUND"])])
    def test_are_asked_for_by_a_setting(self, ana, delivery, settings, setting, codes):
        settings.FAILURE_PHOTOS = setting

        assert ana.state()["route"]["photoFor"] == codes


class TestReverse:
    @pytest.fixture
    def delivery(self, ana):
        return DeliveryFactory.create(stops=2, mode=Mode.REVERSE, accepted=True, driver=ana.driver)

    def test_is_collected_point_by_point_and_brought_to_a(self, ana, delivery):
        answer = send_moves(ana, move(delivery, "collect", point="C"), move(delivery, "fail", point="B", code="CLOSED"))

        route = answer["route"]
        assert (route["mode"], route["status"], route["ahead"], route["next"]) == (
            "REVERSE",
            "RETURNING",
            [],
            ["return"],
        )
        assert [outcome["done"] for outcome in answer["outcomes"]] == [True, True]
        assert send_moves(ana, move(delivery, "return"))["route"] is None

    def test_is_offered_in_the_sequence_of_its_places(self, ana):
        DeliveryFactory.create(stops=2, mode=Mode.REVERSE)

        (offer,) = ana.state()["offers"]

        assert [place["label"] for place in offer["points"]] == ["B", "C", "A"]

    def test_refuses_a_page_of_the_version_before_which_collects_at_a(self, ana, delivery):
        answer = send_moves(ana, move(delivery, "collect"))

        (outcome,) = answer["outcomes"]
        assert (outcome["done"], outcome["code"]) == (False, "stop_not_found")
        assert "B, C" in outcome["detail"]
        assert answer["route"]["status"] == "ACCEPTED"

    def test_says_where_the_goods_are_that_were_not_collected(self, ana, delivery):
        (outcome,) = send_moves(ana, move(delivery, "return"))["outcomes"]

        assert outcome["detail"] == "Nothing is collected yet. The goods are at the points."

    def test_says_after_a_cancellation_what_was_collected(self, ana, delivery):
        send_moves(ana, move(delivery, "collect", point="B"))
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        state = ana.state()

        assert [point(state, label)["wasCollected"] for label in "BC"] == [True, False]

"""What a failure at a stop leads to by its policy, and what the account answers and changes meanwhile."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from delivery.actions import arrivals, deliveries, moves, proofs, stops
from delivery.actions.proofs import Proof
from delivery.errors import (
    LeavingNotAllowed,
    NothingToDecide,
    PhotoRequired,
    StopHasEnded,
    StopNotFound,
    StopNotOpen,
    TooManyChanges,
)
from delivery.lifecycle import Mode, OnFailure
from delivery.models import (
    ArrivalEstimate,
    AuditEntry,
    Delivery,
    Driver,
    DropoffOptions,
    ProofPhoto,
    Stop,
    StopChange,
    StopProof,
)
from delivery.models.stop import LABELS
from delivery.move_forms import MoveForm
from delivery.payload import Options
from tests.cases import in_turn
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory, TariffFactory, TokenFactory

pytestmark = pytest.mark.django_db
RETRY, LEAVE = Options(on_failure=OnFailure.RETRY), Options(on_failure=OnFailure.LEAVE)


def do(verb, delivery, **details):
    return verb(delivery=delivery, by=BY, at=timezone.now(), **details)


def fail(delivery, point="B", code="ABSENT"):
    return do(deliveries.fail, delivery, point=point, code=code, reason="")


def told(delivery):
    """Both statuses and those of the orders, as they are stored."""
    fresh = Delivery.objects.get(pk=delivery.pk)
    return fresh.status, fresh.route_status, [stop.status for stop in fresh.ordered_stops]


def ahead(delivery):
    return [stop.label for stop in Delivery.objects.get(pk=delivery.pk).stops_ahead]


def photo_at(delivery, point="B"):
    at, stop = timezone.now(), delivery.stop_at(point)
    driver = Driver.objects.get(deliveries=delivery)
    upload = ProofPhoto.simulated_upload(stop.pk)
    size = {"width": 1, "height": 1, "size": 1}
    ProofPhoto.objects.create(stop=stop, driver=driver, upload=upload, taken_at=at, received_at=at, **size)
    return upload


class TestRetry:
    @pytest.fixture
    def delivery(self):
        return asking_for(RETRY, Options(), RETRY, collected=True)

    def test_keeps_the_order_open_and_puts_the_stop_behind_the_others(self, delivery):
        fail(delivery)

        assert told(delivery) == ("COLLECTED", "COLLECTED", ["COLLECTED"] * 3)
        assert ahead(delivery) == ["C", "D", "B"]
        stop = Stop.objects.get(delivery=delivery, index=0)
        assert (stop.failure_code, stop.tried_at is not None) == ("ABSENT", True)
        last = delivery.transitions.latest("id")
        assert (last.trigger, last.point, last.reason) == ("attempt", "B", "Nobody there")

    def test_puts_the_stop_that_failed_last_at_the_end(self, delivery):
        fail(delivery, "D")
        fail(delivery, "B")

        assert ahead(delivery) == ["C", "D", "B"]

    def test_keeps_the_sequence_of_failures_that_a_phone_reports_at_the_same_time(self):
        delivery, at = asking_for(RETRY, RETRY, RETRY, collected=True), timezone.now()
        for point in "DCB":
            deliveries.fail(delivery=delivery, point=point, code="ABSENT", reason="", by=BY, at=at)

        assert ahead(delivery) == ["D", "C", "B"]
        history, state = delivery.transitions.filter(trigger="attempt"), Delivery.objects.get(pk=delivery.pk).state
        assert [change.point for change in history] == [LABELS[index] for index in state.tried]

    def test_ends_the_estimate_of_the_first_visit(self, delivery):
        arrivals.renew(at=timezone.now())
        fail(delivery)

        assert set(ArrivalEstimate.objects.values_list("stop__index", flat=True)) == {1, 2}
        arrivals.renew(at=timezone.now())
        at = dict(ArrivalEstimate.objects.values_list("stop__index", "arrives_at"))
        assert at[1] < at[2] < at[0]

    def test_fails_the_order_the_second_time(self, delivery):
        fail(delivery)
        fail(delivery, code="CLOSED")

        assert told(delivery) == ("COLLECTED", "COLLECTED", ["FAILED", "COLLECTED", "COLLECTED"])
        assert Stop.objects.get(delivery=delivery, index=0).failure_code == "CLOSED"
        with pytest.raises(StopNotOpen):
            fail(delivery)

    def test_has_its_latest_reason_in_the_language_of_who_reads_it(self, delivery):
        told = []
        for code in ("ABSENT", "CLOSED"):
            fail(delivery, code=code)
            with translation.override("pt-br"):
                changes = list(delivery.transitions.order_by("pk"))
                told.append([reason for reason in Delivery.objects.get().reasons_of(changes) if reason])

        assert told == [["Ninguém no local"], ["Nobody there", "Local fechado"]]

    def test_keeps_the_first_code_where_the_second_attempt_delivers(self, delivery):
        fail(delivery)
        do(deliveries.deliver, delivery, point="B")

        stop = Stop.objects.get(delivery=delivery, index=0)
        assert (stop.status, stop.failure_code) == ("DELIVERED", "ABSENT")

    def test_tells_the_latest_reason_in_the_readers_language_and_the_one_before_as_it_was_recorded(self, delivery):
        told = []
        for code in ("ABSENT", "CLOSED"):
            with translation.override("pt-br"):
                fail(delivery, code=code)
            with translation.override("en"):
                fresh = Delivery.objects.get(pk=delivery.pk)
                told.append(fresh.reasons_of([*fresh.transitions.all()])[3:])

        assert told == [["Nobody there"], ["Ninguém no local", "Place closed"]]

    def test_ends_with_a_cancellation_as_any_delivery(self, delivery):
        fail(delivery)
        do(deliveries.cancel, delivery, reason="")

        assert told(delivery) == ("FAILED", "RETURNING", ["FAILED"] * 3)


class TestPolicyOfTheAccount:
    PIN = Options(has_pin=True)

    @pytest.mark.parametrize(
        ("policy", "asked", "policies"),
        [
            # Of drop-offs that the request sends none for. A PIN is given up by the request itself only.
            (OnFailure.RETRY, [Options(on_failure=OnFailure.RETURN), Options(), PIN], ["RETURN", "RETRY", "RETRY"]),
            (OnFailure.LEAVE, [Options(), PIN, Options(has_pin=True, on_failure=OnFailure.LEAVE)],
             ["LEAVE", "RETURN", "LEAVE"]),
            (OnFailure.RETURN, [RETRY, PIN, Options(instructions="Ring")], ["RETRY", "RETURN", "RETURN"]),
        ],
    )  # fmt: skip  # a table
    def test_is_that_of_drop_offs_without_one(self, policy, asked, policies):
        token = TokenFactory.create(integrator__on_failure=policy)

        delivery = asking_for(*asked, token=token)

        found = DropoffOptions.objects.filter(stop__delivery=delivery).order_by("stop__index")
        assert [each.on_failure for each in found] == policies
        assert [each.needs_pin for each in found] == [each.has_pin for each in asked]

    def test_is_not_that_of_pickups(self):
        token = TokenFactory.create(integrator__on_failure=OnFailure.RETRY)

        DeliveryFactory.create(token=token, stops=1, mode=Mode.REVERSE)

        assert not DropoffOptions.objects.exists()


class TestLeave:
    @pytest.fixture
    def delivery(self):
        return asking_for(LEAVE, Options(), collected=True)

    def leave(self, delivery, point="B", photos=()):
        return do(proofs.deliver, delivery, point=point, proof=Proof(photos=tuple(photos), left=True))

    def test_delivers_with_a_photo(self, delivery):
        self.leave(delivery, photos=[photo_at(delivery)])

        assert told(delivery)[2] == ["DELIVERED", "COLLECTED"]
        assert StopProof.objects.get(stop__delivery=delivery).left_at_door

    def test_needs_the_photo(self, delivery):
        with pytest.raises(PhotoRequired):
            self.leave(delivery)

        assert told(delivery)[2] == ["COLLECTED", "COLLECTED"]

    def test_is_allowed_only_where_the_policy_says_so(self, delivery):
        with pytest.raises(LeavingNotAllowed):
            self.leave(delivery, "C", photos=[photo_at(delivery, "C")])

        assert told(delivery)[2] == ["COLLECTED", "COLLECTED"]
        assert not StopProof.objects.exists()

    def test_asks_for_no_pin(self):
        delivery = asking_for(Options(on_failure=OnFailure.LEAVE, has_pin=True), collected=True)

        self.leave(delivery, photos=[photo_at(delivery)])

        assert told(delivery) == ("DELIVERED", "FINISHED", ["DELIVERED"])

    def test_fails_for_another_reason_as_without_a_policy(self, delivery):
        fail(delivery, code="REFUSED")

        assert told(delivery)[2] == ["FAILED", "COLLECTED"]


class TestInstruct:
    @pytest.fixture
    def delivery(self):
        return fail(asking_for(RETRY, collected=True))

    def instruct(self, delivery, answer, instructions=None, point="B"):
        return do(stops.instruct, delivery, point=point, answer=answer, instructions=instructions)

    def test_to_return_ends_the_stop_at_once(self, delivery):
        self.instruct(delivery, OnFailure.RETURN)

        assert told(delivery) == ("FAILED", "RETURNING", ["FAILED"])
        assert Stop.objects.get(delivery=delivery).failure_code == "ABSENT"
        last = delivery.transitions.latest("id")
        assert (last.trigger, last.point, last.by) == ("recall", "B", BY)

    def test_to_leave_lets_the_second_attempt_end_at_the_door(self, delivery):
        self.instruct(delivery, OnFailure.LEAVE, "Behind the gate")

        assert told(delivery) == ("COLLECTED", "COLLECTED", ["COLLECTED"])
        assert DropoffOptions.objects.get(stop__delivery=delivery).instructions == "Behind the gate"
        proof = Proof(photos=(photo_at(delivery),), left=True)
        do(proofs.deliver, delivery, point="B", proof=proof)
        assert told(delivery)[0] == "DELIVERED"

    def test_is_of_this_stop_and_keeps_the_instructions_that_it_does_not_name(self):
        options = Options(on_failure=OnFailure.RETRY, instructions="Ring")
        delivery = fail(asking_for(options, options, collected=True))

        self.instruct(delivery, OnFailure.LEAVE)

        found = DropoffOptions.objects.order_by("stop__index").values_list("on_failure", "instructions")
        assert list(found) == [("LEAVE", "Ring"), ("RETRY", "Ring")]
        assert not StopChange.objects.get().instructions

    def test_can_be_changed_until_the_stop_is_tried_again(self, delivery):
        for answer in (OnFailure.LEAVE, OnFailure.RETRY):
            self.instruct(delivery, answer)

        fail(delivery, code="CLOSED")

        assert told(delivery) == ("FAILED", "RETURNING", ["FAILED"])

    def test_is_in_the_history_and_the_audit_trail_with_who_did_it(self, delivery):
        self.instruct(delivery, OnFailure.LEAVE, "Gate")

        change = StopChange.objects.get()
        assert (change.answer, change.instructions, change.contacts, change.by) == ("LEAVE", True, False, BY)
        entry = AuditEntry.objects.get(action="failure_answered")
        assert (entry.subject, entry.by) == (f"{delivery.pk} B LEAVE", BY)
        assert delivery.events.count() == delivery.transitions.count()

    @pytest.mark.parametrize("options", [Options(), RETRY, LEAVE])
    def test_is_refused_before_a_failure(self, options):
        delivery = asking_for(options, collected=True)

        with pytest.raises(NothingToDecide):
            self.instruct(delivery, OnFailure.RETURN)

        assert not StopChange.objects.exists()

    def test_is_refused_after_the_second_attempt(self, delivery):
        fail(delivery)

        with pytest.raises(NothingToDecide):
            self.instruct(delivery, OnFailure.LEAVE)

    def test_is_refused_at_a_point_that_the_route_does_not_have(self, delivery):
        with pytest.raises(StopNotFound):
            self.instruct(delivery, OnFailure.LEAVE, point="C")


class TestRecall:
    """A dispatcher ends a second attempt."""

    @pytest.fixture
    def delivery(self):
        TariffFactory.create(retry_percent=50)
        return fail(asking_for(RETRY, RETRY, collected=True))

    def test_ends_the_stop_at_once_and_without_the_fee_of_a_second_attempt(self, delivery):
        do(partial(moves.perform, "recall"), delivery, fields={"point": " b ", "reason": "not asked for"})

        assert told(delivery) == ("COLLECTED", "COLLECTED", ["FAILED", "COLLECTED"])
        last = delivery.transitions.latest("id")
        assert (last.trigger, last.point, last.by) == ("recall", "B", BY)
        assert Delivery.objects.get(pk=delivery.pk).retry_fee is None
        assert Stop.objects.get(delivery=delivery, index=0).failure_code == "ABSENT"
        assert not StopChange.objects.exists()  # the shop has changed nothing

    def test_is_allowed_while_a_stop_is_to_be_tried_again(self, delivery):
        before = moves.allowed(Delivery.objects.get(pk=delivery.pk))
        do(partial(moves.perform, "recall"), delivery, fields={"point": "B"})

        assert "recall" in before
        assert "recall" not in moves.allowed(Delivery.objects.get(pk=delivery.pk))

    def test_is_refused_at_a_stop_that_has_not_failed(self, delivery):
        with pytest.raises(NothingToDecide):
            do(partial(moves.perform, "recall"), delivery, fields={"point": "C"})

    def test_is_offered_at_the_stop_that_failed_only(self, delivery):
        form = MoveForm("recall", Delivery.objects.get(pk=delivery.pk))

        assert [label for label, _name in form.fields["point"].choices] == ["B"]  # type: ignore[attr-defined]  # of ChoiceField


class TestChange:
    VALUES = {"contact_name": "Ana", "contact_phone": "+55 11 90000-0000", "instructions": "Knock"}

    def change(self, delivery, point="B", **values):
        return do(stops.change, delivery, point=point, values=values or self.VALUES)

    @pytest.mark.parametrize("moves", [(), ("accept",), ("accept", "collect")])
    def test_is_possible_until_the_driver_has_been_there(self, moves):
        delivery = DeliveryFactory.create(stops=2, moves=moves)

        self.change(delivery)

        stop = Stop.objects.get(delivery=delivery, index=0)
        assert (stop.contact_name, stop.contact_phone) == ("Ana", "+55 11 90000-0000")
        assert stop.options.instructions == "Knock"
        change = StopChange.objects.get()
        assert (change.stop, change.contacts, change.instructions, change.by) == (stop, True, True, BY)
        assert AuditEntry.objects.get(action="stop_changed").subject == f"{delivery.pk} B"

    def test_keeps_what_is_not_named(self):
        delivery = asking_for(Options(instructions="Ring", email="a@example.com", needs_photo=True))

        self.change(delivery, contact_email="b@example.com")

        options = DropoffOptions.objects.get()
        assert (options.instructions, options.contact_email, options.needs_photo) == ("Ring", "b@example.com", True)

    def test_to_the_same_is_none(self):
        delivery = asking_for(Options(instructions="Ring"))

        self.change(delivery, instructions="Ring")

        assert not StopChange.objects.exists()

    def test_is_refused_after_fifty_with_which_only_a_return_can_follow(self):
        delivery = fail(asking_for(RETRY, collected=True))
        for number in range(50):
            self.change(delivery, instructions=f"Ring {number}")

        for values in ({"instructions": "Knock"}, {"contact_email": "a@example.com"}):
            with pytest.raises(TooManyChanges):
                self.change(delivery, **values)
        with pytest.raises(TooManyChanges):
            do(stops.instruct, delivery, point="B", answer=OnFailure.LEAVE, instructions=None)

        assert (StopChange.objects.count(), DropoffOptions.objects.get().on_failure) == (50, "RETRY")
        with CaptureQueriesContext(connection) as captured:
            do(stops.instruct, delivery, point="B", answer=OnFailure.RETURN, instructions=None)
        assert sum("FOR NO KEY UPDATE" in each["sql"] for each in captured) == 1
        assert told(delivery)[2] == ["FAILED"]

    @in_turn("end", ["delivered", "failed", "cancelled", "expired", "collected"])
    def test_is_refused_afterwards(self, end):
        at = timezone.now()
        mode = Mode.REVERSE if end == "collected" else Mode.DEFAULT
        delivery = DeliveryFactory.create(stops=2, mode=mode, at=at - timedelta(hours=2))
        if end == "expired":
            deliveries.expire(delivery=delivery, by=BY, at=at)
        elif end == "cancelled":
            do(deliveries.cancel, delivery, reason="")
        else:
            delivery = DeliveryFactory.create(stops=2, mode=mode, accepted=True)
            if end == "collected":
                do(deliveries.collect, delivery, point="B")
            else:
                do(deliveries.collect, delivery)
                fail(delivery) if end == "failed" else do(deliveries.deliver, delivery, point="B")

        with pytest.raises(StopHasEnded):
            self.change(delivery)

        assert Stop.objects.get(delivery=delivery, index=0).contact_name != "Ana"
        assert not StopChange.objects.exists()


class TestReverse:
    @pytest.fixture
    def delivery(self):
        return DeliveryFactory.create(stops=2, mode=Mode.REVERSE, accepted=True)

    def test_costs_what_the_way_from_the_stops_to_a_costs(self, delivery):
        outward = DeliveryFactory.create(stops=1)
        inward = DeliveryFactory.create(stops=1, mode=Mode.REVERSE)

        assert (inward.shipping_value, inward.distance_km) == (outward.shipping_value, outward.distance_km)

    def test_ends_at_a_with_what_was_collected(self, delivery):
        do(deliveries.collect, delivery, point="C")
        assert told(delivery) == ("COLLECTED", "COLLECTED", ["ACCEPT", "COLLECTED"])
        fail(delivery)
        assert told(delivery) == ("COLLECTED", "RETURNING", ["FAILED", "COLLECTED"])

        do(deliveries.return_, delivery)

        assert told(delivery) == ("DELIVERED", "FINISHED", ["FAILED", "DELIVERED"])

    def test_ends_at_once_where_nothing_was_collected(self, delivery):
        fail(delivery, "B")
        fail(delivery, "C")

        assert told(delivery) == ("FAILED", "FINISHED", ["FAILED", "FAILED"])

    def test_needs_the_point_that_is_collected(self, delivery):
        with pytest.raises(StopNotFound):
            do(deliveries.collect, delivery)

        assert told(delivery) == ("ACCEPT", "ACCEPTED", ["ACCEPT", "ACCEPT"])

    def test_outward_routes_are_collected_at_a_only(self):
        delivery = DeliveryFactory.create(stops=1, accepted=True)

        with pytest.raises(StopNotFound):
            do(deliveries.collect, delivery, point="B")

        assert told(delivery) == ("ACCEPT", "ACCEPTED", ["ACCEPT"])

    @pytest.mark.parametrize(("points", "percent"), [("", 30), ("B", 100), ("BC", 100)])
    def test_costs_the_fee_of_its_stage_when_it_is_cancelled(self, delivery, points, percent):
        for point in points:
            do(deliveries.collect, delivery, point=point)

        cancelled = do(deliveries.cancel, delivery, reason="")

        assert cancelled.cancel_fee == round(delivery.shipping_value * percent / 100, 2)
        assert told(delivery) == ("FAILED", "RETURNING" if points else "CANCELLED", ["FAILED", "FAILED"])

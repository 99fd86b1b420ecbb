"""Moves of a delivery: which are allowed, what each leaves in the database, and what refuses it."""

import json
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.utils import timezone, translation

from common.observability import log_context
from delivery import lifecycle
from delivery.actions import deliveries, moves, transitions
from delivery.errors import (
    AlreadyFinished,
    DriverHasOpenRoute,
    DriverNotEligible,
    InvalidFailureCode,
    InvalidPosition,
    MoveRefused,
    NoEligibleDriver,
    OfferExpired,
    ReasonMissing,
    StopNotFound,
)
from delivery.geo.distance import Point
from delivery.lifecycle import Mode, Trigger
from delivery.models import Delivery, Environment, Stop, Tariff, Transition, VehicleType, WebhookEvent
from tests.cases import in_turn
from tests.delivery.in_progress import in_progress
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TariffFactory
from tests.money import half_up


def do(verb, delivery, **details):
    return verb(delivery=delivery, by=BY, at=timezone.now(), **details)


def statuses(delivery):
    fresh = Delivery.objects.get(pk=delivery.pk)
    orders = list(Stop.objects.filter(delivery=delivery).order_by("index").values_list("status", flat=True))
    return fresh.status, fresh.route_status, orders


def driver_of(delivery):
    return Delivery.objects.get(pk=delivery.pk).driver


def last_body(delivery):
    return json.loads(WebhookEvent.objects.filter(delivery=delivery).latest("sequence").body)


def writes():
    return Transition.objects.count(), WebhookEvent.objects.count()


@pytest.mark.django_db
class TestAllowed:
    def test_has_a_move_for_each_trigger_but_that_of_time(self):
        assert set(moves.MOVES) == {*Trigger, "position"} - {*lifecycle.IMPLIED}

    @in_turn("mode", [Mode.DEFAULT, Mode.REVERSE])
    @in_turn("route_status", lifecycle.IN_PROGRESS)
    def test_is_what_the_table_has_and_a_position_of_whoever_holds_the_route(self, route_status, mode):
        delivery = in_progress(route_status, stops=2, mode=mode)

        triggers = {trigger for trigger, route in lifecycle.TABLE[mode] if route is route_status}
        triggers -= {*lifecycle.IMPLIED, Trigger.RECALL, Trigger.CHARGE}
        also = {"position"} if route_status in lifecycle.HELD else set()
        assert set(moves.allowed(delivery)) == triggers | also

    def test_is_no_second_cancellation_and_nothing_after_the_end(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)

        cancelled = do(deliveries.cancel, delivery, reason="")
        ended = do(deliveries.return_, delivery)

        assert (moves.allowed(cancelled), moves.allowed(ended)) == (["return", "position"], [])


class TestParsePoint:
    def test_reads_latitude_and_longitude(self):
        assert moves.parse_point("-23.56, -46.65") == (-23.56, -46.65)

    @pytest.mark.parametrize("text", ["", "1", "1,2,3", "91,0", "nan,0", "0" * 200 + "1,1", "1,1" + " " * 2_000_000])
    def test_refuses_invalid_text_with_a_short_message(self, text):
        with pytest.raises(InvalidPosition) as refused:
            moves.parse_point(text)

        assert len(str(refused.value)) < 300


@pytest.mark.django_db
class TestOneDelivery:
    def test_stays_with_its_driver_when_a_point_fails(self):
        delivery = DeliveryFactory.create(collected=True)

        failed = do(deliveries.fail, delivery, point="b", reason="Ninguém em casa")

        assert statuses(delivery) == ("COLLECTED", "COLLECTED", ["FAILED", "COLLECTED", "COLLECTED"])
        assert failed.driver == delivery.driver
        assert Stop.objects.get(delivery=delivery, index=0).failure_reason == "Ninguém em casa"
        last = Transition.objects.filter(delivery=delivery).latest("pk")
        assert (last.trigger, last.point, last.reason, last.by) == ("fail", "B", "Ninguém em casa", BY)
        assert (last.status, last.route_status) == ("COLLECTED", "COLLECTED")

    def test_keeps_the_code_of_a_failure_and_tells_it_in_the_language_of_who_records_it(self):
        delivery = DeliveryFactory.create(collected=True)

        with translation.override("pt-br"):
            do(deliveries.fail, delivery, point="B", code="ABSENT", reason="tocou")
        do(deliveries.fail, delivery, point="C", reason=" Chovia ")
        longest = "x" * 255
        do(deliveries.fail, delivery, point="D", code="CLOSED", reason=longest)

        stops = Stop.objects.filter(delivery=delivery)
        assert [(stop.failure_code, stop.failure) for stop in stops] == [
            ("ABSENT", "Nobody there: tocou"), ("OTHER", "Chovia"), ("CLOSED", f"Place closed: {longest}"),
        ]  # fmt: skip  # a table
        told = Transition.objects.filter(delivery=delivery, trigger="fail").values_list("reason", flat=True)
        assert list(told) == ["Ninguém no local: tocou", "Chovia", f"Place closed: {longest}"[:255]]

    @in_turn(
        ("verb", "details", "error"),
        [
            (deliveries.fail, {"point": "B", "code": "OTHER", "reason": ""}, ReasonMissing),
            (deliveries.fail, {"point": "B", "code": "absent", "reason": "x"}, InvalidFailureCode),
            (deliveries.deliver, {"point": "D"}, StopNotFound),
            (deliveries.deliver, {"point": "A"}, StopNotFound),
            (deliveries.deliver, {"point": ""}, StopNotFound),
            (deliveries.fail, {"point": "B", "reason": " "}, ReasonMissing),
            (deliveries.collect, {}, MoveRefused),
            (deliveries.return_, {}, MoveRefused),
        ],
    )
    def test_refuses_an_invalid_action_and_writes_nothing(self, verb, details, error):
        delivery = DeliveryFactory.create(collected=True, stops=2)
        before = statuses(delivery), writes()

        with pytest.raises(error):
            do(verb, delivery, **details)

        assert (statuses(delivery), writes()) == before


@pytest.mark.django_db
class TestFirstAcceptance:
    def test_is_kept_when_the_route_is_accepted_again(self):
        delivery, moments = DeliveryFactory.create(stops=1), []

        for verb in (deliveries.accept, deliveries.release, deliveries.accept, deliveries.collect):
            do(verb, delivery, **({"driver": DriverFactory.create()} if verb is deliveries.accept else {}))
            moments.append(Delivery.objects.get(pk=delivery.pk).accepted_at)

        assert moments == [delivery.transitions.filter(trigger="accept").earliest("id").at] * 4

    def test_and_failures_of_earlier_deliveries_are_filled_from_their_histories(self, monkeypatch):
        migration = import_module("delivery.migrations.0007_filled_checked_and_indexed")
        monkeypatch.setattr(migration, "_BATCH", 1)
        offered, taken, ended = (DeliveryFactory.create(stops=1, accepted=accepted) for accepted in (False, True, True))
        do(deliveries.release, taken)
        do(deliveries.accept, taken, driver=DriverFactory.create())
        do(deliveries.cancel, ended, reason="")
        failed = DeliveryFactory.create(stops=2, collected=True)
        do(deliveries.fail, failed, point="B", reason="x")
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")  # no triggers
            cursor.execute("UPDATE delivery_delivery SET accepted_at = NULL, has_failed_stop = FALSE")
            cursor.execute("SET LOCAL session_replication_role = origin")

        migration.fill(apps, SimpleNamespace(connection=connection))

        filled = dict(Delivery.objects.values_list("pk", "accepted_at"))
        assert filled == {offered.pk: None, **{each.pk: each.accepted_at for each in (taken, ended, failed)}}
        assert Delivery.objects.get(has_failed_stop=True) == failed


@pytest.mark.django_db
class TestDriverAmount:
    """What the driver earns, fixed at the acceptance."""

    @pytest.fixture
    def offer(self):
        return DeliveryFactory.create(stops=1)

    def test_is_by_the_accounts_tariff_else_the_general_one_else_the_rules(self, offer, rules):
        rules(driver_share_percent=50)
        general = Tariff.objects.get(integrator=None, vehicle_type=offer.vehicle_type)
        price, km = offer.shipping_value, offer.distance_km
        found = [Tariff.driver_amounts([offer])[offer.pk]]

        Tariff.objects.filter(pk=general.pk).update(driver_percent=80)
        found += Tariff.driver_amounts([offer]).values()
        general.pk, general.integrator = None, offer.integrator
        general.driver_percent, general.driver_fixed, general.driver_per_km = None, Decimal(4), Decimal("1.5")
        general.save()
        found += Tariff.driver_amounts([offer]).values()
        Tariff.objects.filter(pk=general.pk).update(driver_percent=0, driver_fixed=None, driver_per_km=None)
        found += Tariff.driver_amounts([offer]).values()

        expected = [price / 2, price * Decimal("0.8"), 4 + km * Decimal("1.5"), 0]
        assert found == [half_up(Fraction(amount)) for amount in expected]

    @pytest.mark.parametrize("fee", [0, "0.01", 30, 100])
    def test_follows_the_route(self, rules, fee):
        rules(driver_share_percent=50)
        TariffFactory.create(cancel_percent_accepted=Decimal(fee))
        offer = DeliveryFactory.create(stops=1)
        half = half_up(Fraction(offer.shipping_value) / 2)
        amounts = []
        verbs = (deliveries.accept, deliveries.release, deliveries.accept, deliveries.reassign, deliveries.cancel)
        for number, verb in enumerate(verbs):
            driver = {"driver": DriverFactory.create()}
            values = {deliveries.accept: driver, deliveries.reassign: driver, deliveries.cancel: {"reason": ""}}
            amounts.append(do(verb, offer, **values.get(verb, {})).driver_amount)
            rules(driver_share_percent=50 if number < 2 else 90)  # what is fixed does not follow the rules

        part = Fraction(Delivery.objects.get(pk=offer.pk).cancel_fee or 0) / Fraction(offer.shipping_value)
        assert amounts == [half, None, half, half, half_up(Fraction(half) * part)]

    def test_is_nothing_without_a_rule(self, offer):
        assert do(deliveries.accept, offer, driver=DriverFactory.create()).driver_amount == 0


@pytest.mark.django_db
class TestCancel:
    def test_before_acceptance_costs_nothing(self):
        delivery = DeliveryFactory.create()

        cancelled = do(deliveries.cancel, delivery, reason=" Desistiu\n")

        assert statuses(delivery) == ("FAILED", "CANCELLED", ["FAILED"] * 3)
        assert (cancelled.cancel_fee, cancelled.cancel_reason) == (Decimal(0), "Desistiu")
        assert delivery.transitions.latest("pk").reason == "Desistiu"

    def test_after_acceptance_costs_the_tariffs_share_and_frees_the_driver(self):
        delivery = DeliveryFactory.create(accepted=True)

        cancelled = do(deliveries.cancel, delivery, reason="")

        assert statuses(delivery) == ("FAILED", "CANCELLED", ["FAILED"] * 3)
        assert cancelled.cancel_fee == (delivery.shipping_value * Decimal("0.30")).quantize(Decimal("0.01"))
        assert DeliveryFactory.create(accepted=True, driver=delivery.driver).driver == delivery.driver

    def test_after_pickup_makes_the_driver_return(self):
        delivery = DeliveryFactory.create(collected=True)
        do(deliveries.deliver, delivery, point="B")

        cancelled = do(deliveries.cancel, delivery, reason="")

        assert statuses(delivery) == ("FAILED", "RETURNING", ["DELIVERED", "FAILED", "FAILED"])
        assert cancelled.cancel_fee == delivery.shipping_value

    def test_again_changes_nothing(self):
        delivery = DeliveryFactory.create()
        first = do(deliveries.cancel, delivery, reason="one")
        before = writes()

        second = do(deliveries.cancel, delivery, reason="two")

        assert (second.cancel_reason, second.cancelled_at) == ("one", first.cancelled_at)
        assert writes() == before

    def test_refuses_a_finished_delivery(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        do(deliveries.deliver, delivery, point="B")

        with pytest.raises(AlreadyFinished):
            do(deliveries.cancel, delivery, reason="")

        assert statuses(delivery) == ("DELIVERED", "FINISHED", ["DELIVERED"])


@pytest.mark.django_db
class TestExpireOverdue:
    def test_expires_offers_from_their_deadline_on(self):
        now = timezone.now()
        due = DeliveryFactory.create(at=now - timedelta(minutes=60))
        young = DeliveryFactory.create(at=now - timedelta(minutes=60) + timedelta(microseconds=1))

        assert deliveries.expire_overdue(at=now) == 1

        assert statuses(due) == ("FAILED", "EXPIRED", ["FAILED"] * 3)
        assert statuses(young)[:2] == ("PENDING", "AVAILABLE")


FAR = Point(-22.9068, -43.1729)  # Rio de Janeiro


def assert_untouched(delivery):
    delivery = Delivery.objects.get(pk=delivery.pk)
    assert (delivery.status, delivery.route_status, delivery.driver) == ("PENDING", "AVAILABLE", None)
    assert delivery.events.count() == 1
    assert delivery.transitions.count() == 1


@pytest.mark.django_db
class TestAccept:
    def test_gives_the_whole_route_to_the_driver(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()

        accepted = do(deliveries.accept, delivery, driver=driver)

        assert (accepted.status, accepted.route_status, accepted.driver) == ("ACCEPT", "ACCEPTED", driver)
        assert [stop.status for stop in Stop.objects.filter(delivery=delivery)] == ["ACCEPT"] * 3
        assert Transition.objects.filter(delivery=delivery, trigger="accept", by=BY).count() == 1

    @in_turn(
        ("fault", "reason"),
        [
            ({"on_duty": False}, "not on duty"),
            ({"active": False}, "not on duty"),
            ({"vehicle_type": VehicleType.CAR}, "needs a MOTORCYCLE"),
            ({"environment": Environment.SANDBOX}, "sandbox driver cannot take a live delivery"),
            ({"at_point": FAR}, "farther than 15 km"),
        ],
    )
    def test_refuses_an_ineligible_driver_with_the_reason(self, fault, reason):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create(**fault)

        with pytest.raises(DriverNotEligible, match=reason):
            do(deliveries.accept, delivery, driver=driver)

        assert_untouched(delivery)

    def test_refuses_a_driver_with_an_open_route(self):
        driver = DriverFactory.create()
        DeliveryFactory.create(accepted=True, driver=driver)
        delivery = DeliveryFactory.create()

        with pytest.raises(DriverHasOpenRoute):
            do(deliveries.accept, delivery, driver=driver)

        assert_untouched(delivery)

    def test_refuses_when_no_driver_is_named_and_none_is_eligible(self):
        delivery = DeliveryFactory.create()

        with pytest.raises(NoEligibleDriver, match="MOTORCYCLE"):
            do(deliveries.accept, delivery, driver=None)

        assert_untouched(delivery)

    def test_is_possible_until_the_deadline(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()
        at = delivery.offer_expires_at - timedelta(microseconds=1)

        assert deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at).driver == driver

    def test_refuses_from_the_deadline_on(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()

        with pytest.raises(OfferExpired):
            deliveries.accept(delivery=delivery, driver=driver, by=BY, at=delivery.offer_expires_at)

        assert_untouched(delivery)

    def test_refuses_an_expired_offer(self):
        delivery = DeliveryFactory.create()
        deliveries.expire(delivery=delivery, by=BY, at=delivery.offer_expires_at)

        with pytest.raises(OfferExpired):
            do(deliveries.accept, delivery, driver=DriverFactory.create())

        expired = Delivery.objects.get(pk=delivery.pk)
        assert (expired.driver, expired.status_name) == (None, "Offer expired")

    def test_says_of_a_cancelled_offer_that_it_is_closed_whenever_its_deadline_was(self):
        delivery = do(deliveries.cancel, DeliveryFactory.create(), reason="")

        with pytest.raises(MoveRefused, match="it is closed"):
            deliveries.accept(delivery=delivery, driver=None, by=BY, at=delivery.offer_expires_at)


@pytest.mark.django_db
class TestRelease:
    def test_offers_the_route_again_for_as_long_as_a_new_one(self):
        delivery, at = DeliveryFactory.create(accepted=True, stops=2), timezone.now() + timedelta(minutes=50)

        released = deliveries.release(delivery=delivery, by=BY, at=at)

        assert (statuses(delivery), driver_of(delivery)) == (("PENDING", "AVAILABLE", ["PENDING", "PENDING"]), None)
        assert released.offer_expires_at == at + settings.OFFER_TTL
        assert last_body(delivery)["driver"]["name"] == ""
        assert delivery.transitions.latest("pk").former_driver == delivery.driver

    def test_lets_the_same_driver_take_the_route_again(self):
        driver = DriverFactory.create()
        delivery = DeliveryFactory.create(accepted=True, driver=driver)
        do(deliveries.release, delivery)

        do(deliveries.accept, delivery, driver=driver)

        assert (statuses(delivery)[1], driver_of(delivery)) == ("ACCEPTED", driver)


@pytest.mark.django_db
class TestReassign:
    def test_gives_the_route_to_the_driver_that_is_named(self):
        delivery, other = DeliveryFactory.create(accepted=True, stops=1), DriverFactory.create(name="Bia")

        do(deliveries.reassign, delivery, driver=other)

        assert (statuses(delivery), driver_of(delivery)) == (("ACCEPT", "ACCEPTED", ["ACCEPT"]), other)
        assert last_body(delivery)["driver"]["name"] == "Bia"
        assert delivery.transitions.latest("pk").former_driver == delivery.driver

    def test_takes_the_nearest_free_driver_and_frees_the_one_before(self):
        first, second = DriverFactory.create(at_point=PICKUP), DriverFactory.create(at_point=PICKUP)
        delivery = DeliveryFactory.create(accepted=True, driver=first)

        do(deliveries.reassign, delivery, driver=None)

        assert driver_of(delivery) == second
        assert DeliveryFactory.create(accepted=True, driver=first).driver == first

    def test_keeps_the_driver_who_is_named_and_when_nobody_else_is_free(self):
        delivery = DeliveryFactory.create(accepted=True)
        before = writes()

        with pytest.raises(DriverNotEligible, match="holds this route already"):
            do(deliveries.reassign, delivery, driver=delivery.driver)
        with pytest.raises(NoEligibleDriver):
            do(deliveries.reassign, delivery, driver=None)

        assert (driver_of(delivery), writes()) == (delivery.driver, before)


@pytest.mark.django_db
@pytest.mark.parametrize("lock", [transitions.lock, transitions.lock_unless_busy])
def test_the_log_names_a_delivery_whose_lock_was_not_got(lock):
    gone, scope = Delivery(), log_context.begin()
    try:
        with suppress(Delivery.DoesNotExist):
            lock(gone)

        assert log_context.noted() == {"delivery": str(gone.pk)}
    finally:
        log_context.end(scope)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_", range(2))
class TestAtOnce:
    def test_two_drivers_who_are_swapped_are_both_refused(self, round_, at_once):
        first, second = (DeliveryFactory.create(accepted=True) for _route in range(2))
        at = timezone.now()

        results = at_once(
            partial(deliveries.reassign, delivery=first, driver=second.driver, by=BY, at=at),
            partial(deliveries.reassign, delivery=second, driver=first.driver, by=BY, at=at),
        )

        assert [type(result) for result in results] == [DriverHasOpenRoute] * 2

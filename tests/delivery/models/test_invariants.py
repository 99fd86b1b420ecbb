"""Constraints and triggers of the database. Rows are changed here without the actions."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Driver, DropoffOptions, PickupPoint, Stop, StopChange, Tariff, WebhookEvent
from delivery.payload import Options
from tests.cases import in_turn
from tests.delivery.proofs import asking_for
from tests.factories import (
    BY,
    DeliveryFactory,
    DriverFactory,
    IntegratorFactory,
    PickupPointFactory,
    TariffFactory,
)


def refused(error, match):
    """The statement inside is refused, in a savepoint so that the test can go on."""
    return pytest.raises(error, match=match)


@pytest.mark.django_db
class TestDelivery:
    def test_refuses_changes_of_the_request(self):
        DeliveryFactory.create(collected=True)
        changes: dict[str, Any] = {
            "shipping_value": Decimal(1),
            "distance_km": Decimal(1),
            "latitude": 1.0,
            "address": {"city": "Elsewhere"},
            "contact_name": "Other",
            "vehicle_type": "CAR",
            "mode": "RETURN",
            "packages": [{}],
            "environment": "sandbox",
            "integrator": IntegratorFactory.create(),
            "offer_expires_at": timezone.now(),
            "cancel_percent_collected": Decimal(1),
            "retry_percent": Decimal(1),
        }

        for name, value in changes.items():
            with refused(ProgrammingError, "delivery_immutable|Cannot update"), transaction.atomic():
                Delivery.objects.update(**{name: value})

    def test_keeps_the_driver_who_collected_or_held_it_until_the_cancellation(self):
        collected, accepted = DeliveryFactory.create(collected=True), DeliveryFactory.create(accepted=True)
        other = DriverFactory.create()

        with refused(ProgrammingError, "Cannot update"), transaction.atomic():
            Delivery.objects.filter(pk=collected.pk).update(driver=other)
        with refused(ProgrammingError, "Cannot update"), transaction.atomic():
            Delivery.objects.filter(pk=accepted.pk).update(driver=None, route_status="CANCELLED", status="FAILED")

    @pytest.mark.parametrize("column", ["cancel_fee", "retry_fee", "return_fee", "driver_amount"])
    def test_keeps_its_amounts_between_moves(self, column):
        delivery = DeliveryFactory.create(accepted=True)

        with refused(ProgrammingError, "Cannot update"), transaction.atomic():
            Delivery.objects.filter(pk=delivery.pk).update(**{column: Decimal("0.01")})

        assert getattr(Delivery.objects.get(pk=delivery.pk), column) == getattr(delivery, column)

    def test_keeps_its_first_acceptance(self):
        delivery = DeliveryFactory.create(accepted=True)

        for change in (timezone.now(), None):
            with refused(ProgrammingError, "Cannot update"), transaction.atomic():
                Delivery.objects.filter(pk=delivery.pk).update(accepted_at=change)

    def test_refuses_every_change_once_closed(self):
        delivery = DeliveryFactory.create()
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        opened = {"status": "PENDING", "route_status": "AVAILABLE", "closed_at": None}
        for change in (
            opened,
            {"cancel_fee": 9},
            {"retry_fee": 9},
            {"closed_at": timezone.now()},
            {"last_sequence": 9},
        ):
            with refused(ProgrammingError, "Cannot update"), transaction.atomic():
                Delivery.objects.filter(pk=delivery.pk).update(**change)

    def test_is_the_only_open_one_of_its_driver(self):
        held, other = DeliveryFactory.create(accepted=True), DeliveryFactory.create()

        with refused(IntegrityError, "one_open_route_per_driver"), transaction.atomic():
            Delivery.objects.filter(pk=other.pk).update(driver=held.driver, status="ACCEPT", route_status="ACCEPTED")

    @pytest.mark.parametrize(
        ("change", "constraint"),
        [
            ({"shipping_value": Decimal("-0.01")}, "delivery_price_not_negative"),
            ({"distance_km": Decimal(-1)}, "delivery_price_not_negative"),
            ({}, "delivery_delivery_route_id_key"),
        ],
    )
    def test_is_not_made_with_a_negative_price_or_the_route_of_another(self, change, constraint):
        copy = Delivery.objects.get(pk=DeliveryFactory.create().pk)
        copy.pk = uuid4()
        copy.route_id = uuid4() if change else copy.route_id
        for column, value in change.items():
            setattr(copy, column, value)

        with refused(IntegrityError, constraint), transaction.atomic():
            copy.save(force_insert=True)

        assert Delivery.objects.count() == 1

    @in_turn(
        ("change", "constraint"),
        [
            ({"status": "DELIVERED"}, "delivery_status_fits_route"),
            ({"route_status": "ACCEPTED", "status": "ACCEPT"}, "delivery_driver_fits_route"),
            ({"route_status": "EXPIRED", "status": "FAILED"}, "delivery_closed_has_its_time"),
            ({"cancelled_at": timezone.now()}, "delivery_cancellation_whole"),
            ({"return_fee": -1, "last_sequence": 2}, "delivery_fees_not_negative"),
        ],
    )
    def test_has_no_contradictory_state(self, change, constraint):
        delivery = DeliveryFactory.create()

        with refused(IntegrityError, constraint), transaction.atomic():
            Delivery.objects.filter(pk=delivery.pk).update(**change)


@pytest.mark.django_db
class TestStop:
    def test_never_changes_its_place_or_receiver(self):
        DeliveryFactory.create(accepted=True, stops=1)
        address = {"address": {"city": "x"}}

        for change in ({"latitude": 1.0}, address, {"index": 2}, {"external_id": "x"}):
            with refused(ProgrammingError, "Cannot update"), transaction.atomic():
                Stop.objects.update(**change)

    def test_keeps_its_contact_and_what_was_asked_for_once_it_is_closed(self):
        delivery = asking_for(Options(instructions="Ring twice"), Options(), collected=True)
        stop = Stop.objects.filter(delivery=delivery, index=0)
        assert stop.update(contact_phone="1") == DropoffOptions.objects.update(instructions="Knock") == 1

        deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())

        with refused(ProgrammingError, "Cannot update"), transaction.atomic():
            stop.update(contact_phone="2")
        for change in ({"instructions": ""}, {"on_failure": "LEAVE"}, {"contact_email": "a@example.com"}):
            with refused(ProgrammingError, "closed stop cannot change"), transaction.atomic():
                DropoffOptions.objects.update(**change)

    def test_is_tried_again_once_and_after_pickup_only(self):
        delivery = DeliveryFactory.create(accepted=True, stops=1)
        at = timezone.now()

        with refused(IntegrityError, "stop_tried_after_pickup"), transaction.atomic():
            Stop.objects.update(tried_at=at)
        deliveries.collect(delivery=delivery, by=BY, at=at)
        Stop.objects.update(tried_at=at)
        for change in (None, at + timedelta(minutes=1)):
            with refused(ProgrammingError, "Cannot update"), transaction.atomic():
                Stop.objects.update(tried_at=change)

    def test_is_neither_added_to_an_accepted_route_nor_taken_from_it(self):
        delivery = DeliveryFactory.create(accepted=True, stops=1)

        with refused(ProgrammingError, "stops of an accepted route"), transaction.atomic():
            Stop.objects.create(delivery=delivery, index=1, status="PENDING", address={}, latitude=0, longitude=0)
        with refused(ProgrammingError, "stops of an accepted route"), transaction.atomic():
            Stop.objects.filter(delivery=delivery).delete()

    def test_stays_delivered(self):
        delivery = DeliveryFactory.create(collected=True, stops=2)
        Stop.objects.filter(delivery=delivery, index=0).update(status="DELIVERED")

        with refused(ProgrammingError, "Cannot update"), transaction.atomic():
            Stop.objects.filter(delivery=delivery, index=0).update(status="COLLECTED")

    @pytest.mark.parametrize("index", [0, 3])
    def test_has_an_index_of_its_own_from_0_to_2(self, index):
        delivery = DeliveryFactory.create(stops=1)

        with refused(IntegrityError, "one_stop_per_index|stop_index_b_c_or_d"), transaction.atomic():
            Stop.objects.create(delivery=delivery, index=index, status="PENDING", address={}, latitude=0, longitude=0)


@pytest.mark.django_db
class TestOthers:
    def test_coordinates_lie_on_earth(self):
        for latitude, longitude in [(90.1, 0), (0, -180.1), (float("nan"), 0)]:
            with refused(IntegrityError, "pickup_point_on_earth"), transaction.atomic():
                PickupPointFactory.create(latitude=latitude, longitude=longitude)

    @pytest.mark.parametrize("active", [False, True])
    def test_a_pickup_point_waits_for_approval_until_staff_activate_it(self, active):
        point = PickupPointFactory.create(active=False, awaits_approval=True)
        point.active = active

        point.full_clean()
        point.save()

        assert PickupPoint.objects.get().awaits_approval is not active

    def test_a_vehicle_has_one_active_tariff_for_everybody(self):
        general = TariffFactory.create()
        general.pk = None

        with refused(IntegrityError, "one_active_tariff"), transaction.atomic():
            Tariff.objects.bulk_create([general])

    def test_an_environment_has_one_endpoint_of_each_number(self):
        endpoint = IntegratorFactory.create().endpoints.get(environment="live")
        endpoint.pk = None

        with refused(IntegrityError, "one_endpoint_per_number"), transaction.atomic():
            endpoint.save(force_insert=True)

    def test_choices_are_checked_by_the_database(self):
        driver, event = DriverFactory.create(), WebhookEvent.objects.filter(delivery=DeliveryFactory.create())

        for rows, change in [
            (Driver.objects.filter(pk=driver.pk), {"vehicle_type": "TANK"}),
            (Driver.objects.filter(pk=driver.pk), {"environment": "moon"}),
            (event, {"state": "x"}),
        ]:
            with refused(IntegrityError, "violates check"), transaction.atomic():
                rows.update(**change)

    def test_events_histories_and_options_are_append_only(self):
        delivery = asking_for(Options(instructions="Ring twice", needs_photo=True))
        StopChange.objects.create(stop=Stop.objects.get(), contacts=True, by=BY, at=timezone.now())

        changes: list[tuple[Any, dict[str, Any]]] = [
            (delivery.events, {"body": "{}"}),
            (delivery.transitions, {"reason": "other"}),
            (delivery.transitions, {"status": "ACCEPT"}),
            (delivery.events, {"failure": "b=ABSENT"}),
            (DropoffOptions.objects, {"needs_photo": False}),
            (StopChange.objects, {"by": "other"}),
        ]
        for rows, change in changes:
            with refused(ProgrammingError, "Cannot update"), transaction.atomic():
                rows.update(**change)
        for rows in (delivery.transitions.all(), StopChange.objects.all()):
            with refused(ProgrammingError, "Cannot delete"), transaction.atomic():
                rows.delete()

    def test_a_sequence_number_is_used_once(self):
        event = WebhookEvent.objects.get(delivery=DeliveryFactory.create())
        event.pk = uuid4()
        event._state.adding = True

        with refused(IntegrityError, "one_event_per_endpoint_and_sequence"), transaction.atomic():
            event.save(force_insert=True)


@pytest.mark.django_db
class TestDriver:
    def test_keeps_what_the_open_route_was_given_for(self):
        DeliveryFactory.create(collected=True)

        for change in ({"environment": "sandbox"}, {"vehicle_type": "CAR"}, {"active": False}):
            with refused(IntegrityError, "holds a route"), transaction.atomic():
                Driver.objects.update(**change)

    def test_changes_after_the_route(self):
        delivery = DeliveryFactory.create(accepted=True)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        assert Driver.objects.update(environment="sandbox", vehicle_type="CAR", active=False) == 1

    def test_who_left_with_an_open_route_can_come_back(self):
        delivery = DeliveryFactory.create(accepted=True)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")  # no triggers
            cursor.execute("UPDATE delivery_driver SET active = FALSE")
            cursor.execute("SET LOCAL session_replication_role = origin")

        assert Driver.objects.filter(pk=delivery.driver_id).update(active=True) == 1

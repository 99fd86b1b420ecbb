"""Rows of several tables in one statement: the same as the ORM writes one by one, all or none of them."""

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from common.compiled_queries import insert_together
from delivery.models import Delivery, Integrator, PickupPoint, Stop, Tariff
from tests.factories import DeliveryFactory, TariffFactory

pytestmark = pytest.mark.django_db


def copies(delivery):
    """An unsaved delivery and its stops, alike but for their keys."""
    copy = Delivery.objects.get(pk=delivery.pk)
    copy.pk, copy.route_id = Delivery().pk, Delivery().route_id
    stops = list(delivery.stops.all())
    for stop in stops:
        stop.pk, stop.delivery = None, copy
    return copy, stops


def columns(item, *others):
    return {
        field.attname: getattr(item, field.attname)
        for field in item._meta.concrete_fields
        if field.attname not in {"id", *others}
    }


class TestInsertTogether:
    def test_writes_rows_of_several_tables_in_one_statement(self, django_assert_num_queries):
        delivery = DeliveryFactory.create(stops=3)
        copy, stops = copies(delivery)

        with django_assert_num_queries(1):
            insert_together(copy, *stops)

        written = Delivery.objects.get(pk=copy.pk)
        assert columns(written, "route_id") == columns(Delivery.objects.get(pk=delivery.pk), "route_id")
        assert [columns(stop, "delivery_id") for stop in written.stops.all()] == [
            columns(stop, "delivery_id") for stop in delivery.stops.all()
        ]

    def test_writes_what_save_writes(self):
        tariff = TariffFactory.create()
        copy = Tariff.objects.get(pk=tariff.pk)
        copy.pk, tariff.active = None, False
        tariff.save()

        insert_together(copy)

        assert columns(Tariff.objects.latest("pk"), "active") == columns(Tariff.objects.get(pk=tariff.pk), "active")

    def test_leaves_rows_that_can_be_saved_again(self):
        shop = Integrator(name="A")

        insert_together(shop, PickupPoint(integrator=shop, name="P", latitude=-23.5, longitude=-46.6))
        shop.name = "B"
        shop.save()

        assert Integrator.objects.get().name == "B"
        assert PickupPoint.objects.get().radius_m == 150

    def test_sets_what_the_field_sets_at_its_first_save(self):
        before = timezone.now()

        insert_together(Integrator(name="A"))

        assert before <= Integrator.objects.get().created_at <= timezone.now()

    def test_writes_keys_that_are_given(self):
        tariff = TariffFactory.create()
        tariff.pk = key = tariff.pk + 7
        tariff.active = False

        insert_together(tariff)

        assert not Tariff.objects.get(pk=key).active

    def test_writes_nothing_if_one_row_is_refused(self):
        copy, stops = copies(DeliveryFactory.create(stops=2))
        stops[1].index = stops[0].index

        with pytest.raises(DatabaseError), transaction.atomic():
            insert_together(copy, *stops)

        assert (Delivery.objects.count(), Stop.objects.count()) == (1, 2)

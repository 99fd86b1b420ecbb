"""Compiled queries find what their querysets find, and rows of several tables are inserted as the ORM does."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.postgres.expressions import ArraySubquery
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import CharField, OuterRef, Q, TextField, Value
from django.db.models.functions import Upper
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.postgresql.compiled_queries import (
    CompiledQuery,
    Parameter,
    insert_together,
    insert_unless_there,
    loaded,
    row_of,
    update_row,
)
from delivery.connections.models import Draft
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, Integrator, PickupPoint, Stop, Tariff, Token
from tests.delivery.connections.shops import order, post, shop
from tests.factories import DeliveryFactory, TariffFactory, TokenFactory

pytestmark = pytest.mark.django_db

BY_NAME = CompiledQuery(
    lambda: Token.objects.filter(integrator__name=Parameter("name")).select_related("integrator").order_by("pk")
)
BY_ID = CompiledQuery(lambda: Delivery.objects.filter(pk=Parameter("id")).select_related("driver"))


def columns(item):
    return {field.attname: getattr(item, field.attname) for field in item._meta.concrete_fields}


def _lock_elsewhere(key):
    """In another thread, which has a connection of its own."""
    try:
        with transaction.atomic():
            Delivery.objects.select_for_update(nowait=True).get(pk=key)
    finally:
        connection.close()


class TestCompiledQuery:
    def test_finds_the_objects_of_its_queryset_with_their_types(self):
        TariffFactory.create()
        query = CompiledQuery(lambda: Tariff.objects.filter(vehicle_type=Parameter("vehicle_type")))

        found = query.all(vehicle_type="MOTORCYCLE")

        assert [columns(item) for item in found] == [columns(item) for item in Tariff.objects.all()]
        assert [type(value) for value in columns(found[0]).values()] == [
            type(value) for value in columns(Tariff.objects.get()).values()
        ]
        assert not found[0]._state.adding

    def test_reads_moments_in_utc(self):
        token = TokenFactory.create(integrator__name="A")

        (found,) = BY_NAME.all(name="A")

        assert found.created_at == token.created_at
        assert found.created_at.utcoffset() == timedelta(0)

    def test_has_its_constants_in_the_text_so_that_any_plan_can_use_a_partial_index(self):
        query = CompiledQuery(
            lambda: Delivery.objects.filter(
                driver=Parameter("driver"), route_status__in=[RouteStatus.ACCEPTED, RouteStatus.COLLECTED]
            )
        )
        with CaptureQueriesContext(connection) as captured:
            query.all(driver=uuid4())

        # A plan for all values of the parameters proves the condition of the index by the text alone.
        sql = captured[0]["sql"]
        assert "'ACCEPTED'" in sql
        assert ("$1" in sql, "$2" in sql) == (True, False)

    @pytest.mark.parametrize("name", ["50 %s", "it's", "100%", "\\", "é"])
    def test_takes_constants_as_they_are(self, name):
        token = TokenFactory.create(integrator__name=name)
        query = CompiledQuery(lambda: Token.objects.filter(integrator__name=name, pk=Parameter("id")))

        assert query.all(id=token.pk) == [token]

    @pytest.mark.django_db(transaction=True)
    def test_locks_rows_in_a_transaction_only(self):
        delivery = DeliveryFactory.create()
        query = CompiledQuery(lambda: Delivery.objects.select_for_update(nowait=True).filter(pk=Parameter("id")))
        with transaction.atomic():
            (locked,) = query.all(id=delivery.pk)
            with ThreadPoolExecutor(1) as pool, pytest.raises(OperationalError, match="could not obtain lock"):
                pool.submit(_lock_elsewhere, delivery.pk).result()

        assert locked == delivery
        with pytest.raises(TransactionManagementError):
            query.all(id=delivery.pk)

    def test_reads_json_and_a_missing_related_object_as_the_queryset_does(self, django_assert_num_queries):
        delivery = DeliveryFactory.create(stops=2)

        found = BY_ID.first(id=delivery.pk)

        assert columns(found) == columns(Delivery.objects.get(pk=delivery.pk))
        assert found is not None
        assert found.packages == delivery.packages
        with django_assert_num_queries(0):
            assert found.driver is None

    def test_reads_related_objects_in_the_same_statement(self, django_assert_num_queries):
        token = TokenFactory.create(integrator__name="A")

        with django_assert_num_queries(1):
            (found,) = BY_NAME.all(name="A")
            assert found.integrator.name == "A"

        assert columns(found.integrator) == columns(token.integrator)

    def test_reads_annotations(self):
        token = TokenFactory.create(integrator__name="A")
        query: CompiledQuery[Any] = CompiledQuery(
            lambda: (
                Token.objects.filter(integrator__name=Parameter("name"))
                .select_related("integrator")
                .annotate(of=Upper("integrator__name"), other=Value(7))
            )
        )

        (found,) = query.all(name="A")

        assert (found, found.integrator, found.of, found.other) == (token, token.integrator, "A", 7)

    def test_reads_the_rows_of_a_subquery_in_the_same_statement(self, django_assert_num_queries):
        delivery = DeliveryFactory.create(stops=2)
        names = ["id", "delivery_id", "external_id", "address", "latitude"]
        stops = Stop.objects.filter(delivery=OuterRef("pk")).order_by("index").values(row=row_of(names))
        query: CompiledQuery[Any] = CompiledQuery(
            lambda: Delivery.objects.filter(pk=Parameter("id")).annotate(rows=ArraySubquery(stops))
        )

        with django_assert_num_queries(1):
            (found,) = query.all(id=delivery.pk)
            read = [loaded(Stop, names, row) for row in found.rows]
            values = [(stop.external_id, stop.address, stop.latitude) for stop in read]

        expected = list(Stop.objects.filter(delivery=delivery).order_by("index"))
        assert read == expected
        assert values == [(stop.external_id, stop.address, stop.latitude) for stop in expected]

    def test_reads_a_column_that_it_left_out_when_it_is_needed(self, django_assert_num_queries):
        token = TokenFactory.create(integrator__name="A")
        query = CompiledQuery(lambda: Token.objects.filter(integrator__name=Parameter("name")).only("hint"))

        (found,) = query.all(name="A")

        with django_assert_num_queries(0):
            assert found.hint == token.hint
        with django_assert_num_queries(1):
            assert found.environment == token.environment

    def test_takes_new_values_at_each_execution_and_none_as_sql(self):
        names = ("A", "' OR TRUE --%s")
        first, second = (TokenFactory.create(integrator__name=name) for name in names)

        assert [BY_NAME.all(name=name) for name in (*names, "' OR TRUE --")] == [[first], [second], []]

    def test_compares_moments_and_null(self):
        now = timezone.now()
        token = TokenFactory.create()
        Token.objects.update(expires_at=now)
        query = CompiledQuery(
            lambda: Token.objects.filter(Q(expires_at=None) | Q(expires_at__gt=Parameter("at")), revoked_at=None)
        )

        assert query.all(at=now - timedelta(seconds=1)) == [token]
        assert query.all(at=now) == []

    @pytest.mark.django_db(transaction=True)
    def test_is_compiled_by_threads_at_once(self, at_once):
        tokens = [TokenFactory.create(integrator__name=name) for name in "ABCDEFGH"]
        query = CompiledQuery(
            lambda: Token.objects.filter(integrator__name=Parameter("name")).select_related("integrator")
        )

        found = at_once(*[lambda token=token: query.all(name=token.integrator.name) for token in tokens])

        assert found == [[token] for token in tokens]


def copies(delivery):
    """An unsaved delivery and its stops, alike but for their keys."""
    copy = Delivery.objects.get(pk=delivery.pk)
    copy.pk, copy.route_id = Delivery().pk, Delivery().route_id
    stops = list(delivery.stops.all())
    for stop in stops:
        stop.pk, stop.delivery = None, copy
    return copy, stops


def stored(item, *others):
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
        assert stored(written, "route_id") == stored(Delivery.objects.get(pk=delivery.pk), "route_id")
        assert [stored(stop, "delivery_id") for stop in written.stops.all()] == [
            stored(stop, "delivery_id") for stop in delivery.stops.all()
        ]

    def test_writes_what_save_writes(self):
        tariff = TariffFactory.create()
        copy = Tariff.objects.get(pk=tariff.pk)
        copy.pk, tariff.active = None, False
        tariff.save()

        insert_together(copy)

        assert stored(Tariff.objects.latest("pk"), "active") == stored(Tariff.objects.get(pk=tariff.pk), "active")

    def test_writes_null_for_none_as_each_field_does(self):
        fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]

        assert [field for field in fields if field.get_db_prep_save(None, connection) is not None] == []

    def test_writes_text_as_each_field_of_text_does(self):
        fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]
        texts = [field for field in fields if isinstance(field, CharField | TextField)]

        assert [field for field in texts if field.get_db_prep_save(" É ", connection) != " É "] == []

    def test_leaves_rows_that_can_be_saved_again(self):
        shop, before = Integrator(name="A"), timezone.now()

        insert_together(shop, PickupPoint(integrator=shop, name="P", latitude=-23.5, longitude=-46.6))
        shop.name = "B"
        shop.save()

        saved = Integrator.objects.get()
        assert saved.name == "B"
        assert before <= saved.created_at <= timezone.now()  # which the field sets when it is inserted
        assert PickupPoint.objects.get().radius_m == 150

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


class TestInsertUnlessThere:
    def test_writes_a_row_that_is_not_there(self):
        tariff = TariffFactory.create()
        copy = Tariff.objects.get(pk=tariff.pk)
        copy.pk, copy.active, copy._state.adding = tariff.pk + 7, False, True

        assert insert_unless_there(copy)
        assert stored(Tariff.objects.get(pk=copy.pk)) == stored(copy)
        assert not copy._state.adding

    def test_leaves_one_that_is_there(self):
        tariff = TariffFactory.create(active=True)
        tariff.active = False

        assert not insert_unless_there(tariff)
        assert Tariff.objects.get().active


class TestUpdateRow:
    def test_writes_every_column_of_one_row(self, django_assert_num_queries):
        connected = shop()
        for number in ("1", "2"):
            post(connected, order(shipping={"number": number}))
        first, second = Draft.objects.order_by("created_at")
        before, own = columns(second), {"id": first.pk, "order_id": first.order_id}
        copied = {**before, "missing": ["a", "b"], "price": Decimal("9.90"), **own}
        for name, value in copied.items():
            setattr(first, name, value)

        with django_assert_num_queries(1):
            update_row(first)

        assert columns(Draft.objects.get(pk=first.pk)) == copied
        assert columns(Draft.objects.get(pk=second.pk)) == before

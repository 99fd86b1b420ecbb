"""A compiled query finds what its queryset finds, with other values at each execution, from any thread."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Q, Value
from django.db.models.functions import Upper
from django.utils import timezone

from common.compiled_queries import CompiledQuery, Parameter
from delivery.models import Delivery, Tariff, Token
from tests.factories import DeliveryFactory, TariffFactory, TokenFactory

pytestmark = pytest.mark.django_db

BY_NAME = CompiledQuery(
    lambda: Token.objects.filter(integrator__name=Parameter("name")).select_related("integrator").order_by("pk")
)
BY_ID = CompiledQuery(lambda: Delivery.objects.filter(pk=Parameter("id")).select_related("driver"))


def columns(item):
    return {field.attname: getattr(item, field.attname) for field in item._meta.concrete_fields}


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

    def test_reads_json_as_the_queryset_does(self):
        delivery = DeliveryFactory.create(stops=2)

        found = BY_ID.first(id=delivery.pk)

        assert columns(found) == columns(Delivery.objects.get(pk=delivery.pk))
        assert found is not None
        assert found.packages == delivery.packages

    def test_reads_related_objects_in_the_same_statement(self, django_assert_num_queries):
        token = TokenFactory.create(integrator__name="A")

        with django_assert_num_queries(1):
            (found,) = BY_NAME.all(name="A")
            assert found.integrator.name == "A"

        assert columns(found.integrator) == columns(token.integrator)

    def test_has_none_where_a_related_object_is_missing(self, django_assert_num_queries):
        delivery = DeliveryFactory.create()

        found = BY_ID.first(id=delivery.pk)

        assert found is not None
        with django_assert_num_queries(0):
            assert found.driver is None

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

    def test_takes_new_values_at_each_execution(self):
        first, second = TokenFactory.create(integrator__name="A"), TokenFactory.create(integrator__name="B")

        assert [BY_NAME.all(name=name) for name in ("A", "B", "C")] == [[first], [second], []]

    def test_takes_values_as_values_and_not_as_sql(self):
        token = TokenFactory.create(integrator__name="' OR TRUE --%s")

        assert BY_NAME.all(name="' OR TRUE --%s") == [token]
        assert BY_NAME.all(name="' OR TRUE --") == []

    def test_compares_moments_and_null(self):
        now = timezone.now()
        token = TokenFactory.create()
        Token.objects.update(expires_at=now)
        query = CompiledQuery(
            lambda: Token.objects.filter(Q(expires_at=None) | Q(expires_at__gt=Parameter("at")), revoked_at=None)
        )

        assert query.all(at=now - timedelta(seconds=1)) == [token]
        assert query.all(at=now) == []

    def test_refuses_a_missing_value(self):
        with pytest.raises(KeyError, match="name"):
            BY_NAME.all()

    @pytest.mark.django_db(transaction=True)
    def test_is_compiled_by_threads_at_once(self, at_once):
        tokens = [TokenFactory.create(integrator__name=name) for name in "ABCDEFGH"]
        query = CompiledQuery(
            lambda: Token.objects.filter(integrator__name=Parameter("name")).select_related("integrator")
        )

        found = at_once(*[lambda token=token: query.all(name=token.integrator.name) for token in tokens])

        assert found == [[token] for token in tokens]

"""Carriers, and who carries which order."""

from functools import partial

import pytest
from django.core.exceptions import ValidationError
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from integration.carriers import actions as carriers
from integration.errors import CarrierInactive, CarrierNotFound, TooManyKeys
from integration.models import Assignment, Carrier, CarrierKey, CarrierRule, Order
from tests.cases import in_turn
from tests.integration.factories import BY, assign, create_order, make_carrier, order_body
from tests.overlapping import overlap

SAO_PAULO, CAMPINAS, SALVADOR = "01310100", "13010001", "40020000"


@pytest.fixture
def carrier(db):
    return make_carrier()[0]


def to(postcode):
    receiver = order_body()["receiver"]
    return {**receiver, "address": {**receiver["address"], "zipCode": postcode}}


class TestKeys:
    def test_are_not_issued_to_an_inactive_carrier(self, carrier):
        Carrier.objects.update(active=False)

        with pytest.raises(CarrierInactive):
            carriers.issue_key(carrier=carrier, by=BY, at=timezone.now())
        assert CarrierKey.objects.count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_are_no_more_than_allowed(self, carrier, monkeypatch):
        monkeypatch.setattr(carriers, "MOST_VALID", 2)
        issue = partial(carriers.issue_key, carrier=carrier, by=BY, at=timezone.now())
        carriers.revoke_key(key=issue()[0], by=BY, at=timezone.now())
        carriers.issue_key(carrier=make_carrier("Total")[0], by=BY, at=timezone.now())  # whose keys are not counted

        results = overlap(issue, issue)

        assert isinstance(results[1], TooManyKeys)
        assert carrier.keys.filter(revoked_at=None).count() == 2


class TestName:
    @pytest.mark.parametrize("name", ["", "Jadlog", "www.example.com", "a\nb"])
    def test_is_one_of_its_own(self, carrier, name):
        with pytest.raises(ValidationError):
            carriers.open_(name=name, by=BY)


class TestFind:
    @in_turn("text", ["", "0", "x", "9" * 30, "²"])
    def test_refuses_what_is_no_id_of_a_carrier(self, carrier, text):
        with pytest.raises(CarrierNotFound):
            carriers.find(text)


class TestAssign:
    def test_writes_who_did_it_for_each_order_that_changes(self, seller, carrier):
        first, second, third = (create_order(seller, orderId=code) for code in ("A-1", "A-2", "A-3"))
        assign(carrier, first)

        changed = assign(carrier, first, second, third)

        assert changed == [second, third]
        assert [order.carrier for order in Order.objects.all()] == [carrier] * 3
        rows = Assignment.objects.order_by("pk").values_list("order", "carrier", "assigned_by")
        assert [*rows] == [(order.pk, carrier.pk, BY) for order in (first, second, third)]

    def test_takes_an_order_from_its_carrier(self, seller, carrier):
        order = create_order(seller)
        assign(carrier, order)

        taken = [assign(None, order) for _time in range(2)]

        order.refresh_from_db()
        assert (taken, order.carrier) == ([[order], []], None)
        assert [row.carrier for row in order.assignments.all()] == [carrier, None]

    def test_may_be_to_an_active_carrier_or_its_own(self, seller, carrier):
        order, (active, _key) = create_order(seller), make_carrier("Loggi")
        make_carrier("Total")
        assign(carrier, order)
        Carrier.objects.exclude(pk=active.pk).update(active=False)
        order.refresh_from_db()

        assert [*order.possible_carriers] == [carrier, active]

    def test_refuses_an_inactive_carrier(self, seller, carrier):
        order = create_order(seller)
        carrier.active = False

        with pytest.raises(CarrierInactive):
            assign(carrier, order)
        assert not Assignment.objects.exists()

    def test_takes_three_statements_for_any_number_of_orders(self, seller, carrier):
        made = [create_order(seller, orderId=f"A-{number}") for number in range(5)]

        with CaptureQueriesContext(connection) as captured:
            assign(carrier, *made)

        assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) == 3

    @pytest.mark.django_db(transaction=True)
    def test_is_written_once_by_two_at_once(self, seller, carrier):
        order = create_order(seller)
        call = partial(assign, carrier, order)

        assert overlap(call, call) == [[order], []]

        assert Assignment.objects.count() == 1

    def test_is_kept(self, seller, carrier):
        assign(carrier, create_order(seller))

        for change in (Assignment.objects.all().delete, partial(Assignment.objects.update, assigned_by="x")):
            with pytest.raises(ProgrammingError), transaction.atomic():
                change()


class TestRules:
    @pytest.fixture
    def rules(self, db):
        """Carriers by what their rules say."""
        conditions = {
            "every order": {},
            "next": {"service": "next"},
            "capitals": {"region": "capital"},
            "SP": {"state": "SP"},
            "SP next": {"state": "SP", "service": "next"},
        }
        for name, values in conditions.items():
            CarrierRule.objects.create(carrier=make_carrier(name)[0], **values)

    @pytest.mark.parametrize(
        ("postcode", "service", "name"),
        [
            (SAO_PAULO, "base", "SP"),
            (CAMPINAS, "next", "SP next"),
            (SALVADOR, "next", "capitals"),
            ("42700001", "next", "next"),
            ("42700001", "turbo", "every order"),
            ("00000000", "base", "every order"),
        ],
    )
    def test_assign_a_new_order_by_the_most_exact_one(self, seller, rules, postcode, service, name):
        order = create_order(seller, receiver=to(postcode), service=service)

        order.refresh_from_db()
        assert str(order.carrier) == name
        assert order.assignments.get().assigned_by == "rule of assignment"

    def test_of_an_inactive_carrier_do_not_hold(self, seller, rules):
        Carrier.objects.filter(name="SP").update(active=False)

        create_order(seller, receiver=to(SAO_PAULO))

        assert str(Order.objects.get().carrier) == "capitals"

    def test_do_not_hold_for_test_orders(self, seller, rules):
        create_order(seller, "sandbox")

        assert Order.objects.get().carrier is None

    def test_leave_a_new_order_alone_if_there_is_none(self, seller):
        create_order(seller)

        assert Order.objects.get().carrier is None
        assert not Assignment.objects.exists()

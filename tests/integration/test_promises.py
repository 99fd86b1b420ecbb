"""Constraints and triggers of the database."""

from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.utils import timezone

from integration.actions import orders
from integration.freight.calculation import Parameters
from integration.freight.models import _RANGES, FreightParameters
from integration.invoices.models import InvoiceChange
from integration.lifecycle import Status
from integration.models import Company, Order, StatusLog
from tests.integration.factories import BY, create_order, nfe_xml, send_invoice

REFUSED = (ProgrammingError, IntegrityError)  # a trigger's refusal and a constraint's


@pytest.fixture
def order(seller):
    return create_order(seller)


class TestStatusLog:
    @pytest.mark.parametrize("change", [{"status": "delivered"}, {"via_api": False}])
    def test_cannot_be_changed(self, order, change):
        with pytest.raises(REFUSED), transaction.atomic():
            StatusLog.objects.update(**change)

    def test_cannot_be_deleted(self, order):
        with pytest.raises(REFUSED), transaction.atomic():
            StatusLog.objects.all()._raw_delete("default")

        assert StatusLog.objects.count() == 1


class TestOrder:
    @pytest.mark.parametrize("is_pending", [True, False])
    def test_cannot_be_rewritten_but_for_corrections_while_it_waits(self, order, is_pending):
        changes: dict[str, Any] = {"code": "B", "tracking_code": "T"}
        if not is_pending:
            orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())
            changes |= {"cost": 1, "receiver": {}, "items": [], "service": "x", "stated_volumes": 2, "invoice_data": {}}

        for name, value in changes.items():
            with pytest.raises(REFUSED), transaction.atomic():
                Order.objects.update(**{name: value})

    def test_cannot_be_deleted_although_nothing_is_about_it(self, seller):
        order = Order.objects.create(
            seller=seller, company=seller.companies.get(), items=[], receiver={}, cost=1, created_at=timezone.now()
        )

        with pytest.raises(REFUSED, match="Cannot delete rows"), transaction.atomic():
            Order.objects.filter(pk=order.pk)._raw_delete("default")


class TestInvoiceChange:
    @pytest.fixture
    def change(self, seller):
        create_order(seller)
        return send_invoice(seller, nfe_xml().encode()).changes.get()

    def test_can_neither_be_changed_nor_deleted(self, change):
        for act in (
            lambda: InvoiceChange.objects.update(by="x"),
            lambda: InvoiceChange.objects.update(text="x"),
            lambda: InvoiceChange.objects.all()._raw_delete("default"),
        ):
            with pytest.raises(REFUSED), transaction.atomic():
                act()

        assert InvoiceChange.objects.get() == change


class TestFreightParameters:
    def test_are_refused_out_of_range(self, tariff):
        below, above = ({name: limits[end] + by for name, limits in _RANGES.items()} for end, by in ((0, -1), (1, 1)))
        others = [("max_weight_g", 999), ("remote_states", ["ac"]), ("remote_states", ["AC", "XX"])]

        for name, value in [*below.items(), *above.items(), *others, ("quote_service", "turbo")]:
            with pytest.raises(IntegrityError, match="check constraint"), transaction.atomic():
                FreightParameters.objects.update(**{name: value})

        assert FreightParameters.current() == Parameters()

    def test_are_taken_up_to_the_ends_of_their_ranges(self, tariff):
        FreightParameters.objects.update(**{name: smallest for name, (smallest, _largest) in _RANGES.items()})
        FreightParameters.objects.update(**{name: largest for name, (_smallest, largest) in _RANGES.items()})

        assert FreightParameters.current().handling_days == 365

    def test_have_one_row(self, tariff):
        row = FreightParameters.objects.get()
        row.pk = 2

        with pytest.raises(IntegrityError, match="freight_parameters_one_row"), transaction.atomic():
            row.save(force_insert=True)

    def test_have_defaults_without_a_row(self, db):
        FreightParameters.objects.all().delete()

        assert FreightParameters.current() == Parameters()


class TestCompany:
    # pragma: allowlist nextline secret  # a company's number
    @pytest.mark.parametrize("document", ["11.222.333/0001-81", "12abc34501de35", "1", ""])
    def test_is_kept_compact(self, seller, document):
        with pytest.raises(REFUSED), transaction.atomic():
            Company.objects.create(seller=seller, document=document[:14])

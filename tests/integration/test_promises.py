"""What the database keeps, whatever the code does."""

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from integration.models import Company, FreightParameter, Order, StatusLog
from tests.integration.factories import create_order

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
    @pytest.mark.parametrize("change", [{"code": "B"}, {"cost": 1}, {"receiver": {}}, {"tracking_code": "T"}])
    def test_cannot_be_rewritten(self, order, change):
        with pytest.raises(REFUSED), transaction.atomic():
            Order.objects.update(**change)


class TestFreightParameter:
    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("max_weight_g", "-1"), ("max_weight_g", "１"), ("cubic_divisor_cm3_per_kg", "0"), ("gris_bp", "a"),
            ("remote_ufs", "ac"), ("quote_service", "turbo"), ("unknown", "1"),
        ],
    )  # fmt: skip  # a list of cases
    def test_is_always_readable(self, db, name, value):
        FreightParameter.objects.all().delete()

        with pytest.raises(REFUSED), transaction.atomic():
            FreightParameter.objects.create(name=name, value=value)

    def test_has_a_default_without_a_row(self, db):
        FreightParameter.objects.all().delete()

        assert FreightParameter.objects.all().terms().max_weight_g == 30_000


class TestCompany:
    # pragma: allowlist nextline secret  # a company's number
    @pytest.mark.parametrize("document", ["11.222.333/0001-81", "12abc34501de35", "1", ""])
    def test_is_kept_compact(self, seller, document):
        with pytest.raises(REFUSED), transaction.atomic():
            Company.objects.create(seller=seller, document=document[:14])

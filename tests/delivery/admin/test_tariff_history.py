import pytest
from django.urls import reverse

from common.row_history import Difference, compare
from delivery.models import Tariff, TariffChange
from tests.delivery.admin.test_tariff_import import HEADER, confirm, upload
from tests.factories import IntegratorFactory, TariffFactory

LIST = "admin:delivery_tariffchange_changelist"


@pytest.fixture
def own(db):
    return TariffFactory.create(integrator=IntegratorFactory.create(name="Padaria Sol"))


class TestTariffHistory:
    def test_records_an_import(self, admin_client, own):
        confirm(admin_client, upload(admin_client, f"{HEADER}moto;Padaria Sol;9,90;2,00;30;20\n"))

        change = TariffChange.objects.latest("pk")
        compare([change])
        assert (change.pgh_label, change.made_by, change.pgh_obj_id) == ("changed", "user admin", own.pk)
        assert Difference("base fare", "R$ 10.00", "R$ 9.90", -1) in change.differences

    def test_names_account_and_vehicle(self, admin_client, own):
        Tariff.objects.filter(pk=own.pk).update(price_per_km=3)
        TariffFactory.create()

        page = admin_client.get(reverse(LIST), {"vehicle_type": "MOTORCYCLE"}).content.decode()

        assert "Motorcycle, Padaria Sol" in page
        assert "Motorcycle, all accounts" in page
        assert "<del>R$ 2.00</del> → <ins>R$ 3.00</ins>" in " ".join(page.split())

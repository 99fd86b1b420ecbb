"""Tariffs of deliveries as CSV. What all tables share is tested with freight rates, in tests/integration/admin."""

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.urls import reverse

from delivery.models import Tariff
from tests.factories import IntegratorFactory, TariffFactory

HEADER = "tipo de veículo;conta;tarifa base (R$);preço por km (R$);máximo de km;máximo de kg\n"


def url(page):
    return reverse(f"admin:delivery_tariff_{page}")


def upload(client, text):
    return client.post(
        url("import"), {"import_file": File("t.csv", text.encode())}, headers={"Accept-Language": "pt-BR"}
    )


def confirm(client, preview):
    return client.post(url("import"), preview.context["previewed"].initial)


@pytest.fixture
def general(db):
    return TariffFactory.create()


def test_changes_the_active_tariff_and_adds_one_for_an_account(admin_client, general):
    inactive = Tariff.objects.get(pk=general.pk)
    inactive.pk, inactive.active, inactive.base_fare = None, False, 1
    inactive.save()
    shop = IntegratorFactory.create(name="Padaria Sol")
    text = f"{HEADER}MOTORCYCLE;;9,90;2,50;30;20\nmoto;Padaria Sol;8,00;2,00;30;20\n"

    preview = upload(admin_client, text)
    confirm(admin_client, preview)

    assert preview.context["plan"].counts == {"new": 1, "changed": 1, "unchanged": 0}
    changed, own = Tariff.objects.get(pk=general.pk), Tariff.objects.get(integrator=shop)
    assert (changed.base_fare, changed.price_per_km) == (Decimal("9.90"), Decimal("2.50"))
    assert own.active
    assert [own.base_fare, own.included_km, own.return_share] == [Decimal(8), Decimal(0), Decimal(1)]
    assert Tariff.objects.get(pk=inactive.pk).base_fare == 1


def test_of_its_own_export_changes_nothing(admin_client, general):
    TariffFactory.create(integrator=IntegratorFactory.create(name="=HYPERLINK(1)"), return_share=Decimal("0.500"))
    export = admin_client.get(url("export"), headers={"Accept-Language": "pt-BR"}).getvalue().decode("utf-8-sig")

    preview = upload(admin_client, export)

    assert "'=HYPERLINK(1)" in export
    assert preview.context["plan"].counts == {"new": 0, "changed": 0, "unchanged": 2}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("MOTORCYCLE;Ninguém;1;1;1;1\n", "Linha 2, conta: não há conta com o nome 'Ninguém'"),
        ("MOTORCYCLE;Dupla;1;1;1;1\n", "Linha 2, conta: várias contas se chamam 'Dupla'"),
        ("bicicleta;;1;1;1;1\n", "Linha 2, tipo de veículo: 'bicicleta' não é nenhum de: "),
        ("MOTORCYCLE;;1;1;1;99999,00\n", "Linha 2, máximo de kg: "),
        ("MOTORCYCLE;;-1;1;1;1\n", "Linha 2, tarifa base: "),
    ],
)
def test_names_what_is_wrong(admin_client, general, row, fault):
    for _number in range(2):
        IntegratorFactory.create(name="Dupla")
    before = list(Tariff.objects.values_list())

    response = upload(admin_client, HEADER + row)

    assert fault in " ".join(map(str, response.context["plan"].faults))
    assert list(Tariff.objects.values_list()) == before

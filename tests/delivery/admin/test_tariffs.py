"""Tariffs of deliveries: as CSV, and their history. What all tables share is tested in tests/integration/admin."""

from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.urls import reverse

from delivery.models import Tariff
from tests.cases import in_turn
from tests.factories import IntegratorFactory, TariffFactory
from tests.previews import preview_of, save

HEADER = "tipo de veículo;conta;tarifa base (R$);preço por km (R$);máximo de km;máximo de kg\n"


def url(page):
    return reverse(f"admin:delivery_tariff_{page}")


def upload(client, text):
    data = {"format": "0", "import_file": File("t.csv", text.encode())}
    return client.post(url("import"), data, headers={"Accept-Language": "pt-BR"})


def confirm(client, preview):
    return client.post(url("process_import"), preview.context["confirm_form"].initial)


def counts(preview):
    totals = preview.context["result"].totals
    return [totals[kind] for kind in ("new", "update", "skip", "invalid")]


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

    assert counts(preview) == [1, 1, 0, 0]
    changed, own = Tariff.objects.get(pk=general.pk), Tariff.objects.get(integrator=shop)
    assert (changed.base_fare, changed.price_per_km) == (Decimal("9.90"), Decimal("2.50"))
    assert own.active
    assert [own.base_fare, own.included_km, own.return_share] == [Decimal(8), Decimal(0), Decimal(1)]
    assert Tariff.objects.get(pk=inactive.pk).base_fare == 1


@in_turn(
    ("row", "column", "fault"),
    [
        ("MOTORCYCLE;Ninguém;1;1;1;1\n", "conta", "não há conta com o nome 'Ninguém'"),
        (
            "MOTORCYCLE;Dupla;1;1;1;1\n",
            "conta",
            "várias contas se chamam 'Dupla'; edite as tarifas delas no admin",
        ),
        ("bicicleta;;1;1;1;1\n", "tipo de veículo", "'bicicleta' não é nenhum de: "),
        ("MOTORCYCLE;;1;1;1;99999,00\n", "peso máximo (kg)", "De 0 a 9.999."),
        ("MOTORCYCLE;;-1;1;1;1\n", "tarifa base (R$)", "De 0 a 999.999."),
        ("MOTORCYCLE;;;1;1;1\n", "tarifa base (R$)", "Este campo não pode ser nulo."),
    ],
)
def test_names_what_is_wrong(admin_client, general, row, column, fault):
    for _number in range(2):
        IntegratorFactory.create(name="Dupla")
    before = list(Tariff.objects.values_list())

    (wrong,) = upload(admin_client, HEADER + row).context["result"].invalid_rows

    assert (wrong.number, list(wrong.field_specific_errors)) == (2, [column])
    assert fault in wrong.field_specific_errors[column][0]
    assert list(Tariff.objects.values_list()) == before


def test_needs_the_column_of_the_account(admin_client, general):
    (fault,) = (
        upload(admin_client, HEADER.replace("conta;", "") + "moto;1;1;1;1\n").context["form"].errors["import_file"]
    )

    assert fault == "Faltam colunas: conta."


class TestTariffHistory:
    def test_names_account_and_vehicle(self, admin_client):
        own = TariffFactory.create(integrator=IntegratorFactory.create(name="Padaria Sol"))
        Tariff.objects.filter(pk=own.pk).update(price_per_km=3)
        TariffFactory.create()

        page = admin_client.get(
            reverse("admin:pghistory_events_changelist"), {"pgh_obj_model": "delivery.Tariff"}
        ).content.decode()

        assert "Motorcycle, Padaria Sol" in page
        assert "Motorcycle, all accounts" in page
        assert "<del>R$ 2.00</del> → <ins>R$ 3.00</ins>" in " ".join(page.split())


class TestPreview:
    @pytest.fixture
    def fields(self, general):
        """What the form of the general tariff sends."""
        figures = {each.name: getattr(general, each.name) for each in Tariff._meta.fields if hasattr(each, "unit")}
        texts = {name: "" if value is None else str(value) for name, value in figures.items()}
        return {**texts, "vehicle_type": general.vehicle_type, "active": "on"}

    def test_is_shown_before_anything_is_saved(self, admin_client, general, fields):
        edited = {**fields, "base_fare": "100", "maximum_km": "7"}

        shown = preview_of(admin_client, reverse("admin:delivery_tariff_change", args=[general.pk]), edited)

        near, far, _back = shown.examples
        assert [each.name for each in shown.change.differences] == ["base fare", "maximum distance"]
        assert near.rise > 100
        assert far.new == "not served"
        assert Tariff.objects.get().base_fare == general.base_fare

    def test_has_what_failures_cost_of_the_first_example(self, admin_client, general, fields):
        edited = {**fields, "retry_percent": "12.5"}

        shown = preview_of(admin_client, reverse("admin:delivery_tariff_change", args=[general.pk]), edited)

        retry = shown.examples[-1]
        assert [each.name for each in shown.change.differences] == ["second attempt"]
        assert (retry.name, retry.old, retry.new) == ("3 km, one drop-off: second attempt", "R$ 0.00", "R$ 1.50")

    @pytest.mark.parametrize("name", ["base_fare", "maximum_kg"])  # the latter changes no example
    def test_is_what_is_saved(self, admin_client, general, fields, name):
        page = reverse("admin:delivery_tariff_change", args=[general.pk])
        of_another = preview_of(admin_client, page, {**fields, name: "50"}).digest

        again = admin_client.post(page, {**fields, name: "60", "previewed": of_another})
        before = getattr(Tariff.objects.get(), name)
        saved = save(admin_client, page, {**fields, name: "60"})

        assert (again.status_code, before) == (200, getattr(general, name))
        assert (saved.status_code, getattr(Tariff.objects.get(), name)) == (302, 60)

    def test_of_an_accounts_tariff_that_ends_compares_it_with_the_general_one(self, admin_client, general, fields):
        own = TariffFactory.create(integrator=IntegratorFactory.create(), base_fare=50)
        ended = {**fields, "integrator": own.integrator_id, "base_fare": "50"}
        del ended["active"]

        shown = preview_of(admin_client, reverse("admin:delivery_tariff_change", args=[own.pk]), ended)

        near, *_others = shown.examples
        assert (near.old, near.new) == ("R$ 52.00", "R$ 12.00")

    def test_of_an_accounts_first_tariff_compares_it_with_the_general_one(self, admin_client, general, fields):
        shop = IntegratorFactory.create()
        own = {**fields, "integrator": shop.pk, "base_fare": str(general.base_fare + 1)}

        shown = preview_of(admin_client, url("add"), own)

        assert shown.change.differences == []
        assert all(each.old != each.new for each in shown.examples)
        again = admin_client.post(url("add"), {**own, "base_fare": "60", "previewed": shown.digest})
        assert (again.status_code, Tariff.objects.get()) == (200, general)  # other examples, which were not seen

    @in_turn(
        ("changed", "count"),
        [
            ({}, 2),  # those without a tariff of their own
            ({"vehicle_type": "CAR"}, 3),  # and those that get one for cars
            ({"active": ""}, 2),
        ],
    )
    def test_counts_the_accounts_that_have_the_tariff_now_or_then(self, admin_client, general, fields, changed, count):
        own = TariffFactory.create(integrator=IntegratorFactory.create())
        with_an_ended_one, _another = IntegratorFactory.create_batch(2)
        TariffFactory.create(integrator=with_an_ended_one, active=False)
        edited = {**fields, "base_fare": "50"}

        of_all, of_one = (
            preview_of(admin_client, reverse("admin:delivery_tariff_change", args=[tariff.pk]), sent)
            for tariff, sent in [
                (general, {**edited, **changed}),
                (own, {**edited, "integrator": own.integrator_id}),
            ]
        )

        assert of_all.concerned == f"It concerns {count} accounts."
        assert of_one.concerned == "It concerns 1 account."

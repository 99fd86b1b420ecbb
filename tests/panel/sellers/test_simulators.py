"""The simulator of freights shows the prices of the API, and how they come about."""

import pytest
from django.urls import reverse
from django.utils import translation

from integration.freight.models import FreightParameters, FreightRate
from panel.templatetags.orders import kilograms
from tests.cases import in_turn
from tests.integration.factories import key_of, load_tariff

SHIPMENT = {"origin": "01310-100", "destination": "40020-000"}


@pytest.fixture
def tariff(db):
    load_tariff()


@pytest.fixture
def page(shop):
    return reverse("panel:seller_simulator", args=[shop.seller.pk, "live"])


class TestFreight:
    @pytest.mark.parametrize(
        ("typed", "sent"),
        [
            ({}, {}),
            ({"weight": "2,5", "declared": "1.234,50"}, {"weight": 2.5, "amount": 123450}),
            ({"weight": "1", "length": "60", "width": "50", "height": "40"}, {"weight": 1, "cube": (60, 50, 40)}),
        ],
        ids=["assumed weight", "declared value", "cubed weight"],
    )
    def test_shows_the_price_of_the_api(self, staff, page, shop, tariff, client, typed, sent):
        body = {"origin": "01310100", "destination": "40020000"}
        if "weight" in sent:
            body["weight"] = sent["weight"]
        if "amount" in sent:
            body["declared_amount"] = sent["amount"]
        if "cube" in sent:
            body |= dict(zip(("length", "width", "height"), map(str, sent["cube"]), strict=True))
        answer = client.post(
            "/api/integration/shipping/services",
            body,
            content_type="application/json",
            headers={"Authorization": f"Basic {key_of(shop.seller)}"},
        ).json()

        services = staff.get(page, {**SHIPMENT, **typed}).context["services"]

        shown = [(charges.price.amount, charges.price.deadline) for _service, charges, _rate in services]
        assert shown == [(service["amount"], service["deadline"]) for service in answer["data"]]

    def test_shows_parts_zone_weights_and_the_row_of_the_table(self, staff, page, tariff):
        FreightParameters.objects.update(handling_days=2, gris_bp=30)
        rate = FreightRate.objects.get(service="economy", zone="mid", origin_kind="capital", destination_kind="capital")
        rates = FreightRate.objects.filter(zone="mid")
        rates.update(base_centavos=3000, extra_kg_centavos=500, deadline_days=6)

        response = staff.get(page, {**SHIPMENT, "weight": "2,2", "declared": "1050"})

        (_service, charges, used), _express = response.context["services"]
        assert response.context["explanation"].zone == "mid"
        assert used == rate
        assert (charges.real_g, charges.cubed_g, charges.charged_g) == (2200, 0, 3000)
        assert (charges.base, charges.further_steps, charges.minimum) == (3000, 1000, 0)
        assert (charges.ad_valorem, charges.gris) == (1000, 315)
        assert charges.price.amount == 5315
        shown = response.content.decode()
        assert "São Paulo/SP → " in shown
        assert reverse("admin:integration_freightrate_change", args=[rate.pk]) in shown
        assert "6 on the way, 2 to prepare the shipment" in shown

    def test_says_what_the_tariff_does_not_serve(self, staff, page, tariff):
        FreightRate.objects.filter(service="express").delete()

        response = staff.get(page, SHIPMENT)

        assert [charges is None for _service, charges, _rate in response.context["services"]] == [False, True]
        assert "no price for this service from this origin" in response.content.decode()

    @in_turn(
        ("field", "value", "fault"),
        [
            ("origin", "0131", "A CEP has eight digits."), ("origin", "00000-000", "No region has this CEP"),
            ("weight", "heavy", "&#x27;heavy&#x27; is not a number"), ("weight", "0", "More than 0, or empty."),
            ("declared", "1.234", "can be read in two ways"), ("length", "-1", "From 0 to 10,000."),
            ("declared", "9" * 31, "at most 30 characters"),
        ],
    )  # fmt: skip  # a table
    def test_names_the_field_that_is_wrong(self, staff, page, tariff, field, value, fault):
        response = staff.get(page, {**SHIPMENT, field: value})

        assert list(response.context["form"].errors) == [field]
        assert fault in response.content.decode()

    def test_says_how_extra_kilograms_are_counted_and_that_nothing_was_measured(self, staff, page, tariff):
        rates = FreightRate.objects.filter(zone="mid")
        rates.update(base_centavos=3000, extra_kg_centavos=1150)

        shown = " ".join(staff.get(page, {**SHIPMENT, "weight": "2,5"}).content.decode().split())

        assert "2 × R$ 11.50" in shown
        assert "rounded up; no dimensions" in shown
        assert 'value="2.5"' in shown

    def test_says_that_it_is_too_heavy(self, staff, page, tariff):
        assert "over the maximum of the tariff" in staff.get(page, {**SHIPMENT, "weight": "31"}).content.decode()

    def test_is_there_for_a_seller_without_links_to_the_admin(self, member, page, tariff):
        response = member.get(page, SHIPMENT)

        assert len(response.context["services"]) == 2
        assert "/admin/" not in response.content.decode()


@pytest.mark.parametrize(("grams", "text"), [(30_000, "30 kg"), (2500, "2.5 kg"), (1, "0.001 kg"), (0, "0 kg")])
def test_weights_are_written_without_trailing_zeros(grams, text):
    with translation.override("en"):
        assert kilograms(grams) == text

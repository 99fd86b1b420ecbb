"""The simulators show the prices of the APIs, and how they come about."""

from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import translation

from integration.models import FreightParameters, FreightRate
from panel.templatetags.orders import kilograms
from tests.factories import IntegratorFactory, TariffFactory, payload
from tests.integration.factories import key_of, load_tariff

FREIGHT = reverse("panel:freight_simulator")
DELIVERY = reverse("panel:delivery_simulator")
BY_DISTANCE = {"way": "distance", "vehicle_type": "MOTORCYCLE"}
BY_POINTS = {"way": "points", "vehicle_type": "MOTORCYCLE"}
SHIPMENT = {"origin": "01310-100", "destination": "40020-000"}


@pytest.fixture
def tariff(db):
    load_tariff()


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
    def test_shows_the_price_of_the_api(self, staff, shop, tariff, client, typed, sent):
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

        services = staff.get(FREIGHT, {**SHIPMENT, **typed}).context["services"]

        shown = [(charges.price.amount, charges.price.deadline) for _service, charges, _rate in services]
        assert shown == [(service["amount"], service["deadline"]) for service in answer["data"]]

    def test_shows_parts_zone_weights_and_the_row_of_the_table(self, staff, tariff):
        FreightParameters.objects.update(handling_days=2, gris_bp=30)
        rate = FreightRate.objects.get(service="economy", zone="mid", origin_kind="capital", destination_kind="capital")
        rates = FreightRate.objects.filter(zone="mid")
        rates.update(base_centavos=3000, extra_kg_centavos=500, deadline_days=6)

        response = staff.get(FREIGHT, {**SHIPMENT, "weight": "2,2", "declared": "1050"})

        (_service, charges, used), _express = response.context["services"]
        assert response.context["explanation"].zone == "mid"
        assert used == rate
        assert (charges.real_g, charges.cubed_g, charges.charged_g) == (2200, 0, 3000)
        assert (charges.base, charges.further_steps, charges.minimum) == (3000, 1000, 0)
        assert (charges.ad_valorem, charges.gris) == (1000, 315)
        assert charges.price.amount == 5315
        page = response.content.decode()
        assert "São Paulo/SP → " in page
        assert reverse("admin:integration_freightrate_change", args=[rate.pk]) in page
        assert "6 on the way, 2 to prepare the shipment" in page

    def test_says_what_the_tariff_does_not_serve(self, staff, tariff):
        FreightRate.objects.filter(service="express").delete()

        response = staff.get(FREIGHT, SHIPMENT)

        assert [charges is None for _service, charges, _rate in response.context["services"]] == [False, True]
        assert "no price for this service from this origin" in response.content.decode()

    @pytest.mark.parametrize(
        ("field", "value", "fault"),
        [
            ("origin", "0131", "A CEP has eight digits."), ("origin", "00000-000", "No region has this CEP"),
            ("weight", "heavy", "&#x27;heavy&#x27; is not a number"), ("weight", "0", "More than 0, or empty."),
            ("declared", "1.234", "can be read in two ways"), ("length", "-1", "From 0 to 10,000."),
            ("declared", "9" * 31, "at most 30 characters"),
        ],
    )  # fmt: skip  # a table
    def test_names_the_field_that_is_wrong(self, staff, tariff, field, value, fault):
        response = staff.get(FREIGHT, {**SHIPMENT, field: value})

        assert list(response.context["form"].errors) == [field]
        assert fault in response.content.decode()

    def test_says_how_extra_kilograms_are_counted_and_that_nothing_was_measured(self, staff, tariff):
        rates = FreightRate.objects.filter(zone="mid")
        rates.update(base_centavos=3000, extra_kg_centavos=1150)

        page = " ".join(staff.get(FREIGHT, {**SHIPMENT, "weight": "2,5"}).content.decode().split())

        assert "2 × R$ 11.50" in page
        assert "rounded up; no dimensions" in page
        assert 'value="2.5"' in page

    def test_says_that_it_is_too_heavy(self, staff, tariff):
        assert "over the maximum of the tariff" in staff.get(FREIGHT, {**SHIPMENT, "weight": "31"}).content.decode()

    def test_is_there_for_a_seller_without_links_to_the_admin(self, member, shop, tariff):
        response = member.get(reverse("panel:seller_simulator", args=[shop.seller.pk, "live"]), SHIPMENT)

        assert len(response.context["services"]) == 2
        assert "/admin/" not in response.content.decode()


class TestDelivery:
    def test_shows_the_price_of_the_api(self, staff, shop, client):
        body = payload(stops=2)
        answer = client.post(
            "/api/quotation-delivery",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {shop.token.clear_text}"},
        ).json()
        points = [body["pickup"]["address"], *(dropoff["address"] for dropoff in body["dropoffs"])]
        typed = {name: f"{point['latitude']}, {point['longitude']}" for name, point in zip("abc", points, strict=True)}

        fare = staff.get(DELIVERY, {**BY_POINTS, **typed}).context["explanation"].fare

        assert float(fare.value) == answer["shippingValue"]

    def test_shows_the_parts_of_the_price(self, staff, db):
        TariffFactory.create()

        query = {**BY_DISTANCE, "distance": "12,00", "stops": "2", "returning": "on"}
        explanation = staff.get(DELIVERY, query).context["explanation"]

        fare = explanation.fare
        assert (fare.base, fare.charged_km, fare.outbound) == (10, 10, 20)
        assert (fare.way_back, fare.extra_dropoffs, fare.minimum) == (12, 5, 0)
        assert fare.value == Decimal("47.00")

    def test_uses_the_accounts_own_tariff(self, staff, db):
        TariffFactory.create()
        own = TariffFactory.create(integrator=IntegratorFactory.create(name="Padaria Sol"), base_fare=99)

        query = {**BY_DISTANCE, "distance": "1", "account": "padaria sol"}
        response = staff.get(DELIVERY, query)

        assert response.context["explanation"].tariff == own
        assert "The account's own" in response.content.decode()

    def test_reads_links_of_maps(self, staff, db):
        TariffFactory.create()
        link = "https://www.google.com/maps/place/X/@-23.56,-46.65,17z/data=!3d-23.561414!4d-46.655881"

        coordinates = staff.get(DELIVERY, {**BY_POINTS, "a": "-23.561414, -46.655881", "b": "-23.6, -46.6"})
        linked = staff.get(DELIVERY, {**BY_POINTS, "a": link, "b": "-23.6, -46.6"})

        assert linked.context["explanation"] == coordinates.context["explanation"]

    @pytest.mark.parametrize(
        ("chosen", "ignored"),
        [
            ({**BY_DISTANCE, "distance": "3"}, {"a": "nowhere", "b": "-23.6, -46.6"}),
            ({**BY_POINTS, "a": "-23.5, -46.6", "b": "-23.6, -46.6"}, {"distance": "far"}),
        ],
    )
    def test_ignores_the_fields_of_the_other_way(self, staff, db, chosen, ignored):
        TariffFactory.create()

        plain, with_both = (staff.get(DELIVERY, query) for query in (chosen, {**chosen, **ignored}))

        assert with_both.context["explanation"] == plain.context["explanation"]

    def test_suggests_the_names_of_accounts(self, staff, db):
        IntegratorFactory.create(name="Padaria Sol")

        assert '<option value="Padaria Sol"></option>' in staff.get(DELIVERY).content.decode()

    def test_says_what_is_wrong(self, staff, db):
        TariffFactory.create()
        faults = [
            ({**BY_DISTANCE, "distance": "500"}, "serves up to"),
            ({**BY_DISTANCE, "distance": "1", "vehicle_type": "CAR"}, "No active tariff"),
            (BY_DISTANCE, "Enter the distance in km."),
            ({**BY_DISTANCE, "distance": "far"}, "&#x27;far&#x27; is not a number"),
            ({**BY_POINTS, "a": "-23.5,-46.6"}, "Click on the map, or paste coordinates or a link."),
            ({**BY_POINTS, "a": "-23.5,-46.6", "b": "here"}, "No coordinates were found in this text."),
            ({**BY_POINTS, "a": "-23.5,-46.6", "b": "-23.6,-46.6", "d": "-23.7,-46.6"}, "Fill in C before D."),
            ({**BY_DISTANCE, "distance": "1", "account": "Nobody"}, "No account has this name."),
            ({**BY_DISTANCE, "distance": "1", "vehicle_type": "TRUCK"}, "TRUCK is not one of the available choices"),
        ]

        for query, fault in faults:
            page = staff.get(DELIVERY, query)

            assert "explanation" not in page.context
            assert fault in page.content.decode()


@pytest.mark.parametrize(("grams", "text"), [(30_000, "30 kg"), (2500, "2.5 kg"), (1, "0.001 kg"), (0, "0 kg")])
def test_weights_are_written_without_trailing_zeros(grams, text):
    with translation.override("en"):
        assert kilograms(grams) == text


@pytest.mark.parametrize("path", ["delivery/tariff", "integration/freightrate"])
def test_the_lists_of_tariffs_lead_to_the_simulator(staff, tariff, path):
    assert "/panel/simulators/" in staff.get(f"/admin/{path}/").content.decode()

"""The freight that an order keeps."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.utils import timezone

from common.brazil import business_days
from integration.actions import orders
from integration.freight import quotes
from integration.freight.calculation import Package, Price
from integration.freight.models import FreightRate
from integration.lifecycle import WITH_REASON, Status
from integration.models import Company, Order
from tests.cases import in_turn
from tests.integration.factories import BY, create_order, order_body

# In São Paulo too.
TUESDAY = datetime(2026, 11, 24, 15, tzinfo=UTC)
_PARCELS = {
    "items": [
        {"description": "A", "dimensions": "10x20x30,1.25", "quantity": 2, "price": 10},
        {"description": "B", "dimensions": "40x30x20,0.5", "quantity": 1, "price": 10},
    ]
}


@pytest.fixture
def origin(seller, tariff):
    Company.objects.update(postcode="01310100")


def move(order, *statuses, at=TUESDAY):
    for status in statuses:
        order = orders.move(order=order, to=status, by=BY, at=at)
    return order


class TestFreightOfAnOrder:
    def test_is_the_quote_of_its_creation_for_its_service_parcels_and_value(self, seller, origin):
        address = {**order_body()["receiver"]["address"], "zipCode": "40020-000", "state": "BA"}
        receiver = {**order_body()["receiver"], "address": address}

        kept = {
            service: create_order(seller, orderId=service, service=service, receiver=receiver, **_PARCELS).freight
            for service in ("base", "next")
        }

        package = Package(weight_g=3000, width_cm=40, height_cm=30, length_cm=20, declared_centavos=15_000)
        prices = quotes.services(origin="01310100", destination="40020000", package=package)
        assert list(kept.values()) == list(prices.values())
        FreightRate.objects.update(base_centavos=1)
        assert Order.objects.get(code="base").freight == kept["base"]

    def test_is_that_of_one_volume_as_often_as_it_has_volumes(self, seller, origin):
        kept = create_order(seller, volumes=3, **_PARCELS).freight

        one = Package(weight_g=1000, width_cm=40, height_cm=30, length_cm=20, declared_centavos=5000)
        price = quotes.quote(origin="01310100", destination="01310100", package=one).price
        assert kept == Price(amount=3 * price.amount, deadline=price.deadline)

    @pytest.mark.parametrize("written", ["40.020-000", "40020 000", "40020.000", "40020-000"])
    def test_is_for_the_postcode_however_it_is_written(self, api, seller, origin, written):
        address = {**order_body()["receiver"]["address"], "zipCode": written, "state": "BA"}
        body = order_body(receiver={**order_body()["receiver"], "address": address})

        response = api.post("/api/integration/orders", body)

        shown = api.get("/api/integration/orders/A-1").json()["data"]
        assert [*response.json()] == ["success", "tracking_code"]
        assert shown["freight"]
        assert shown["receiver"]["address"]["zipCode"] == written
        label = api.get("/api/integration/orders/A-1/label", {"format": "zpl"}).content.decode()
        assert "^FDCEP 40020-000^FS" in label
        assert "^FD40020000^FS" in label

    def test_of_an_order_from_before_volumes_is_for_one(self, seller, origin):
        order = create_order(seller, **_PARCELS)
        order.stated_volumes = None  # the database refuses the change

        assert (order.package.weight_g, order.package.declared_centavos) == (3000, 15_000)

    def test_insures_the_value_of_the_invoice_instead_of_the_cost(self, seller, origin):
        made = [
            create_order(seller, orderId=str(value), invoice=None if value is None else {"value": value})
            for value in (None, 0, 1000)
        ]

        without, of_nothing, of_more = (order.freight.amount for order in made if order.freight)
        assert (without - of_nothing, of_more - without) == (100, 850)  # ad valorem of 1 %, 50 reais are free
        assert [order.package.declared_centavos for order in made] == [15_000, 0, 100_000]

    @in_turn(
        ("changes", "field", "reason", "text"),
        [
            ({"service": "turbo"}, "service", "no_coverage", "O serviço turbo não tem tarifa de frete"),
            ({"receiver.address.zipCode": "00000-000"}, "service", "no_coverage", "CEP 00000-000 sem cobertura"),
            ({"receiver.address.zipCode": "none"}, "service", "no_coverage", "CEP none sem cobertura"),
            ({"items.0.dimensions": "1x1x1,16"}, "volumes", "too_heavy", "Peso acima do limite de 30 kg"),
            ({"items.0.dimensions": "999999x999999x999999,1"}, "service", "no_coverage", "grandes demais"),
            (
                {"items.0.dimensions": "5000x5000x5000,1", "volumes": 99}, "service", "no_coverage", "grandes demais",
            ),  # by all volumes
        ],
    )  # fmt: skip  # a table
    def test_is_none_with_the_reason_where_the_tariff_has_no_price(
        self, api, seller, origin, changes, field, reason, text
    ):
        body = order_body()
        for path, value in changes.items():
            *parents, last = path.split(".")
            target: Any = body
            for part in parents:
                target = target[int(part)] if part.isdigit() else target[part]
            target[last] = value

        response = api.post("/api/integration/orders", body)

        assert response.status_code == 201
        warning = response.json()["warnings"][-1]
        assert (warning["code"], warning["message"].partition(": ")[0]) == ("no_freight", field)
        assert text in warning["message"]
        assert f'"#/{field}";code=no_freight;reason="{reason}"' in response["Rota-Warnings"]
        assert api.get("/api/integration/orders/A-1").json()["data"]["freight"] is None

    def test_that_is_none_refuses_an_order_under_strict_handling(self, api, seller, origin):
        body = order_body(service="turbo")

        response = api.post("/api/integration/orders", body, headers={"Prefer": "handling=strict"})

        assert response.status_code == 422
        assert response.json()["errors"] == {"service": ["Sem frete: O serviço turbo não tem tarifa de frete."]}
        assert not Order.objects.exists()

    def test_is_none_without_a_warning_where_the_company_has_no_postcode(self, api, seller, tariff):
        response = api.post("/api/integration/orders", order_body())

        assert [*response.json()] == ["success", "tracking_code"]
        assert api.get("/api/integration/orders/A-1").json()["data"]["freight"] is None

    def test_has_its_warning_of_a_repeated_call_in_the_stored_answer(self, api, seller, origin):
        first, again = (
            api.post("/api/integration/orders", order_body(service="turbo"), headers={"Idempotency-Key": "k"})
            for _call in range(2)
        )

        assert first.json()["warnings"][0]["code"] == "no_freight"
        assert again.json() == first.json()

    def test_is_shown_with_the_day_that_is_promised_from_the_collection_on(self, api, seller, origin):
        order = create_order(seller)
        shown = []
        for status in (Status.COLLECTED, Status.IN_TRANSIT):
            shown.append(api.get("/api/integration/orders/A-1").json()["data"]["freight"])
            move(order, status)

        last = api.get("/api/integration/orders/A-1").json()["data"]["freight"]

        assert order.freight
        assert shown[0] == {"amount": order.freight.amount, "deadline": order.freight.deadline, "promisedDate": None}
        assert last == shown[1] == {**shown[0], "promisedDate": order_date(order)}

    def test_cannot_be_changed_once_it_does_not_wait_for_collection(self, seller, origin):
        order = create_order(seller)
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        for change in ({"freight_centavos": 1}, {"freight_days": 1}, {"freight_days": None}):
            with pytest.raises((ProgrammingError, IntegrityError)), transaction.atomic():
                Order.objects.filter(pk=order.pk).update(**change)


def order_date(order):
    return business_days.after(date(2026, 11, 24), order.freight.deadline).isoformat()


class TestPromisedDay:
    @pytest.mark.parametrize("days", [0, 3])
    def test_counts_from_the_first_sign_of_a_collection(self, seller, origin, days):
        FreightRate.objects.update(deadline_days=days)

        order = move(create_order(seller), Status.OUT_FOR_DELIVERY)

        assert order.promised_on.isoformat() == order_date(order)

    def test_is_none_without_a_freight_or_a_collection(self, seller, tariff):
        collected = move(create_order(seller), Status.COLLECTED)
        Company.objects.update(postcode="01310100")
        cancelled = move(create_order(seller, orderId="A-2"), Status.CANCELLED)

        assert (collected.promised_on, cancelled.promised_on) == (None, None)

    @pytest.mark.parametrize(("hours", "is_late"), [(26, False), (27, True)])
    def test_is_kept_by_a_delivery_until_its_end(self, seller, origin, hours, is_late):
        order = move(create_order(seller), Status.COLLECTED)
        day = datetime.combine(order.promised_on, time(), UTC)

        order = move(order, Status.DELIVERED, at=day + timedelta(hours=hours))  # midnight of the zone is 27:00 UTC

        assert order.is_late is is_late

    @pytest.mark.parametrize(
        ("status", "is_late"),
        [
            (Status.IN_TRANSIT, True), (Status.DELIVERY_FAILED, True), (Status.RETURNED, False),
            (Status.CANCELLED, False),
        ],
    )  # fmt: skip  # a table
    def test_is_missed_by_what_is_still_to_come(self, seller, origin, status, is_late):
        order = move(create_order(seller), Status.COLLECTED, at=timezone.now() - timedelta(days=40))
        details = orders.Details(reason_code="ABSENT" if status in WITH_REASON else "")

        order = orders.move(order=order, to=status, by=BY, at=timezone.now(), details=details)

        assert order.is_late is is_late

"""Test data, created through the actions of the product wherever one exists.

Accounts and tokens, which five thousand tests begin with, are plain rows instead: the same ones that the actions write,
without their locks and checks.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import factory
from django.utils import timezone

from common import credentials
from common.webhooks import endpoints, signing
from common.webhooks.endpoints import CheckedUrl
from delivery.actions import deliveries, drivers
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from delivery.models import (
    AuditAction,
    AuditEntry,
    Delivery,
    Driver,
    Environment,
    Integrator,
    PickupPoint,
    Tariff,
    Token,
    VehicleType,
    WebhookEndpoint,
)
from delivery.payload import DeliveryRequest, Place

# Avenida Paulista, São Paulo, and three places around it.
PICKUP = Point(-23.561414, -46.655881)
DROPOFFS = (Point(-23.5520, -46.6500), Point(-23.5629, -46.6689), Point(-23.5750, -46.6400))
BY = "tester"


class IntegratorFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Integrator

    name = factory.Sequence(lambda number: f"Shop {number}")

    @classmethod
    def _create(cls, model_class: type[Integrator], *args: Any, **kwargs: Any) -> Integrator:
        integrator = model_class.objects.create(**kwargs)
        secrets = {environment: credentials.encrypt(signing.new_secret()) for environment in Environment}
        WebhookEndpoint.objects.bulk_create(
            WebhookEndpoint(integrator=integrator, environment=environment, secret_ciphertext=secret)
            for environment, secret in secrets.items()
        )
        return integrator


_NUMBERS = count(1)


def add_endpoint(token: Token, *, url: str = "", statuses: Sequence[str] = ()) -> WebhookEndpoint:
    """A further endpoint of the token's account and environment; unless a URL is given, with one that nobody has."""
    url = url or f"http://127.0.0.1:9/further/{next(_NUMBERS)}"
    return endpoints.add(
        beside=token.integrator.endpoints.get(environment=token.environment, number=1),
        url=CheckedUrl(url),
        statuses=statuses,
        by=BY,
        at=timezone.now(),
    )


class PickupPointFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = PickupPoint

    integrator = factory.SubFactory(IntegratorFactory)
    name = "Paulista"
    latitude = PICKUP.latitude
    longitude = PICKUP.longitude


class TokenFactory(factory.Factory):
    """A token of a shop whose pickup point is `PICKUP`. `sandbox=True` for the sandbox."""

    class Meta:
        model = Token

    class Params:
        sandbox = False

    integrator = factory.SubFactory(IntegratorFactory)
    environment = factory.LazyAttribute(lambda token: Environment.SANDBOX if token.sandbox else Environment.LIVE)
    name = ""
    by = BY
    at = factory.LazyFunction(timezone.now)

    @classmethod
    def _create(cls, model_class: type[Token], *args: Any, by: str, at: datetime, **kwargs: Any) -> Token:
        prefix = "rota_test_" if kwargs["environment"] == Environment.SANDBOX else "rota_live_"
        clear_text = credentials.random_token(prefix)
        token = model_class.objects.create(
            digest=credentials.digest(clear_text),
            ciphertext=credentials.encrypt(clear_text),
            hint=credentials.hint(prefix, clear_text),
            created_by=by,
            created_at=at,
            **kwargs,
        )
        AuditEntry.objects.create(
            integrator=token.integrator,
            environment=token.environment,
            action=AuditAction.TOKEN_ISSUED,
            subject=token.title,
            by=by,
            at=at,
        )
        if not token.integrator.pickup_points.exists():
            PickupPointFactory.create(integrator=token.integrator)
        return token


class TariffFactory(factory.django.DjangoModelFactory):
    """10.00, 2 km of it free, 2.00 a km, 5.00 for each further drop-off, half price for the way back."""

    class Meta:
        model = Tariff

    vehicle_type = VehicleType.MOTORCYCLE
    integrator = None
    base_fare = Decimal(10)
    included_km = Decimal(2)
    price_per_km = Decimal(2)
    price_per_extra_dropoff = Decimal(5)
    minimum_fare = Decimal(12)
    return_share = Decimal("0.5")
    maximum_km = Decimal(100)
    maximum_kg = Decimal(30)
    cancel_percent_accepted = Decimal(30)
    cancel_percent_collected = Decimal(100)

    @classmethod
    def _create(cls, model_class: type[Tariff], *args: Any, **kwargs: Any) -> Tariff:
        found = model_class.objects.filter(vehicle_type=kwargs["vehicle_type"], integrator=kwargs["integrator"]).first()
        return found or model_class.objects.create(**kwargs)


class DriverFactory(factory.django.DjangoModelFactory):
    """On duty, without a position unless `at_point` says where; `at_point__age` is its age in seconds."""

    class Meta:
        model = Driver
        skip_postgeneration_save = True

    name = factory.Sequence(lambda number: f"Driver {number}")
    phone = "+55 11 98888-0000"
    vehicle_type = VehicleType.MOTORCYCLE
    on_duty = True

    @factory.post_generation
    def at_point(self, create: bool, extracted: Point | None, **kwargs: Any) -> None:
        if extracted is not None:
            age = timedelta(seconds=kwargs.get("age", 0))
            drivers.set_position(driver=self, point=extracted, by=BY, at=timezone.now() - age)


class DeliveryFactory(factory.Factory):
    """A requested delivery with its tariff. Traits move it on: `accepted`, `collected`."""

    class Meta:
        model = Delivery

    class Params:
        accepted = factory.Trait(moves=("accept",))
        collected = factory.Trait(moves=("accept", "collect"))

    token = factory.SubFactory(TokenFactory)
    stops = 3
    mode = Mode.DEFAULT
    payload = None  # instead of one with so many `stops` in this `mode`
    at = factory.LazyFunction(timezone.now)
    driver = None
    moves = ()

    @classmethod
    def _create(cls, model_class: type[Delivery], *args: Any, **kwargs: Any) -> Delivery:
        TariffFactory.create()
        at, moves, driver = kwargs["at"], kwargs["moves"], kwargs["driver"]
        payload = kwargs["payload"] or validated_payload(stops=kwargs["stops"], mode=kwargs["mode"])
        delivery = deliveries.request(token=kwargs["token"], payload=payload, by=BY, at=at)
        if "accept" in moves:
            driver = driver or DriverFactory.create(environment=delivery.environment)
            delivery = deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at)
        if "collect" in moves:
            delivery = deliveries.collect(delivery=delivery, by=BY, at=at)
        return delivery


def validated_payload(*, stops: int = 3, mode: Mode = Mode.DEFAULT, **changes: Any) -> DeliveryRequest:
    """A DeliveryRequest body after validation, as the actions take it."""
    dropoffs = [Place(point=point, address={}, external_id=f"order-{n}") for n, point in enumerate(DROPOFFS[:stops], 1)]
    pickup = Place(point=PICKUP, address={}, contact_name="Shop", contact_phone="+55 11 3333-0000")
    values = {"vehicle_type": VehicleType.MOTORCYCLE, "pickup": pickup, "dropoffs": dropoffs, "mode": mode, **changes}
    return DeliveryRequest(**values)


def payload(*, stops: int = 3, **changes: Any) -> dict[str, Any]:
    """A DeliveryRequest body with every field of the specification; `changes` replace top-level keys."""
    return {
        "vehicleType": "MOTORCYCLE",
        "deliveryMode": "DEFAULT",
        "pickup": {
            "contacts": {"name": "Loja Paulista", "phoneNumber": "+55 11 3333-0000"},
            "address": _address(PICKUP, street="Avenida Paulista"),
        },
        "dropoffs": [
            {
                "externalId": f"order-{number}",
                "contacts": {"name": "Maria", "phoneNumber": "+55 11 97777-0001"},
                "address": _address(point, street=f"Rua {number}"),
            }
            for number, point in enumerate(DROPOFFS[:stops], start=1)
        ],
        "orderPackages": [
            {"description": "Caixa", "height": 20, "width": 30, "length": 40, "weight": 2.5, "quantity": 2}
        ],
        **changes,
    }


def _address(point: Point, *, street: str) -> dict[str, Any]:
    return {
        "city": "São Paulo",
        "state": "SP",
        "street": street,
        "number": "100",
        "zipcode": "01310-200",
        "district": "Bela Vista",
        "country": "BR",
        "complement": "Loja 1",
        "latitude": point.latitude,
        "longitude": point.longitude,
    }

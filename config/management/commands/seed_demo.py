import json
import secrets
from decimal import Decimal
from io import StringIO
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import transaction

from delivery.models import Integrator, Tariff, VehicleType

SHOP, SANDBOX_SHOP, SELLER, LOGIN = "Demo shop", "Demo shop (sandbox)", "Demo seller", "admin"
# Avenida Paulista, São Paulo.
PICKUP = "-23.561414,-46.655881"
# Its check digits are right, and it is not one of those that everybody tries first.
COMPANY = "48.372.915/0001-54"


class Command(BaseCommand):
    help = (
        "Fill an empty database with tariffs, a demo shop, drivers and a log-in. Prints their credentials as JSON, "
        "which are kept nowhere else; null for a database in use, which is left alone."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        credentials = None
        if not (User.objects.exists() or Integrator.objects.exists() or Tariff.objects.exists()):
            with transaction.atomic():
                credentials = _seed()
        self.stdout.write(json.dumps(credentials))


def _seed() -> dict[str, str]:
    _create_tariffs()
    shop = _call("create_integrator", SHOP, f"--pickup={PICKUP}")
    test = _call("create_integrator", SANDBOX_SHOP, f"--pickup={PICKUP}", "--sandbox")
    _call("create_driver", "Ana Souza", "--vehicle=MOTORCYCLE", "--phone=+55 11 98888-0001", f"--position={PICKUP}")
    _call("create_driver", "Bruno Lima", "--vehicle=CAR", "--phone=+55 11 98888-0002", f"--position={PICKUP}")
    seller = _call("create_seller", SELLER, f"--company={COMPANY}")
    password = secrets.token_urlsafe(9)
    User.objects.create_superuser(LOGIN, "", password)
    return {
        "login": LOGIN,
        "password": password,
        "token": shop["token"],
        "sandbox_token": test["token"],
        "signing_secret": shop["signing_secret"],
        "api_key": seller["api_key"],
    }


def _create_tariffs() -> None:
    motorcycle, car = Decimal(20), Decimal(200)
    Tariff.objects.create(
        vehicle_type=VehicleType.MOTORCYCLE,
        base_fare=Decimal("7.90"),
        included_km=Decimal(2),
        price_per_km=Decimal("1.80"),
        price_per_extra_dropoff=Decimal("4.00"),
        minimum_fare=Decimal("9.90"),
        return_share=Decimal("0.5"),
        maximum_km=Decimal(60),
        maximum_kg=motorcycle,
    )
    Tariff.objects.create(
        vehicle_type=VehicleType.CAR,
        base_fare=Decimal("14.90"),
        included_km=Decimal(2),
        price_per_km=Decimal("2.60"),
        price_per_extra_dropoff=Decimal("6.00"),
        minimum_fare=Decimal("18.90"),
        return_share=Decimal("0.5"),
        maximum_km=Decimal(100),
        maximum_kg=car,
    )


def _call(command: str, *arguments: str) -> dict[str, str]:
    out = StringIO()
    call_command(command, *arguments, stdout=out)
    answer: dict[str, str] = json.loads(out.getvalue())
    return answer

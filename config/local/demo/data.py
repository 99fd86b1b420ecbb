"""The demo's accounts, drivers and tariffs, and their credentials."""

import json
import secrets
from decimal import Decimal
from io import StringIO

from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from delivery.actions import endpoints, tokens
from delivery.models import Environment, Integrator, Tariff, VehicleType
from integration.actions import keys
from integration.models import Seller

SHOP, SANDBOX_SHOP, SELLER, LOGIN = "Demo shop", "Demo shop (sandbox)", "Demo seller", "admin"
# Avenida Paulista, São Paulo.
PICKUP = "-23.561414,-46.655881"
# Its check digits are right, and it is not one of those that everybody tries first.
COMPANY = "48.372.915/0001-54"
_BY = "command demo_credentials"


def seed() -> dict[str, str] | None:
    """Fill an empty database. Returns the credentials; None for a database in use, which is left unchanged."""
    if User.objects.exists() or Integrator.objects.exists() or Tariff.objects.exists():
        return None
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


def renew_credentials() -> dict[str, str]:
    """Replace the demo's password, tokens and key. Raises DoesNotExist where the database holds no whole demo."""
    user = User.objects.get(username=LOGIN)
    # The oldest of each name: `manage.py demo` makes more of them.
    shop = Integrator.objects.filter(name=SHOP).earliest("pk")
    sandbox_shop = Integrator.objects.filter(name=SANDBOX_SHOP).earliest("pk")
    seller = Seller.objects.filter(name=SELLER).earliest("pk")
    password = secrets.token_urlsafe(9)
    user.set_password(password)
    user.save(update_fields=["password"])
    return {
        "login": LOGIN,
        "password": password,
        "token": _new_token(shop, Environment.LIVE),
        "sandbox_token": _new_token(sandbox_shop, Environment.SANDBOX),
        "signing_secret": endpoints.show_secret(
            endpoint=shop.endpoints.get(environment=Environment.LIVE), by=_BY, at=timezone.now()
        ),
        "api_key": _new_key(seller),
    }


def _new_token(integrator: Integrator, environment: Environment) -> str:
    now = timezone.now()
    for token in integrator.tokens.filter(environment=environment).valid(at=now):
        tokens.revoke(token=token, by=_BY, at=now)
    return tokens.issue(integrator=integrator, environment=environment, by=_BY, at=now).clear_text


def _new_key(seller: Seller) -> str:
    now = timezone.now()
    for key in seller.keys.filter(revoked_at=None):
        keys.revoke(key=key, by=_BY, at=now)
    return keys.issue(seller=seller, by=_BY, at=now).clear_text

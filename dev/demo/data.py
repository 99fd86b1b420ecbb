"""The demo's accounts, drivers and tariffs, and their credentials.

Credentials have the keys "login", "password", "shop_login", "shop_password", "token", "signing_secret",
"sandbox_token", "sandbox_signing_secret", "api_key", "sandbox_api_key" and "carrier_key". The shop's log-in is of the
account's owner. Each token stands with the signing secret of its environment; both environments are of one account.
"""

import secrets

from django.contrib.auth.models import User

from common import clock
from common.accounts import Role
from common.webhooks import endpoints
from delivery.accounts import tokens
from delivery.actions import dispatch_rules, tariffs
from delivery.models import Environment, Integrator, Tariff, VehicleType
from dev.demo.client import command
from integration.accounts import keys
from integration.carriers import actions as carriers
from integration.models import Carrier, CarrierRule, Seller

SHOP, SELLER, CARRIER, LOGIN, SHOP_LOGIN = "Demo shop", "Demo seller", "Demo carrier", "admin", "demo-shop"
# Avenida Paulista, São Paulo.
PICKUP = "-23.561414,-46.655881"
# Made up, with correct check digits, and none of those that people type for a test.
COMPANY = "48.372.915/0001-54"
# The demo seller's parcels leave from there.
ORIGIN = "01310-100"
PHONES = "+55 11 98888-"  # followed by the driver's number
DRIVERS = [
    ("Ana Souza", VehicleType.MOTORCYCLE),
    ("Bruno Lima", VehicleType.CAR),
    ("Carla Dias", VehicleType.MOTORCYCLE),
    ("Diego Rocha", VehicleType.MOTORCYCLE),
    ("Elisa Prado", VehicleType.MOTORCYCLE),
    ("Fábio Nunes", VehicleType.CAR),
    ("Gabriela Melo", VehicleType.MOTORCYCLE),
    ("Heitor Campos", VehicleType.MOTORCYCLE),
    ("Iara Torres", VehicleType.MOTORCYCLE),
    ("Jonas Freitas", VehicleType.CAR),
    ("Karina Lopes", VehicleType.MOTORCYCLE),
    ("Leandro Reis", VehicleType.MOTORCYCLE),
]
BY = "demo"
_DRIVERS_SHARE = 70  # percent


def seed() -> dict[str, str] | None:
    """Fill an empty database. Returns the credentials; None for a database in use, which is left unchanged."""
    if User.objects.exists() or Integrator.objects.exists() or Tariff.objects.exists():
        return None
    tariffs.create_defaults(by=BY)
    dispatch_rules.change(values={"driver_share_percent": _DRIVERS_SHARE}, by=BY)
    created = command("create_integrator", SHOP, f"--pickup={PICKUP}")
    for number, (name, vehicle) in enumerate(DRIVERS, start=1):
        command("create_driver", name, f"--vehicle={vehicle}", f"--phone={PHONES}{number:04}", f"--position={PICKUP}")
    seller = command("create_seller", SELLER, f"--company={COMPANY}", f"--origin={ORIGIN}")
    carrier = command("create_carrier", CARRIER)
    CarrierRule.objects.create(carrier_id=int(carrier["carrier"]), service="next")
    User.objects.create_superuser(LOGIN, "")
    shop = Integrator.objects.get(pk=created["integrator"])
    return {
        **_new_passwords(shop),
        "token": created["token"],
        "signing_secret": created["signing_secret"],
        "sandbox_token": _issue_token(shop, Environment.SANDBOX),
        "sandbox_signing_secret": shop.endpoints.first_ones().get(environment=Environment.SANDBOX).secret,
        "api_key": seller["api_key"],
        "sandbox_api_key": _issue_key(Seller.objects.get(pk=seller["seller"]), Environment.SANDBOX),
        "carrier_key": carrier["api_key"],
    }


def renew_credentials() -> dict[str, str]:
    """Give the demo's log-ins, account and seller new passwords, tokens and keys, and end the old ones.

    Signing secrets are kept. Raises User.DoesNotExist, Integrator.DoesNotExist or Seller.DoesNotExist.
    """
    # The oldest of each name: `manage.py demo` creates more of them.
    shop = Integrator.objects.filter(name=SHOP).earliest("pk")
    seller = Seller.objects.filter(name=SELLER).earliest("pk")
    return {
        **_new_passwords(shop),
        "token": _renew_token(shop, Environment.LIVE),
        "signing_secret": _show_secret(shop, Environment.LIVE),
        "sandbox_token": _renew_token(shop, Environment.SANDBOX),
        "sandbox_signing_secret": _show_secret(shop, Environment.SANDBOX),
        "api_key": _renew_key(seller, Environment.LIVE),
        "sandbox_api_key": _renew_key(seller, Environment.SANDBOX),
        "carrier_key": _renew_carrier_key(),
    }


def _new_passwords(shop: Integrator) -> dict[str, str]:
    # A database that was filled by an earlier version has no log-in of the shop.
    owner, is_new = User.objects.get_or_create(username=SHOP_LOGIN)
    if is_new:
        shop.members.add(owner, through_defaults={"role": Role.OWNER})
    passwords = [secrets.token_urlsafe(9) for _log_in in range(2)]
    for user, password in zip((User.objects.get(username=LOGIN), owner), passwords, strict=True):
        user.set_password(password)
        user.save(update_fields=["password"])
    return {"login": LOGIN, "password": passwords[0], "shop_login": SHOP_LOGIN, "shop_password": passwords[1]}


def _renew_token(shop: Integrator, environment: Environment) -> str:
    now = clock.now()
    for token in shop.tokens.filter(environment=environment).valid(at=now):
        tokens.revoke(token=token, by=BY, at=now)
    return _issue_token(shop, environment)


def _issue_token(shop: Integrator, environment: Environment) -> str:
    return tokens.issue(integrator=shop, environment=environment, by=BY, at=clock.now()).clear_text


def _show_secret(shop: Integrator, environment: Environment) -> str:
    endpoint = shop.endpoints.first_ones().get(environment=environment)
    return endpoints.show_secret(endpoint=endpoint, by=BY, at=clock.now())


def _renew_key(seller: Seller, environment: Environment) -> str:
    now = clock.now()
    for key in seller.keys.filter(environment=environment, revoked_at=None):
        keys.revoke(key=key, by=BY, at=now)
    return _issue_key(seller, environment)


def _renew_carrier_key() -> str:
    now = clock.now()
    # A database that was filled by an earlier version has none.
    carrier = Carrier.objects.filter(name=CARRIER).first() or carriers.open_(name=CARRIER, by=BY)
    for key in carrier.keys.filter(revoked_at=None):
        carriers.revoke_key(key=key, by=BY, at=now)
    _key, clear_text = carriers.issue_key(carrier=carrier, by=BY, at=now)
    return clear_text


def _issue_key(seller: Seller, environment: Environment) -> str:
    return keys.issue(seller=seller, environment=environment, by=BY, at=clock.now()).clear_text

import getpass
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from access import enrolment
from access.models import InitialPassword
from common import clock
from common.commands import JSONCommand
from delivery import pricing
from delivery.actions import tariffs
from delivery.errors import PriceUnavailable
from delivery.models import Driver, Integrator, Tariff, VehicleType
from integration.models import Seller

_BY = "command bootstrap"
_NAME = "ROTA_SUPERUSER"
_PASSWORD = "ROTA_SUPERUSER_PASSWORD"  # noqa: S105  # pragma: allowlist secret  # nosec B105  # its name
_MANAGE = "ROTA_MANAGE"  # set by deploy/rota-manage and compose.yaml
_EXAMPLE = pricing.Trip(outbound_km=Decimal(5), return_km=Decimal(0), dropoffs=1, weight_kg=Decimal(1))


class Command(JSONCommand):
    help = (
        "Bring an empty installation to its first superuser, delivery tariffs and a working quote: migrates, creates "
        "what is missing, and leaves everything else as it is. Asks for name and password of the superuser, or takes "
        f"them from {_NAME} and {_PASSWORD}."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--username", default=os.environ.get(_NAME, ""), help=f"default: {_NAME}, or asked for")

    def prepare(self, options: dict[str, Any]) -> None:
        executor = MigrationExecutor(connection)
        options["migrations"] = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        if options["migrations"]:
            call_command("migrate", verbosity=0)
        if _superuser() is None:
            options["username"] = options["username"] or _ask("Name of the superuser: ")
            options["password"] = os.environ.get(_PASSWORD) or _ask_password()

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        superuser, code = _superuser(), None
        is_new = superuser is None
        if superuser is None:
            superuser, code = _create_superuser(
                username=options["username"],
                password=options["password"],
                is_initial=_PASSWORD in os.environ,
            )
        created = tariffs.create_defaults(by=_BY)
        return {
            "changed": bool(options["migrations"] or is_new or created),
            "migrations": options["migrations"],
            "superuser": superuser.username if is_new else None,
            "enrolment_code": code,
            "tariffs": [tariff.vehicle_type for tariff in created],
            "prices_of_5_km": {vehicle_type.value: _price(vehicle_type) for vehicle_type in VehicleType},
            "next": list(_next_steps(superuser, code)),
        }


def _superuser() -> User | None:
    """The oldest superuser who can log in."""
    return User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()


def _create_superuser(*, username: str, password: str, is_initial: bool) -> tuple[User, str | None]:
    """Create a superuser. Returns the user and, where a second factor is required, the code to set it up with.

    A password that `is_initial` has to be changed at the first log-in. Raises ValidationError.
    """
    user = User(username=username, is_staff=True, is_superuser=True)
    user.full_clean(exclude=["password"])
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from error
    user.set_password(password)
    user.save()
    if is_initial:
        InitialPassword.objects.create(user=user)
    return user, enrolment.issue(user=user, by=_BY, at=clock.now()) if settings.REQUIRE_TWO_FACTOR else None


def _price(vehicle_type: VehicleType) -> float | None:
    """What 5 km to one drop-off cost, in BRL. None if there is no such tariff."""
    tariff = Tariff.objects.for_vehicle(vehicle_type, integrator=None).first()
    try:
        return float(pricing.fare(tariff.terms, _EXAMPLE).value) if tariff else None
    except PriceUnavailable:
        return None


def _next_steps(superuser: User, code: str | None) -> Iterator[str]:
    """What people have to do by hand."""
    manage = os.environ.get(_MANAGE, "manage.py")
    if settings.REQUIRE_TWO_FACTOR and not enrolment.has_second_factor(superuser):
        name = superuser.username
        how = "enrolment_code, within 24 hours" if code else f"a code of: {manage} enrol_second_factor {name}"
        yield f"Log in at {settings.SITE_URL}/admin/ as {name} and set up the second factor with {how}"
    if not Integrator.objects.exists():
        yield f"Set your prices at {settings.SITE_URL}/admin/delivery/tariff/; those of a new installation are examples"
        yield f"Open an account that requests deliveries: {manage} create_integrator NAME --pickup LAT,LNG"
    if not Driver.objects.exists():
        yield f"Register drivers at {settings.SITE_URL}/admin/delivery/driver/"
    if not Seller.objects.exists():
        yield f"Open an account that ships orders: {manage} create_seller NAME --company DOCUMENT"


def _ask(prompt: str) -> str:
    """Ask on standard error: standard output is for the command's answer. Raises ValidationError without a terminal."""
    _refuse_without_terminal()
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _ask_password() -> str:
    """Ask twice, without an echo. Raises ValidationError without a terminal, or if the answers differ."""
    _refuse_without_terminal()
    password = getpass.getpass("Password: ")
    if getpass.getpass("Password, again: ") != password:
        raise ValidationError({"password": ["They differ."]})
    return password


def _refuse_without_terminal() -> None:
    if not sys.stdin.isatty():
        raise ValidationError({"superuser": f"There is no terminal to ask at: set {_NAME} and {_PASSWORD}."})

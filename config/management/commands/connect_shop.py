from argparse import ArgumentParser
from typing import Any, TypeVar

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import Model, QuerySet

from common import clock
from common.accounts import Environment
from common.commands import JSONCommand
from common.shops.models import LONGEST_METHOD, LONGEST_NAME, PLATFORMS
from common.shops.platforms import Platform
from delivery.connections import actions as of_integrators
from delivery.connections.models import LONGEST_PHONE
from delivery.models import Integrator, PickupPoint, VehicleType, parse_id
from integration import words
from integration.accounts import sellers
from integration.connections import actions as of_sellers
from integration.models import compact_document

_BY = "command connect_shop"
_LONGEST = {"name": LONGEST_NAME, "method": LONGEST_METHOD, "phone": LONGEST_PHONE}
_OF_INTEGRATORS, _OF_SELLERS = ("pickup", "phone", "vehicle", "automatic"), ("company", "service")
Row = TypeVar("Row", bound=Model)


class Command(JSONCommand):
    help = (
        'Connect a shop, whose platform posts its orders to the URL. Prints {"connection", "url", "secret"}, or '
        '{"error", "detail"} and exits with 1.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("platform", choices=list(Platform))
        account = parser.add_mutually_exclusive_group(required=True)
        account.add_argument("--integrator", metavar="ID", help="its orders become deliveries, from --pickup")
        account.add_argument("--seller", metavar="ID", help="its orders become orders of --company")
        parser.add_argument("--name", default="", help="default: that of the platform")
        parser.add_argument("--secret", default="", metavar="TEXT", help="the platform's own; default: a new one")
        parser.add_argument("--method", default="", metavar="TEXT", help="only orders with this in a shipping method")
        parser.add_argument("--sandbox", action="store_true", help="all is made in the sandbox")
        parser.add_argument("--pickup", metavar="POINT_ID")
        parser.add_argument("--phone", help="whom drivers call at the pickup point")
        parser.add_argument("--vehicle", choices=VehicleType.values, help=f"default: {VehicleType.MOTORCYCLE}")
        parser.add_argument("--automatic", action="store_true", default=None, help="request what is complete at once")
        parser.add_argument("--company", metavar="DOCUMENT", help="CNPJ or CPF of the company that sends")
        parser.add_argument("--service", choices=list(words.ORDER_SERVICES), help="default: base")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        for name, longest in _LONGEST.items():
            if len(options[name] or "") > longest:
                raise CommandError(f"--{name} has at most {longest} characters.")
        platform = Platform(options["platform"])
        common: dict[str, Any] = {
            "environment": Environment.SANDBOX if options["sandbox"] else Environment.LIVE,
            "platform": platform,
            "secret": options["secret"],
            "by": _BY,
            "at": clock.now(),
        }
        chosen = {"name": options["name"] or PLATFORMS[platform], "shipping_method": options["method"]}
        if options["seller"] == "":
            raise CommandError("--seller needs the id or the reference of a seller.")
        connect = _of_seller if options["seller"] else _of_integrator
        made, secret = connect(options, chosen, common)
        return {"connection": made.pk, "url": settings.SITE_URL + made.path, "secret": secret}


def _of_integrator(options: dict[str, Any], chosen: dict[str, Any], common: dict[str, Any]) -> tuple[Any, str]:
    _check(options, needed="pickup", unknown=_OF_SELLERS, account="--integrator")
    integrator = _of(Integrator.objects.all(), options["integrator"])
    if integrator is None:
        raise CommandError(f"No integrator has the id '{options['integrator']}'.")
    pickup = _of(PickupPoint.objects.active().filter(integrator=integrator), options["pickup"])
    if pickup is None:
        raise CommandError(f"The integrator has no active pickup point with the id '{options['pickup']}'.")
    found = of_integrators.Settings(
        **chosen,
        pickup=pickup,
        contact_phone=options["phone"] or "",
        vehicle_type=options["vehicle"] or VehicleType.MOTORCYCLE,
        automatic=bool(options["automatic"]),
    )
    return of_integrators.connect(integrator=integrator, settings=found, **common)


def _of_seller(options: dict[str, Any], chosen: dict[str, Any], common: dict[str, Any]) -> tuple[Any, str]:
    _check(options, needed="company", unknown=_OF_INTEGRATORS, account="--seller")
    seller = sellers.find(options["seller"])
    company = seller.companies.filter(document=compact_document(options["company"])).first()
    if company is None:
        raise CommandError(f"The seller has no company with the document '{options['company']}'.")
    found = of_sellers.Settings(**chosen, company=company, service=options["service"] or "base")
    return of_sellers.connect(seller=seller, settings=found, **common)


def _check(options: dict[str, Any], *, needed: str, unknown: tuple[str, ...], account: str) -> None:
    if not options[needed]:
        raise CommandError(f"{account} needs --{needed}.")
    if named := [name for name in unknown if options[name] is not None]:
        raise CommandError(f"{account} has no --{named[0]}.")


def _of(rows: QuerySet[Row], text: str) -> Row | None:
    key = parse_id(text)
    return rows.filter(pk=key).first() if key else None

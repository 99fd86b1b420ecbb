from argparse import ArgumentParser
from typing import Any, TypeVar

from django.conf import settings
from django.core.management.base import CommandError
from django.db.models import Model, QuerySet

from common import clock
from common.commands import JSONCommand
from common.shops.models import LONGEST_METHOD, PLATFORMS
from common.shops.platforms import Platform
from delivery.connections import actions
from delivery.models import Environment, Integrator, PickupPoint, VehicleType, parse_id

_BY = "command connect_shop"
Row = TypeVar("Row", bound=Model)


class Command(JSONCommand):
    help = (
        'Connect a shop, whose platform posts its orders to the URL. Prints {"connection", "url", "secret"}, or '
        '{"error", "detail"} and exits with 1.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("platform", choices=list(Platform))
        parser.add_argument("--integrator", required=True, metavar="ID")
        parser.add_argument("--pickup", required=True, metavar="POINT_ID")
        parser.add_argument("--name", default="", help="default: that of the platform")
        parser.add_argument("--secret", default="", metavar="TEXT", help="the platform's own; default: a new one")
        parser.add_argument("--method", default="", metavar="TEXT", help="only orders with this in a shipping method")
        parser.add_argument("--phone", default="", help="whom drivers call at the pickup point")
        parser.add_argument("--vehicle", default=VehicleType.MOTORCYCLE, choices=VehicleType.values)
        parser.add_argument("--automatic", action="store_true", help="request what is complete at once")
        parser.add_argument("--sandbox", action="store_true", help="its orders become deliveries of the sandbox")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        integrator = _of(Integrator.objects.all(), options["integrator"])
        if integrator is None:
            raise CommandError(f"No integrator has the id '{options['integrator']}'.")
        pickup = _of(PickupPoint.objects.filter(integrator=integrator), options["pickup"])
        if pickup is None:
            raise CommandError(f"The integrator has no pickup point with the id '{options['pickup']}'.")
        if len(options["method"]) > LONGEST_METHOD:
            raise CommandError(f"--method has at most {LONGEST_METHOD} characters.")
        platform = Platform(options["platform"])
        made, secret = actions.connect(
            integrator=integrator,
            environment=Environment.SANDBOX if options["sandbox"] else Environment.LIVE,
            platform=platform,
            settings=actions.Settings(
                name=options["name"] or PLATFORMS[platform],
                pickup=pickup,
                contact_phone=options["phone"],
                vehicle_type=options["vehicle"],
                shipping_method=options["method"],
                automatic=options["automatic"],
            ),
            secret=options["secret"],
            by=_BY,
            at=clock.now(),
        )
        return {"connection": made.pk, "url": settings.SITE_URL + made.path, "secret": secret}


def _of(rows: QuerySet[Row], text: str) -> Row | None:
    key = parse_id(text)
    return rows.filter(pk=key).first() if key else None

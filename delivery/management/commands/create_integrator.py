from argparse import ArgumentParser
from typing import Any

from common import clock
from common.commands import JSONCommand
from common.webhooks import endpoints
from delivery.accounts import integrators, tokens
from delivery.actions import moves
from delivery.models import Environment, Integrator, PickupPoint

_BY = "command create_integrator"


class Command(JSONCommand):
    help = 'Create an integrator. Prints {"integrator", "token", "signing_secret"}.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--pickup", action="append", default=[], metavar="LAT,LNG", help="a pickup point; repeatable"
        )
        parser.add_argument("--webhook-url", default="", metavar="URL")
        parser.add_argument(
            "--refuse-repeated-external-id", action="store_true", help="refuse requests whose externalId is in use"
        )
        parser.add_argument("--sandbox", action="store_true", help="issue a sandbox token instead of a live one")

    def prepare(self, options: dict[str, Any]) -> None:
        options["webhook_url"] = endpoints.check_url(options["webhook_url"], of=None)

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        environment = Environment.SANDBOX if options["sandbox"] else Environment.LIVE
        integrator = Integrator(
            name=options["name"], refuse_repeated_external_ids=options["refuse_repeated_external_id"]
        )
        integrator.full_clean()
        integrators.open_(integrator, by=_BY, at=clock.now())
        for number, pickup in enumerate(options["pickup"], start=1):
            point = moves.parse_point(pickup)
            PickupPoint.objects.create(
                integrator=integrator, name=f"Pickup {number}", latitude=point.latitude, longitude=point.longitude
            )
        endpoint = integrator.endpoints.first_ones().get(environment=environment)
        endpoints.store_url(endpoint=endpoint, url=options["webhook_url"], by=_BY, at=clock.now())
        secret = endpoints.show_secret(endpoint=endpoint, by=_BY, at=clock.now())
        token = tokens.issue(integrator=integrator, environment=environment, to_hand_over=True, by=_BY, at=clock.now())
        return {"integrator": str(integrator.pk), "token": token.clear_text, "signing_secret": secret}

from argparse import ArgumentParser
from typing import Any

from common import clock
from common.accounts import Environment
from common.commands import JSONCommand
from common.webhooks import endpoints
from integration.accounts import keys, sellers
from integration.actions import webhooks
from integration.models import Authentication, AuthenticationKind, Seller, WebhookEndpoint

_BY = "command create_seller"


class Command(JSONCommand):
    help = (
        'Create a seller with its companies and a key. Prints {"seller", "api_key", "reference", "signing_secret"}; '
        "URL, authentication and secret are those of the key's environment."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--company", action="extend", nargs="+", required=True, metavar="DOCUMENT", help="CNPJ or CPF; repeatable"
        )
        parser.add_argument("--sandbox", action="store_true", help="issue a test key")
        parser.add_argument("--origin", default="", metavar="CEP", help="where parcels leave from, for their freight")
        parser.add_argument("--webhook-url", default="", metavar="URL")
        parser.add_argument(
            "--webhook-auth",
            default=AuthenticationKind.NONE.value,
            metavar="none|basic:USER:PASSWORD|bearer:TOKEN|header:NAME:VALUE",
            help="what webhooks carry beside their signature",
        )

    def prepare(self, options: dict[str, Any]) -> None:
        options["webhook_url"] = endpoints.check_url(options["webhook_url"], of=None)
        options["webhook_auth"] = Authentication.parse(options["webhook_auth"])

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        Seller(name=options["name"]).full_clean()  # as the admin does
        seller = sellers.open_(name=options["name"], documents=options["company"], origin=options["origin"])
        environment = Environment.SANDBOX if options["sandbox"] else Environment.LIVE
        at = clock.now()
        issued = keys.issue(seller=seller, environment=environment, by=_BY, at=at)
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment=environment)
        if options["webhook_auth"].kind != AuthenticationKind.NONE:
            webhooks.set_authentication(endpoint=endpoint, authentication=options["webhook_auth"], by=_BY, at=at)
        if options["webhook_url"].text:
            endpoints.store_url(endpoint=endpoint, url=options["webhook_url"], by=_BY, at=at)
        return {
            "seller": str(seller.pk),
            "api_key": issued.clear_text,
            "reference": seller.reference,
            "signing_secret": endpoints.show_secret(endpoint=endpoint, by=_BY, at=at),
        }

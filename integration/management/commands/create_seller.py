from argparse import ArgumentParser
from typing import Any

from common import clock
from common.accounts import Environment
from common.commands import JSONCommand
from integration.actions import keys, sellers
from integration.models import Seller


class Command(JSONCommand):
    help = 'Create a seller with its companies and a key. Prints {"seller", "api_key", "reference"}.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--company", action="extend", nargs="+", required=True, metavar="DOCUMENT", help="CNPJ or CPF; repeatable"
        )
        parser.add_argument("--sandbox", action="store_true", help="issue a test key")
        parser.add_argument("--origin", default="", metavar="CEP", help="where parcels leave from, for their freight")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        Seller(name=options["name"]).full_clean()  # as the admin does
        seller = sellers.open_(name=options["name"], documents=options["company"], origin=options["origin"])
        environment = Environment.SANDBOX if options["sandbox"] else Environment.LIVE
        issued = keys.issue(seller=seller, environment=environment, by="command create_seller", at=clock.now())
        return {"seller": str(seller.pk), "api_key": issued.clear_text, "reference": seller.reference}

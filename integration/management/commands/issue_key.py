from argparse import ArgumentParser
from typing import Any

from common import clock
from common.accounts import Environment
from common.commands import JSONCommand
from integration.accounts import keys, sellers


class Command(JSONCommand):
    help = 'Issue one more key to a seller. Prints {"api_key"}.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("seller", metavar="SELLER", help="the seller's id, or its reference")
        parser.add_argument("--sandbox", action="store_true", help="issue a test key")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        environment = Environment.SANDBOX if options["sandbox"] else Environment.LIVE
        seller = sellers.find(options["seller"])
        issued = keys.issue(seller=seller, environment=environment, by="command issue_key", at=clock.now())
        return {"api_key": issued.clear_text}

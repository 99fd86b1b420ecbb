from argparse import ArgumentParser
from typing import Any

from common import clock
from common.accounts import Environment
from common.commands import JSONCommand
from integration.accounts import sellers
from integration.carriers import actions as carriers


class Command(JSONCommand):
    help = (
        "Have a carrier move an order. ORDER_ID is the orderId that the seller sent. "
        'Prints {"order", "carrier"}, or {"error", "detail"} and exits with 1.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("order", metavar="ORDER_ID")
        parser.add_argument("--seller", required=True, metavar="ID", help="the seller's id, or its reference")
        parser.add_argument("--carrier", required=True, metavar="ID", help="the carrier's id")
        parser.add_argument("--sandbox", action="store_true", help="an order of a test key")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        environment = Environment.SANDBOX if options["sandbox"] else Environment.LIVE
        order = sellers.find_order(options["seller"], environment, options["order"])
        carrier = carriers.find(options["carrier"])
        carriers.assign(orders=[order], carrier=carrier, by="command assign_carrier", at=clock.now())
        return {"order": order.code, "carrier": str(carrier.pk)}

from argparse import ArgumentParser
from typing import Any

from common import clock
from common.accounts import Environment
from common.commands import JSONCommand
from integration.accounts import sellers
from integration.actions import orders
from integration.errors import MoveRefused
from integration.lifecycle import Reason, Status


class Command(JSONCommand):
    help = (
        "Change the status of an order. ORDER_ID is the orderId that the seller sent. "
        'Prints {"order", "status"}, or {"error", "detail"} and exits with 1 when the move is refused.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("order", metavar="ORDER_ID")
        parser.add_argument("status", metavar="STATUS", help=", ".join(Status))
        parser.add_argument("--code", default="", help=f"why it failed or came back: {', '.join(Reason)}")
        parser.add_argument("--reason", default="", metavar="TEXT", help="the reason in words; OTHER needs it")
        parser.add_argument("--place", default="", metavar="TEXT", help="where it happened")
        parser.add_argument("--sandbox", action="store_true", help="an order of a test key")
        parser.add_argument("--seller", required=True, metavar="ID", help="the seller's id, or its reference")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        environment = Environment.SANDBOX if options["sandbox"] else Environment.LIVE
        order = sellers.find_order(options["seller"], environment, options["order"])
        details = orders.Details(reason_code=options["code"], reason=options["reason"], place=options["place"])
        status = _status(options["status"])
        moved = orders.move(order=order, to=status, by="command order", at=clock.now(), details=details)
        return {"order": moved.code, "status": moved.status}


def _status(text: str) -> Status:
    try:
        return Status(text)
    except ValueError as error:
        raise MoveRefused(f"There is no status '{text}'. Possible: {', '.join(Status)}.") from error

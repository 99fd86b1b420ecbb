from argparse import ArgumentParser
from typing import Any

from common import clock
from common.commands import JSONCommand
from integration.actions import orders
from integration.errors import MoveRefused, OrderNotFound, SellerNotFound
from integration.lifecycle import Status
from integration.models import Order, Seller


class Command(JSONCommand):
    help = (
        "Change the status of an order. ORDER_ID is the orderId that the seller sent. "
        'Prints {"order", "status"}, or {"error", "detail"} and exits with 1 when the move is refused.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("order", metavar="ORDER_ID")
        parser.add_argument("status", metavar="STATUS", help=", ".join(Status))
        parser.add_argument("--seller", required=True, metavar="ID", help="the seller's id, or its reference")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        order = _find(options["seller"], options["order"])
        moved = orders.move(order=order, to=_status(options["status"]), by="command order", at=clock.now())
        return {"order": moved.code, "status": moved.status}


def _status(text: str) -> Status:
    try:
        return Status(text)
    except ValueError as error:
        raise MoveRefused(f"There is no status '{text}'. Possible: {', '.join(Status)}.") from error


def _find(seller: str, code: str) -> Order:
    is_id = seller.isascii() and seller.isdigit() and len(seller) < len(str(2**63))
    found = Seller.objects.filter(**({"pk": int(seller)} if is_id else {"reference": seller})).first()
    if found is None:
        raise SellerNotFound(f"No seller has the id or reference '{seller}'.")
    order = Order.objects.filter(seller=found, code=code).first()
    if order is None:
        raise OrderNotFound(f"The seller {found.reference} has no order '{code}'.")
    return order

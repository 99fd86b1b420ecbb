from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from common import clock
from common.commands import JSONCommand
from delivery.actions import moves
from delivery.errors import DeliveryNotFound
from delivery.lifecycle import FailureCode
from delivery.models import Delivery, parse_id

_ARGUMENTS = {
    "driver": "--driver ID", "point": "POINT", "code": "--code CODE", "reason": "--reason TEXT", "position": "LAT,LNG"
}  # fmt: skip  # a table


def _usage(name: str) -> str:
    texts = {_ARGUMENTS[field]: required for field, required in moves.MOVES[name].fields.items() if field in _ARGUMENTS}
    return " ".join([name, *(text if required else f"[{text}]" for text, required in texts.items())])


class Command(JSONCommand):
    help = (
        f"Move a delivery as a dispatcher does: {' | '.join(map(_usage, moves.MOVES))}. "
        'Prints {"delivery", "status", "route"}, or {"error", "detail"} and exits with 1 when the move is refused.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("delivery", metavar="DELIVERY_ID")
        parser.add_argument("move", choices=[*moves.MOVES])
        parser.add_argument("argument", nargs="?", default="", metavar="POINT or LAT,LNG")
        parser.add_argument(
            "--driver", default="", metavar="ID", help="accept, reassign: this driver, not the nearest eligible one"
        )
        parser.add_argument(
            "--code", default="", metavar="CODE", help=f"fail: {', '.join(FailureCode)}, which needs a reason"
        )
        parser.add_argument("--reason", default="", metavar="TEXT")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        move, argument = options["move"], options["argument"]
        if argument and moves.MOVES[move].fields.keys().isdisjoint({"point", "position"}):
            raise CommandError(f"{move} takes no argument.")
        fields = {**options, "point": argument, "position": argument}
        delivery = _find(options["delivery"])
        moved = moves.perform(move, delivery=delivery, fields=fields, by="command dispatch", at=clock.now())
        return {"delivery": str(moved.pk), "status": moved.status, "route": moved.route_status}


def _find(text: str) -> Delivery:
    key = parse_id(text)
    delivery = Delivery.objects.with_parts().filter(pk=key).first() if key else None
    if delivery is None:
        raise DeliveryNotFound(f"No delivery has the id '{text}'.")
    return delivery

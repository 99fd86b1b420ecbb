from argparse import ArgumentParser
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from common.commands import JSONCommand
from delivery.actions import dispatch_rules
from delivery.models import DispatchRules, Rules


class Command(JSONCommand):
    help = (
        "Print the rules of dispatch as one JSON object, with --set after changing those that it names. Prints "
        '{"error", "detail"} and exits with 1 when one is refused; then none is changed.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--set", nargs="+", default=[], action="extend", metavar="RULE=VALUE", dest="values")

    def run(self, options: dict[str, Any]) -> dict[str, float | bool]:
        if not options["values"]:
            return _shown(DispatchRules.current())
        values = {name: value for name, _equals, value in (text.partition("=") for text in options["values"])}
        return _shown(dispatch_rules.change(values=values, by="command dispatch_rules").rules)


def _shown(rules: Rules) -> dict[str, float | bool]:
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in asdict(rules).items()}

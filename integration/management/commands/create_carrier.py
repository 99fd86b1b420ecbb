from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from common import clock
from common.commands import JSONCommand
from integration.carriers import actions as carriers


class Command(JSONCommand):
    help = 'Create a carrier and a key for its events. Prints {"carrier", "api_key"}.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")

    @transaction.atomic
    def run(self, options: dict[str, Any]) -> dict[str, str]:
        by = "command create_carrier"
        carrier = carriers.open_(name=options["name"], by=by)
        _key, clear_text = carriers.issue_key(carrier=carrier, by=by, at=clock.now())
        return {"carrier": str(carrier.pk), "api_key": clear_text}

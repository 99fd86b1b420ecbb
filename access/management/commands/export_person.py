from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from access import personal_data
from access.models import PersonRequestKind
from access.personal_data import person
from common import clock
from common.commands import JSONCommand

_BY = "command export_person"


class Command(JSONCommand):
    help = (
        "Print everything that is stored about one person as one JSON object, or "
        '{"error", "detail"} and exit with 1. The export is logged.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--document", default="", metavar="CPF_OR_CNPJ")
        who.add_argument("--phone", default="", metavar="NUMBER", help="with its area code")

    def run(self, options: dict[str, Any]) -> Iterator[str]:
        at = clock.now()
        who = person(document=options["document"], phone=options["phone"])
        personal_data.record(who, kind=PersonRequestKind.EXPORT, by=_BY, at=at)
        return personal_data.export(who, at=at)

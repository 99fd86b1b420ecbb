from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from access import personal_data
from access.models import PersonRequestKind
from access.personal_data import person
from common import clock
from common.commands import JSONCommand

_BY = "command forget"


class Command(JSONCommand):
    in_transaction = False  # batches are committed one by one
    help = (
        "Anonymise one person in all deliveries and orders that are closed; those that are open follow when they end. "
        'Prints {"request", "finished", "forgotten", "left"}, or {"error", "detail"} and exits with 1.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--document", default="", metavar="CPF_OR_CNPJ")
        who.add_argument("--phone", default="", metavar="NUMBER", help="with its area code")
        parser.add_argument("--check", action="store_true", help="only say what there is")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        at = clock.now()
        who = person(document=options["document"], phone=options["phone"])
        if options["check"]:
            return {"found": asdict(personal_data.summary(personal_data.find(who, until=at), at=at))}
        request = personal_data.carry_out(
            personal_data.record(who, kind=PersonRequestKind.FORGET, by=_BY, at=at), at=at, tell=self._tell
        )
        return {
            "request": request.pk,
            "finished": request.finished_at is not None,
            "forgotten": {name: getattr(request, name) for name in personal_data.KINDS},
            "left": asdict(personal_data.summary(personal_data.find(who, until=at), at=at)),
        }

    def _tell(self, what: str, count: int) -> None:
        self.stderr.write(f"{count} {what}")

"""What scripts read: exactly one JSON object on standard output."""

import json
import re
import sys
from typing import NoReturn

from django.core.management.base import BaseCommand, CommandParser

from delivery.errors import DeliveryError


class ScriptCommand(BaseCommand):
    """A command for scripts. `answer` prints its result; `refuse` prints the error and exits with 1."""

    requires_migrations_checks = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: object) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Brazilian coordinates begin with a minus sign. argparse takes "-23.5,-46.6" for an option unless this
        # pattern, which it keeps for negative numbers, says otherwise.
        parser._negative_number_matcher = re.compile(r"^-\d[\d.,\- ]*$")  # noqa: SLF001
        return parser

    def answer(self, **values: str) -> None:
        self.stdout.write(json.dumps(values, ensure_ascii=False))

    def refuse(self, error: DeliveryError) -> NoReturn:
        self.answer(error=error.code, detail=str(error))
        sys.exit(1)

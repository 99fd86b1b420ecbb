"""Management commands for scripts: exactly one JSON object on standard output."""

import json
import re
import sys
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from common.errors import DomainError


class JSONCommand(BaseCommand):
    """Runs `run` in one transaction and prints its answer, or `{"error": code, "detail"}` and exits with 1."""

    requires_migrations_checks = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: object) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Brazilian coordinates begin with a minus sign. argparse takes "-23.5,-46.6" for an option unless this
        # pattern, which it keeps for negative numbers, says otherwise.
        parser._negative_number_matcher = re.compile(r"^-\d[\d.,\- ]*$")  # noqa: SLF001
        return parser

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.prepare(options)
            with transaction.atomic():
                answer = self.run(options)
        except DomainError as error:
            self._refuse(error.code, str(error))
        except ValidationError as error:
            self._refuse(
                "invalid", "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
            )
        else:
            self.stdout.write(json.dumps(answer, ensure_ascii=False))

    def prepare(self, options: dict[str, Any]) -> None:
        """What waits for other machines, before the transaction of `run`. May put its result into `options`."""

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        """Do it and return the answer. Raises DomainError or ValidationError for what is refused."""
        raise NotImplementedError

    def _refuse(self, code: str, detail: str) -> None:
        self.stdout.write(json.dumps({"error": code, "detail": detail}, ensure_ascii=False))
        sys.exit(1)

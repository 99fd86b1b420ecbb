"""Management commands for scripts, which print exactly one JSON object, and what commands read of their options."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from common.errors import DomainError


def moment_of(text: str) -> datetime:
    """A moment as an option has it, without an offset of the installation's time zone. Raises CommandError."""
    try:
        moment = parse_datetime(text)
    except ValueError:  # well-formed but not a date, such as February 30
        moment = None
    if moment is None:
        raise CommandError(f"{text} is not a moment. Write it like 2026-11-20T08:00-03:00.")
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


class JSONCommand(BaseCommand):
    """Prints the result of `run`, called in a transaction. A refusal prints `{"error", "detail"}` and exits with 1.

    A command whose action commits in batches sets `in_transaction` to False.
    """

    in_transaction = True
    requires_migrations_checks = False
    requires_system_checks = ()  # they import every page; `migrate` runs them

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: object) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Brazilian coordinates begin with a minus sign. argparse takes "-23.5,-46.6" for an option unless this
        # pattern, which it keeps for negative numbers, says otherwise.
        parser._negative_number_matcher = re.compile(r"^-\d[\d.,\- ]*$")  # noqa: SLF001
        return parser

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            self.prepare(options)
            with transaction.atomic() if self.in_transaction else nullcontext():
                answer = self.run(options)
        except DomainError as error:
            self._refuse(error.code, str(error))
        except ValidationError as error:
            self._refuse(
                "invalid", "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
            )
        else:
            for part in answer if isinstance(answer, Iterator) else [json.dumps(answer, ensure_ascii=False)]:
                self.stdout.write(part, ending="")
            self.stdout.write("")

    def prepare(self, options: dict[str, Any]) -> None:
        """Network calls, made before the transaction of `run`. May store results in `options`."""

    def run(self, options: dict[str, Any]) -> dict[str, Any] | Iterator[str]:
        """The command's work. Returns the result, or its JSON in parts.

        Raises DomainError or ValidationError to refuse.
        """
        raise NotImplementedError

    def _refuse(self, code: str, detail: str) -> None:
        self.stdout.write(json.dumps({"error": code, "detail": detail}, ensure_ascii=False))
        sys.exit(1)

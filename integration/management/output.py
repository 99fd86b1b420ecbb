"""What scripts read: exactly one JSON object on standard output."""

import json
import sys
from typing import NoReturn

from django.core.management.base import BaseCommand

from integration.errors import IntegrationError


class ScriptCommand(BaseCommand):
    """A command for scripts. `answer` prints its result; `refuse` prints the error and exits with 1."""

    requires_migrations_checks = False

    def answer(self, **values: str) -> None:
        self.stdout.write(json.dumps(values, ensure_ascii=False))

    def refuse(self, error: IntegrationError) -> NoReturn:
        self.answer(error=error.code, detail=str(error))
        sys.exit(1)

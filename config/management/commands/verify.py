import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

import delivery.invariants
import integration.invariants
from common.postgresql.invariants import Finding, examine, of_schema

_MOST_IDS = 10
_STATEMENT_SECONDS = 600
# For one sort or hash table of a statement; the server's default is made for the small statements of the APIs.
_MEMORY = "128MB"


class Command(BaseCommand):
    help = (
        "Check the invariants of the database, such as that each transition has its event, while the service runs. "
        "Reads only, in one snapshot. Exits with 1 if one is broken or was not examined in time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
        parser.add_argument("--ids", type=int, default=_MOST_IDS, metavar="N", help="ids shown of each, default: 10")
        parser.add_argument(
            "--statement-seconds", type=int, default=_STATEMENT_SECONDS, metavar="S", help="limit of each, default: 600"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if not 0 <= options["ids"] <= 1000 or not 1 <= options["statement_seconds"] <= 86_400:  # noqa: PLR2004
            raise CommandError("--ids is from 0 to 1000, --statement-seconds from 1 to 86400.")
        findings = self._findings(options["ids"], options["statement_seconds"])
        if options["json"]:
            self.stdout.write(json.dumps(_report(findings)))
        else:
            self._print(findings)
        if not all(finding.holds for finding in findings):
            sys.exit(1)

    def _findings(self, most_ids: int, seconds: int) -> list[Finding]:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute(f"SET LOCAL statement_timeout = '{seconds:d}s'; SET LOCAL work_mem = '{_MEMORY}'")
            schema = of_schema(apps.get_models(include_auto_created=True))
            invariants = (*delivery.invariants.ALL, *integration.invariants.ALL, *schema)
            return examine(invariants, most_ids=most_ids)

    def _print(self, findings: list[Finding]) -> None:
        for finding in findings:
            self.stdout.write(f"{_verdict(finding):<12} {finding.name}: {finding.what} ({finding.examined})")
            if finding.broken:
                self.stdout.write(
                    f"{'':<12} {', '.join(finding.ids)}{' …' if finding.broken > len(finding.ids) else ''}"
                )
        failed = sum(not finding.holds for finding in findings)
        self.stdout.write(f"{len(findings)} invariants, {failed} broken or not examined" if failed else "All hold.")


def _verdict(finding: Finding) -> str:
    if finding.broken is None:
        return "not examined"
    return f"{finding.broken} broken" if finding.broken else "ok"


def _report(findings: list[Finding]) -> dict[str, Any]:
    return {
        "holds": all(finding.holds for finding in findings),
        "invariants": {
            finding.name: {"examined": finding.examined, "broken": finding.broken, "ids": finding.ids}
            for finding in findings
        },
    }

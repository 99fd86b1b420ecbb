import sys
from argparse import ArgumentParser
from collections import Counter
from datetime import datetime
from itertools import islice
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

import delivery.invariants
import integration.invariants
from common.commands import moment_of
from common.postgresql.invariants import find_broken, of_schema
from config import answered_calls

# For one sort or hash table of a statement; the server's default is made for the small statements of the APIs.
_MEMORY = "128MB"
_BATCH = 1000  # lines of the log
_MOST_SECONDS = 600  # of a statement


class Command(BaseCommand):
    help = (
        "Check what no constraint of the database holds, such as that each transition has its event, while the service "
        "runs. Reads only, in one snapshot. Exits with 1 if something is broken or takes more than ten minutes. With "
        "--after-failover, list what was answered and is not in the database instead."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--after-failover",
            metavar="SINCE",
            help="read the log of all web servers from standard input, and list the deliveries, orders and changes of "
            "their statuses that were answered from this moment on, such as 2026-11-20T08:00-03:00, and are not there",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if since := options["after_failover"]:
            self._compare_log(moment_of(since))
        else:
            self._check_invariants()

    def _compare_log(self, since: datetime) -> None:
        answers, compared, callers = answered_calls.read(sys.stdin, since=since), 0, Counter[str]()
        while batch := list(islice(answers, _BATCH)):
            compared += len(batch)
            for found in answered_calls.missing(batch):
                self.stdout.write(str(found))
                callers[found.answer.caller] += 1
        if not compared:
            raise CommandError(f"The log has no call about a delivery or order since {since.isoformat()}.")
        if callers:
            who = ", ".join(f"{caller} ({count})" for caller, count in callers.most_common())
            raise CommandError(f"{callers.total()} of {compared} answers name what is not there. Tell {who}.")
        self.stdout.write(f"What {compared} answers name is there.")

    def _check_invariants(self) -> None:
        schema = of_schema(apps.get_models(include_auto_created=True))
        invariants = (*delivery.invariants.ALL, *integration.invariants.ALL, *schema)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute(f"SET LOCAL statement_timeout = '{_MOST_SECONDS}s'; SET LOCAL work_mem = '{_MEMORY}'")
            findings = find_broken(invariants)
        for finding in findings:
            self.stdout.write(f"{finding.name}: {finding.what}. {finding.rows} break it: {', '.join(finding.ids)}")
        if findings:
            raise CommandError(f"{len(findings)} of {len(invariants)} invariants are broken.")
        self.stdout.write(f"All {len(invariants)} invariants hold.")

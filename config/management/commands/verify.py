from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

import delivery.invariants
import integration.invariants
from common.postgresql.invariants import find_broken, of_schema

# For one sort or hash table of a statement; the server's default is made for the small statements of the APIs.
_MEMORY = "128MB"
_MOST_SECONDS = 600  # of a statement


class Command(BaseCommand):
    help = (
        "Check what no constraint of the database holds, such as that each transition has its event, while the service "
        "runs. Reads only, in one snapshot. Exits with 1 if something is broken or takes more than ten minutes."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
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

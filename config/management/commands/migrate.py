import time
from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError
from psycopg.errors import LockNotAvailable

_PAUSE_SECONDS = 5.0
_MOST_SECONDS = 30 * 60


class Command(migrate.Command):
    help = "Django's migrate. Repeats a migration that did not get its locks within a second, for half an hour."

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrations that were applied are not repeated. Raises CommandError."""
        deadline = time.monotonic() + _MOST_SECONDS
        while True:
            try:
                super().handle(*args, **options)
            except OperationalError as error:
                if not isinstance(error.__cause__, LockNotAvailable):
                    raise
                if time.monotonic() > deadline:
                    raise CommandError(
                        f"A table was in use for {_MOST_SECONDS // 60} minutes, by a backup for instance. Run migrate "
                        "again when that has ended; pg_stat_activity has the oldest transactions."
                    ) from error
                self.stderr.write(f"A table is in use, by a backup for instance. Trying again in {_PAUSE_SECONDS:g} s")
                time.sleep(_PAUSE_SECONDS)
            else:
                return

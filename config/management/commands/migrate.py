import time
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations.loader import MigrationLoader
from psycopg.errors import LockNotAvailable

from config.env import PACKAGES

_PAUSE_SECONDS = 5.0
_MOST_SECONDS = 30 * 60


def _apps_of_ours() -> set[str]:
    return {
        app.label for app in apps.get_app_configs() if {Path(app.path), *Path(app.path).parents}.intersection(PACKAGES)
    }


class Command(migrate.Command):
    help = "Django's migrate. Repeats a migration that did not get its locks within a second, for half an hour."

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrations that were applied are not repeated. Raises CommandError."""
        self._refuse_another_history(options["database"])
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

    def _refuse_another_history(self, database: str) -> None:
        """Raise CommandError if there is something to do and the database has migrations that are not of this version.

        A newer version's database has more of them, and nothing is left to do there.
        """
        loader = MigrationLoader(connections[database])
        ours = _apps_of_ours()
        unknown = [key for key in loader.applied_migrations if key[0] in ours and key not in loader.disk_migrations]
        pending = set(loader.graph.leaf_nodes()) - set(loader.applied_migrations)
        if unknown and pending:
            app, name = min(unknown)
            raise CommandError(
                f"The database was made by a version whose migrations are not those of this one: it has {app}.{name}. "
                "Use an empty one (another DATA_DIR or DATABASE_URL), or the version that made it."
            )

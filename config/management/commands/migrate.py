import time
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError, connections
from django.db.migrations.loader import MigrationLoader
from psycopg.errors import LockNotAvailable

from config.env import PACKAGES

# Processes of earlier versions cannot work with the tables of this one. CHANGELOG.md says so too.
OLDEST_BESIDE = (0, 3, 0)
_PAUSE_SECONDS = 5.0
_MOST_SECONDS = 30 * 60


def _apps_of_ours() -> set[str]:
    return {
        app.label for app in apps.get_app_configs() if {Path(app.path), *Path(app.path).parents}.intersection(PACKAGES)
    }


class Command(migrate.Command):
    help = (
        "Django's migrate. Repeats a migration that did not get its locks within a second, for half an hour. Refuses "
        "to begin while processes of a version are connected that could not work with the new tables."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--beside-older-processes", action="store_true", help="migrate although such processes are connected"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrations that were applied are not repeated. Raises CommandError."""
        beside_older = options.pop("beside_older_processes", False)
        if self._is_pending(options["database"]) and not beside_older:
            _refuse_older_processes(options["database"])
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

    def _is_pending(self, database: str) -> bool:
        """Whether there is something to do. Raises CommandError if the database is not of this version's history.

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
        return bool(pending)


def _refuse_older_processes(database: str) -> None:
    """Raise CommandError if processes of versions before OLDEST_BESIDE are connected, by what they call themselves.

    Those of 0.3.0 and before have no name.
    """
    with connections[database].cursor() as cursor:
        cursor.execute(
            "SELECT application_name, coalesce(host(client_addr), 'local'), array_agg(pid ORDER BY pid)"
            " FROM pg_stat_activity WHERE datname = current_database() AND starts_with(application_name, 'rota ')"
            " GROUP BY 1, 2 ORDER BY 1, 2"
        )
        older = [
            f"{name} at {address} (backends {', '.join(map(str, backends))})"
            for name, address, backends in cursor.fetchall()
            if _number(name.rpartition(" ")[2]) < OLDEST_BESIDE
        ]
    if older:
        raise CommandError(
            f"These processes cannot work with the tables of this version: {'; '.join(older)}. Stop them first, see "
            "Upgrading in CHANGELOG.md, or give --beside-older-processes."
        )


def _number(version: str) -> tuple[int, ...]:
    """0.4.0 of 0.4.0.dev0, to compare."""
    return tuple(int(part) for part in version.split(".")[:3] if part.isdecimal())

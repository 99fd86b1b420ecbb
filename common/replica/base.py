"""The backend of the replica's connections, the value of ENGINE: no statement waits for a replica that is away.

PostgreSQL's own limit of a statement's time does not help if the server's machine stands still.
"""

import time
from collections.abc import Generator
from typing import Any

import psycopg
from django.core import checks
from django.db import Error
from django.db.backends.base.validation import BaseDatabaseValidation
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from psycopg.abc import RV, PQGen

from common.postgresql import base
from common.replica.watch import SILENT_SECONDS, NoReplica, Watch, watch


class _Connection(psycopg.Connection[Any]):
    """Gives a statement up when the replica has been silent for SILENT_SECONDS."""

    def wait(self, gen: PQGen[RV], *args: Any, **options: Any) -> RV:
        return super().wait(_until_silent(gen), *args, **options)


def _until_silent(gen: PQGen[RV]) -> Generator[Any, Any, RV]:
    """`gen`, which psycopg also resumes every 0.1 s without data. Raises psycopg.OperationalError."""
    began = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() - max(began, watch.answered_at) > SILENT_SECONDS:
                raise psycopg.OperationalError("the replica does not answer")
            wanted = gen.send(ready)
    except StopIteration as end:
        result: RV = end.value
        return result


class Validation(BaseDatabaseValidation):
    """What `manage.py check --database replica` says."""

    def check(self, **_options: Any) -> list[checks.CheckMessage]:
        try:
            Watch().check()
        except NoReplica as error:
            return [checks.Error(f"DATABASE_REPLICA_URL leads to no replica: {error}.", id="replica.E001")]
        except Error as error:
            text = f"The replica or the primary cannot be asked: {str(error).strip()}"
            return [checks.Warning(text, hint="Lists are read from the primary meanwhile.", id="replica.W001")]
        return []


class DatabaseWrapper(base.DatabaseWrapper):
    validation_class = Validation

    def get_new_connection(self, conn_params: dict[str, Any]) -> _Connection:
        self.isolation_level = IsolationLevel.READ_COMMITTED  # as Django's does before it connects
        return _Connection.connect(**conn_params)

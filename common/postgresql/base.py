"""Django's PostgreSQL backend with four changes. The value of ENGINE.

Checking a kept connection takes no statement. With the setting MOST_SECONDS a server that is silent is given up. A
migration waits for a lock for a second. A server that only reads is a lost connection.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import psycopg
from django.db import OperationalError
from django.db.backends.postgresql import base, schema
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.db.backends.utils import CursorWrapper
from django.db.utils import DatabaseErrorWrapper
from django.utils.functional import cached_property
from psycopg.errors import ReadOnlySqlTransaction
from psycopg.pq import ConnStatus, TransactionStatus

from common.postgresql import silence
from common.postgresql.prepared import PreparedCursor


class SchemaEditor(schema.DatabaseSchemaEditor):
    """Gives up a lock after a second, because all calls that need the table wait behind it for that long.

    Only in a transaction: a concurrent index waits for older transactions, keeps nobody waiting, and stays behind
    invalid if it is given up. `manage.py migrate` repeats the migration.
    """

    def __enter__(self) -> Self:
        super().__enter__()
        if self.atomic_migration and not self.collect_sql:
            with self.connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '1s'")
        return self


class _ErrorWrapper(DatabaseErrorWrapper):
    """Raises OperationalError where a server refuses to write, because it is a standby now or was one all the time.

    psycopg has an InternalError for it, which nothing here takes for an outage.
    """

    def __init__(self, of: "DatabaseWrapper") -> None:
        super().__init__(of)
        self._of = of

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, ReadOnlySqlTransaction):
            self._of.errors_occurred = self._of.is_read_only = True
            raise OperationalError(*error.args).with_traceback(traceback) from error
        super().__exit__(kind, error, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    SchemaEditorClass = SchemaEditor
    is_read_only = False
    _prepared: dict[str, PreparedCursor]
    _prepared_on: psycopg.Connection[Any] | None = None

    @cached_property
    def wrap_database_errors(self) -> _ErrorWrapper:
        return _ErrorWrapper(self)

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        self.is_read_only = False
        most_seconds = self.settings_dict.get("MOST_SECONDS")
        if most_seconds is None:
            connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
            return connection
        self.isolation_level = IsolationLevel.READ_COMMITTED  # as Django's does before it connects
        return silence.connect(most_seconds, silence.silence_of(self.alias), **conn_params)

    def prepared_cursor(self, sql: str) -> CursorWrapper:
        """The cursor of the connection for this statement, which it prepares.

        It is kept with the rows it has found, because another one finds out anew how to write the parameters and to
        read the columns. So the rows have to be fetched before the next execution, and it is not closed.
        """
        with self.wrap_database_errors:
            self.close_if_health_check_failed()
            self.ensure_connection()
            if self._prepared_on is not self.connection:
                self._prepared_on, self._prepared = self.connection, {}
            if (cursor := self._prepared.get(sql)) is None:
                cursor = self._prepared[sql] = PreparedCursor(self.connection)
            wrapped: CursorWrapper = self._prepare_cursor(cursor)  # type: ignore[attr-defined]  # as `_cursor` does
            return wrapped

    @contextmanager
    def pipeline(self) -> Iterator[Callable[[], CursorWrapper]]:
        """Statements within it are sent without waiting for the result of the one before.

        Each needs a cursor of its own, which the function that it yields makes; they are prepared.
        """
        with self.wrap_database_errors:
            self.close_if_health_check_failed()
            self.ensure_connection()
            with self.connection.pipeline():
                yield lambda: self._prepare_cursor(PreparedCursor(self.connection))  # type: ignore[attr-defined]  # as above

    def is_usable(self) -> bool:
        """Whether the server can write, and has neither closed the connection nor left it in a failed transaction.

        Reads what has arrived, which takes two system calls; Django's own check executes `SELECT 1` in every request.
        A server that vanished without closing the connection is noticed by the deadlines of `config.database` only, as
        it would be with a statement.
        """
        if self.is_read_only:
            return False
        connection = self.connection.pgconn
        try:
            connection.consume_input()
            connection.consume_input()  # the end of the stream, where the first has read the server's last message
        except psycopg.OperationalError:
            return False
        healthy = {TransactionStatus.IDLE, TransactionStatus.INTRANS, TransactionStatus.ACTIVE}
        return connection.status == ConnStatus.OK and connection.transaction_status in healthy

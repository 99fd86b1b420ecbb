"""Django's PostgreSQL backend, except that checking a kept connection takes no statement. The value of ENGINE."""

import psycopg
from django.db.backends.postgresql import base
from psycopg.pq import ConnStatus, TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the server has neither closed the connection nor left it in a failed transaction.

        Reads what has arrived, two system calls. Django executes `SELECT 1`, at the first statement of
        every request. A peer that vanished without closing the connection is noticed by its deadlines only
        (`config.database`), by a statement too.
        """
        assert self.connection is not None  # noqa: S101  # Django calls this for an open connection only
        connection = self.connection.pgconn
        try:
            connection.consume_input()
            connection.consume_input()  # the end of the stream, where the first has read the server's last message
        except psycopg.OperationalError:
            return False
        healthy = {TransactionStatus.IDLE, TransactionStatus.INTRANS, TransactionStatus.ACTIVE}
        return connection.status == ConnStatus.OK and connection.transaction_status in healthy

"""Settings of connections to PostgreSQL. Parameters of DATABASE_URL take precedence over these."""

import sys
from typing import Any

from psycopg import conninfo

from config.env import VERSION

# Either side notices a lost peer within a minute. The system's defaults are two hours for an idle connection and
# 15 minutes for unacknowledged data.
_CONNECTION = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds
}
_SESSION = {
    # The statements of this service take milliseconds. Compiling one takes up to a second, each time it is planned.
    "jit": "off",
    # Of a solid-state disk or of memory. By the default, which is of a turning disk, a plan that is made while a table
    # is empty reads all of it, and is kept until there are statistics.
    "random_page_cost": "1.1",
    # Bounds how long a client that hangs within a transaction keeps its locks.
    "idle_in_transaction_session_timeout": "60s",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
_CELERY = frozenset({"worker", "beat"})  # its commands
# A web process waits so much longer than a statement may take for the server to say so.
_ANSWER_SECONDS = 3


def from_url(url: str) -> dict[str, Any]:
    """Django's settings of the database that a URL of libpq names, which may have several hosts and ports."""
    options = conninfo.conninfo_to_dict(url)
    names = {"NAME": "dbname", **{name.upper(): name for name in ("user", "password", "host", "port")}}
    return {
        "ENGINE": "common.postgresql",
        **{setting: str(options.pop(option, "")) for setting, option in names.items()},
        "OPTIONS": options,
    }


def for_web_process(database: dict[str, Any]) -> None:
    """Change Django's settings of a database for a process whose threads last as long as it does.

    Each thread keeps its connection, and gives up a server that is silent (`common.postgresql.silence`).
    """
    database["CONN_MAX_AGE"] = None
    if seconds := database["STATEMENT_SECONDS"]:
        database["MOST_SECONDS"] = seconds + _ANSWER_SECONDS


def with_deadlines(database: dict[str, Any], *, statement_seconds: float, connect_seconds: int = 5) -> dict[str, Any]:
    """Django's settings of a database with a deadline on every wait.

    `connect_seconds` are for each address of the host. `statement_seconds` ends a statement that runs for longer, and
    a wait for a lock after 5 s, with an OperationalError; 0 sets neither, which is for workers, migrations and
    commands.
    """
    session = dict(_SESSION)
    if statement_seconds:
        session["statement_timeout"] = f"{int(statement_seconds * 1000)}ms"
        session["lock_timeout"] = "5s"
    given = database.get("OPTIONS", {})
    parameters = " ".join(f"-c {name}={value}" for name, value in session.items())
    connection = {
        **_CONNECTION,
        "connect_timeout": connect_seconds,
        "application_name": _application_name(),
        **given,
    }
    options = {**connection, "options": f"{parameters} {given.get('options', '')}".strip()}
    return {**database, "OPTIONS": options, "STATEMENT_SECONDS": statement_seconds}


def _application_name() -> str:
    """What pg_stat_activity shows of this process: its kind, by the command that started it, and the version."""
    if sys.argv[0].endswith("server/web.py"):
        return f"rota web {VERSION}"
    return f"rota {next((word for word in sys.argv[1:] if word in _CELERY), 'command')} {VERSION}"

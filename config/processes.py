"""The commands of the web server, the workers and beat.

`python -m config.processes web` becomes that process, so it receives the signals. `make run` starts the same commands.
"""

import logging
import os
import sys
from pathlib import Path

from config import environment, npm_files
from config.env import BASE_DIR, VERSION
from config.monitoring import logs


def host() -> str:
    """Where the web server listens, without the brackets of an IPv6 address in a URL."""
    return environment.Web().HOST.strip("[]")


def _python() -> str:
    """The path of the interpreter without links to its folder.

    A link to the installation leads to the next version before the processes of this one end. By the link they would
    load what they have not loaded yet from the packages of the next version.
    """
    path = Path(sys.executable)
    return str(path.parent.resolve() / path.name)


def commands(port: int) -> dict[str, list[str]]:
    """The command of each process; `port` is that of the web server."""
    python = [_python(), "-m"]
    celery = [*python, "celery", "--app", "config", "--quiet"]
    return {
        "web": [
            *python, "config.server.web", "--interface", "rsgi", "--loop", "uvloop",
            "--host", host(), "--port", str(port), "--workers", str(environment.Web().WEB_WORKERS),
            "--respawn-failed-workers", "--log-level", "warning",
            "--log-config", str(BASE_DIR / "config" / "granian_logs.json"),
            # A process that is told to end while it starts does not hear it: otherwise the server waits for ever.
            "--workers-kill-timeout", "15",
            # Connections: 4,096 per process, however slow. Idle ones close after a minute.
            "--backlog", "4096", "--backpressure", "4096", "--http1-header-read-timeout", "60000",
            "--http", "1", "--no-ws", "config.server.rsgi:application",
        ],
        "worker": [
            # Gossip, mingle and heartbeats are not needed, and fail when Redis goes away.
            *celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat",
            "--concurrency", str(environment.Installation().WORKERS), "--loglevel", "WARNING",
        ],
        # Beat keeps no schedule in a file: after its restart a task runs an hour late at most, and finds what is due.
        "beat": [*celery, "beat", "--scheduler", "config.celery:QuietScheduler", "--pidfile=", "--loglevel", "WARNING"],
    }  # fmt: skip  # a command reads better in a few lines than in twenty


def _log_start(name: str) -> None:
    """The first line of a process, and warnings of what is probably misspelt."""
    handler = logging.StreamHandler()
    handler.setFormatter(logs.formatter())
    log = logging.getLogger("rota.start")
    log.setLevel(environment.Observability().LOG_LEVEL)
    log.addHandler(handler)
    for sentence in environment.misspelt():
        log.warning("%s", sentence)
    log.info("Rota %s: %s starts", VERSION, name)


def main() -> None:
    environment.refuse_bad_environment()
    known = commands(environment.Web().PORT)
    if sys.argv[1:] not in [[name] for name in known]:
        sys.exit(f"usage: python -m config.processes {'|'.join(known)}")
    environment.refuse_embedded()
    if sys.argv[1] == "web":
        npm_files.refuse_missing()
    _log_start(sys.argv[1])
    command = known[sys.argv[1]]
    os.execv(command[0], command)  # noqa: S606  # nosec B606  # a constant command, without a shell


if __name__ == "__main__":
    main()

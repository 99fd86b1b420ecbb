"""The commands of the web server, the workers and beat.

`python -m config.processes web` becomes that process, so it receives the signals. `make run` starts the same commands.
"""

import logging
import os
import sys

from config import checks
from config.env import BASE_DIR, env
from config.logs import formatter_of_environment
from config.version import VERSION


def host() -> str:
    """Where the web server listens, without the brackets of an IPv6 address in a URL."""
    return env.str("HOST", "127.0.0.1").strip("[]")


def commands(port: int) -> dict[str, list[str]]:
    """The command of each process; `port` is that of the web server."""
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--app", "config", "--quiet"]
    return {
        "web": [
            *python, "granian", "--interface", "rsgi", "--loop", "uvloop", "--host", host(), "--port", str(port),
            "--workers", env.str("WEB_WORKERS", "2"), "--respawn-failed-workers", "--log-level", "warning",
            "--log-config", str(BASE_DIR / "config" / "granian_logs.json"),
            # A process that is told to end while it starts does not hear it: otherwise the server waits for ever.
            "--workers-kill-timeout", "15",
            # Connections: 4,096 per process, however slow. Idle ones close after a minute.
            "--backlog", "4096", "--backpressure", "4096", "--http1-header-read-timeout", "60000",
            "--http", "1", "--no-ws", "config.rsgi:application",
        ],
        "worker": [
            # Gossip, mingle and heartbeats are not needed, and fail when Redis goes away.
            *celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat",
            "--concurrency", env.str("WORKERS", "2"), "--loglevel", "WARNING",
        ],
        # Without a file of what ran when: tasks look for what is due themselves, and run an hour later at most.
        "beat": [*celery, "beat", "--scheduler", "config.celery:QuietScheduler", "--pidfile=", "--loglevel", "WARNING"],
    }  # fmt: skip  # a command reads better in a few lines than in twenty


def _log_start(name: str) -> None:
    """The first line of a process, and warnings of what is probably misspelt."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter_of_environment())
    log = logging.getLogger("rota.start")
    log.setLevel(env.str("LOG_LEVEL", "INFO"))
    log.addHandler(handler)
    for sentence in checks.misspelt(os.environ):
        log.warning("%s", sentence)
    log.info("Rota %s: %s starts", VERSION, name)


def main() -> None:
    checks.refuse_bad_environment()
    known = commands(env.int("PORT", 8000))
    if sys.argv[1:] not in [[name] for name in known]:
        sys.exit(f"usage: python -m config.processes {'|'.join(known)}")
    checks.refuse_embedded()
    _log_start(sys.argv[1])
    command = known[sys.argv[1]]
    os.execv(command[0], command)  # noqa: S606  # nosec B606  # a constant command, without a shell


if __name__ == "__main__":
    main()

"""The processes of an installation, with the options that production uses too."""

import sys

from config.env import data_dir, env
from config.local.children import Child
from config.local.embedded.private import private_folder


def host() -> str:
    """Where the web server listens, without the brackets of an IPv6 address in a URL."""
    return env.str("HOST", "127.0.0.1").strip("[]")


def processes(port: int) -> list[Child]:
    """The web server, the worker and beat."""
    address = host()
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--app", "config", "--quiet"]
    return [
        Child(
            "web",
            [
                *python, "granian", "--interface", "rsgi", "--loop", "uvloop", "--host", address, "--port", str(port),
                "--workers", env.str("WEB_WORKERS", "2"), "--respawn-failed-workers", "--log-level", "warning",
                # Connections: 4,096 per process, however slow. Idle ones close after a minute.
                "--backlog", "4096", "--backpressure", "4096", "--http1-header-read-timeout", "60000",
                "--http", "1", "--no-ws", "config.rsgi:application",
            ],
        ),
        Child(
            "worker",
            [
                # Gossip, mingle and heartbeats are not needed, and fail when Redis goes away.
                *celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat",
                "--concurrency", env.str("WORKERS", "2"), "--loglevel", "WARNING",
            ],
        ),
        Child(
            "beat",
            [
                *celery, "beat", "--schedule", str(private_folder(data_dir() / "beat") / "schedule"),
                "--pidfile=", "--loglevel", "WARNING",
            ],
        ),
    ]  # fmt: skip  # a command reads better in a few lines than in twenty

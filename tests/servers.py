"""PostgreSQL and Redis for the tests, real ones. Loaded with `-p`, before pytest-django reads the settings.

Without URLs the embedded servers are started, with data of their own, so that a running `make run` is not touched.
"""

import os
import subprocess

from config.env import BASE_DIR, env
from config.local import embedded

os.environ.setdefault("DATA_DIR", str(BASE_DIR / "var" / "test"))
os.environ.setdefault("LOG_LEVEL", "WARNING")
if not env.str("DATABASE_URL", ""):
    embedded.hold_postgres()

_redis: "subprocess.Popen[bytes] | None" = None


def pytest_configure() -> None:
    global _redis  # noqa: PLW0603  # one server for the session
    if not env.str("REDIS_URL", ""):
        _redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
        embedded.wait_for_redis(_redis)


def pytest_unconfigure() -> None:
    if _redis is not None:
        _redis.terminate()
        _redis.wait(10)

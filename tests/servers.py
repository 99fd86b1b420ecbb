"""PostgreSQL and Redis for the tests, real ones. Loaded with `-p`, before pytest-django reads the settings.

Without URLs the embedded servers are started, with data of their own, so that a running `make run` is not touched.
Each worker of pytest-xdist has its own.
Beside the servers and the data folder nothing of the caller's environment reaches the tests.
"""

import os
import re
import subprocess

import pytest

from config.env import BASE_DIR, env, is_embedded
from config.local import embedded

# Production needs them beside the URLs.
SECRETS = {"ALLOWED_HOSTS", "CREDENTIALS_KEYS", "SECRET_KEY"}
SET = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "LOG_LEVEL": "WARNING",
    "RATE_LIMIT_PER_HOUR": "0",  # most tests are not about limits
    "RATE_LIMIT_PER_SECOND": "0",
}

# Not from `config.variables`: what is imported here is imported before coverage is measured.
_VARIABLES = set(re.findall(r"^#?([A-Z][A-Z_0-9]*)=", (BASE_DIR / ".env.example").read_text(), re.MULTILINE))
_NOT_IN_PRODUCTION = {"ALLOW_PUBLIC_EMBEDDED", "DEBUG", "SEED_DEMO", "WEBHOOK_ALLOW_LOOPBACK"}

# Those of the product, except what says where the servers of the tests are, and those of Python's locale and time zone
# and of requests and curl.
CLEARED = (_VARIABLES | _NOT_IN_PRODUCTION) - SECRETS - set(SET) - {"DATABASE_URL", "REDIS_URL", "DATA_DIR"} | {
    "LANG", "LANGUAGE", "LC_ALL", "TZ",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
}  # fmt: skip  # a list of names

for _name in CLEARED | (SECRETS if is_embedded() else set()):
    os.environ.pop(_name, None)
os.environ.update(SET)
_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if _WORKER:
    os.environ["DATA_DIR"] = str(BASE_DIR / "var" / f"test-{_WORKER}")
else:
    os.environ.setdefault("DATA_DIR", str(BASE_DIR / "var" / "test"))

_redis: "subprocess.Popen[bytes] | None" = None


@pytest.hookimpl(tryfirst=True)  # before pytest-django sets Django up
def pytest_configure(config: pytest.Config) -> None:
    global _redis  # noqa: PLW0603  # one server for the session
    if config.getoption("numprocesses") and not _WORKER:
        return  # the controller runs no test itself
    if not env.str("DATABASE_URL", ""):
        embedded.hold_postgres()
    if not env.str("REDIS_URL", ""):
        _redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
        embedded.wait_for_redis(_redis)


def pytest_unconfigure() -> None:
    if _redis is not None:
        _redis.terminate()
        _redis.wait(10)

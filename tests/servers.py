"""PostgreSQL and Redis for the tests, real ones. Loaded with `-p`, before pytest-django reads the settings.

Without URLs the embedded servers are started, with data of their own, so that a running `make run` is not touched.
Each worker of pytest-xdist has its own.
Beside the servers and the data folder nothing of the caller's environment reaches the tests.
"""

import os
import subprocess

import pytest

from config.env import BASE_DIR, env, is_embedded
from config.local import embedded

# Production needs them beside the URLs.
SECRETS = {"ALLOWED_HOSTS", "CREDENTIALS_KEYS", "SECRET_KEY"}
# Read by the settings, by `make run`, by Python's locale and time zone, and by requests and curl.
CLEARED = {
    "ALLOW_PUBLIC_EMBEDDED", "CSRF_TRUSTED_ORIGINS", "DATABASE_PREPARE",
    "DATABASE_STATEMENT_SECONDS", "DEBUG", "DEFAULT_FROM_EMAIL", "EMAIL_URL", "SITE_URL",
    "DRIVER_MAX_SPEED_KMH", "DRIVER_SESSION_DAYS", "DRIVER_SHARE_PERCENT",
    "PROOF_FOLDER", "PROOF_PHOTO_DAYS", "PROOF_S3_BUCKET", "PROOF_S3_URL",
    "DISPATCH_RADIUS_KM", "HOST", "INVOICES_PER_DAY", "INVOICE_QUOTA_MB", "LATE_MINUTES_PER_KM",
    "LATE_PICKUP_MINUTES", "LATE_WITHOUT_DRIVER_MINUTES", "MAP_ATTRIBUTION", "MAP_FILE", "MAP_TILE_URL",
    "OFFER_TTL", "PORT", "POSITION_FRESH_SECONDS", "REQUIRE_TWO_FACTOR", "ROAD_FACTOR", "ROUTING_ENGINE", "ROUTING_URL",
    "ROUTING_TIME_FACTOR_CAR", "ROUTING_TIME_FACTOR_MOTORCYCLE", "GEOCODER_URL",
    "SECRET_KEY_FALLBACKS", "SERVICE_AREA", "SERVICE_MINUTES_PICKUP", "SERVICE_MINUTES_STOP",
    "SECURE_HSTS_SECONDS", "SECURE_SSL_REDIRECT", "SECURITY_CONTACT",
    "SEED_DEMO", "SPEED_KMH_CAR", "SPEED_KMH_MOTORCYCLE", "TIME_ZONE",
    "VAPID_PRIVATE_KEY", "VAPID_SUBJECT", "METRICS_TOKEN",
    "TRUSTED_PROXIES", "WEBHOOK_ALLOW_LOOPBACK", "WEB_THREADS", "WEB_WORKERS", "WORKERS",
    "LANG", "LANGUAGE", "LC_ALL", "TZ",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy",
}  # fmt: skip  # a list of names
SET = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "LOG_LEVEL": "WARNING",
    "RATE_LIMIT_PER_HOUR": "0",  # most tests are not about limits
    "RATE_LIMIT_PER_SECOND": "0",
}

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

"""Settings of production, with nothing set but what it requires."""

import json
import re
import subprocess
import sys

import pytest
from django.contrib.auth.hashers import make_password

from config.env import BASE_DIR
from tests.production import ENVIRONMENT

# Variable of .env.example, and what it becomes in the settings, in the same unit.
DOCUMENTED = {
    "OFFER_TTL": "s.OFFER_TTL.total_seconds() / 60",
    "RATE_LIMIT_PER_SECOND": "s.RATE_LIMIT_PER_SECOND",
    "RATE_LIMIT_PER_HOUR": "s.RATE_LIMIT_PER_HOUR",
    "FORGET_DELIVERY_DAYS": "s.FORGET_DELIVERY_DAYS",
}
# Promised by security.md, personal-data.md, operations.md or decisions.md in docs, or a comment beside the setting.
PROMISED = {
    "s.DEBUG": False,
    "s.REQUIRE_TWO_FACTOR": True,
    "s.TRUSTED_PROXIES": 1,
    "s.SECURE_SSL_REDIRECT": True,
    "s.FORGET_INVOICE_YEARS": 5,
    "s.FORGET_ORDER_DAYS": 1825,
    "s.FORGET_POSITION_DAYS": 30,
    "s.PROOF_PHOTOS_KEPT.days": 90,
    "s.SECURE_HSTS_SECONDS": 365 * 24 * 3600,
    "s.SESSION_COOKIE_AGE": 12 * 3600,
    "s.SESSION_IDLE_SECONDS": 3600,
    "s.WEBHOOK_ALLOW_LOOPBACK": False,
    "s.SECURE_PROXY_SSL_HEADER[0]": "HTTP_X_FORWARDED_PROTO",
    "s.DATABASES['default']['CONN_HEALTH_CHECKS']": True,
    "s.DATABASES['default']['DISABLE_SERVER_SIDE_CURSORS']": True,  # PgBouncer in transaction mode
    "s.CACHES['default']['OPTIONS']['MAX_ENTRIES']": 10_000,
    "s.CELERY_BROKER_TRANSPORT_OPTIONS['visibility_timeout']": 60,
    "s.CELERY_TASK_PUBLISH_RETRY": False,
    "s.TIME_ZONE": "America/Sao_Paulo",
    "s.LOGGING['root']['level']": "INFO",
}


@pytest.fixture(scope="module")
def values():
    """Every expression of the tables, evaluated in a process of its own."""
    expressions = [*DOCUMENTED.values(), *PROMISED]
    code = f"import json; from django.conf import settings as s; print(json.dumps([{', '.join(expressions)}]))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=BASE_DIR,
        env={**ENVIRONMENT, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    return dict(zip(expressions, json.loads(result.stdout), strict=True))


@pytest.mark.parametrize(("variable", "expression"), DOCUMENTED.items())
def test_default_is_the_documented_one(values, variable, expression):
    text = (BASE_DIR / ".env.example").read_text()

    (default,) = re.findall(rf"^#{variable}=([\d.]+)$", text, re.MULTILINE)

    assert values[expression] == float(default)


@pytest.mark.parametrize(("expression", "value"), PROMISED.items())
def test_default_is_the_promised_one(values, expression, value):
    assert values[expression] == value


class TestPasswordHashers:
    def test_keep_passwords_by_a_slow_hash(self, settings):
        settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS[1:]  # the first one is that of the tests

        kept = make_password("plum canoe ladder frost")

        algorithm, iterations, salt, _digest = kept.split("$")
        assert algorithm == "pbkdf2_sha256"
        assert int(iterations) >= 600_000
        assert len(salt) >= 22  # of 62 characters: 128 bits

"""Settings of production, with nothing set but what it requires."""

import pytest
from django.contrib.auth.hashers import make_password

from tests.production import ENVIRONMENT, settings_of

# Promised by security.md, personal-data.md or decisions.md in docs.
PROMISED = {
    "s.DEBUG": False,
    "s.REQUIRE_TWO_FACTOR": True,
    "s.TRUSTED_PROXIES": 1,
    "s.SECURE_SSL_REDIRECT": True,
    "s.FORGET_DELIVERY_DAYS": 180,
    "s.FORGET_INVOICE_YEARS": 5,
    "s.FORGET_ORDER_DAYS": 1825,
    "s.FORGET_POSITION_DAYS": 30,
    "s.PROOF_PHOTOS_KEPT.days": 90,
    "s.SECURE_HSTS_SECONDS": 365 * 24 * 3600,
    "s.SESSION_COOKIE_AGE": 12 * 3600,
    "s.SESSION_IDLE_SECONDS": 3600,
    "s.WEBHOOK_ALLOW_LOOPBACK": False,
    "s.SECURE_PROXY_SSL_HEADER[0]": "HTTP_X_FORWARDED_PROTO",
    "any('monitoring' in name for name in s.MIDDLEWARE)": False,
}


def test_defaults_are_the_promised_ones():
    assert dict(zip(PROMISED, settings_of(*PROMISED), strict=True)) == PROMISED


def test_variables_are_taken_with_lists_former_keys_and_units():
    first, second, fernet = "first-" * 10, "second-" * 10, ENVIRONMENT["CREDENTIALS_KEYS"]

    found = settings_of(
        "s.SECRET_KEY", "s.SECRET_KEY_FALLBACKS", "s.CREDENTIALS_KEYS", "s.ALLOWED_HOSTS",
        "s.OFFER_TTL.total_seconds()", "'statement_timeout=15000ms' in s.DATABASES['default']['OPTIONS']['options']",
        SECRET_KEY=f"{first}, {second}", CREDENTIALS_KEYS=f"{fernet}, {fernet}", OFFER_TTL="7",
        ALLOWED_HOSTS="a.example.com, b.example.com", DATABASE_STATEMENT_SECONDS="15",
    )  # fmt: skip  # few lines

    assert found == [first, [second], [fernet] * 2, ["a.example.com", "b.example.com"], 420, True]


def test_types_of_problems_are_absolute_if_the_address_of_the_service_is_set():
    assert settings_of("s.PROBLEM_TYPES") == ["/docs/errors/"]
    assert settings_of("s.PROBLEM_TYPES", SITE_URL="https://a.example.com") == ["https://a.example.com/docs/errors/"]


@pytest.mark.parametrize("url", ["rediss://redis:6380/0", "rediss+sentinel://redis/0?master=rota"])
def test_workers_verify_the_certificate_of_redis(url):
    (encrypted,) = settings_of("config.celery.app.connection().ssl", module="config.celery", REDIS_URL=url)

    assert encrypted == {"ssl_cert_reqs": "required"}


class TestPasswordHashers:
    def test_keep_passwords_by_a_slow_hash(self, settings):
        settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS[1:]  # the first one is that of the tests

        kept = make_password("plum canoe ladder frost")

        algorithm, iterations, salt, _digest = kept.split("$")
        assert algorithm == "pbkdf2_sha256"
        assert int(iterations) >= 600_000
        assert len(salt) >= 22  # of 62 characters: 128 bits

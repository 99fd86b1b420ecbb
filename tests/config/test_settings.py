"""Settings of production, with nothing set but what it requires."""

from django.contrib.auth.hashers import make_password

from tests.production import settings_of

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
}


def test_defaults_are_the_promised_ones():
    assert dict(zip(PROMISED, settings_of(*PROMISED), strict=True)) == PROMISED


def test_an_offer_lasts_for_the_minutes_of_its_variable():
    assert settings_of("s.OFFER_TTL.total_seconds()", OFFER_TTL="7") == [420]


class TestPasswordHashers:
    def test_keep_passwords_by_a_slow_hash(self, settings):
        settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS[1:]  # the first one is that of the tests

        kept = make_password("plum canoe ladder frost")

        algorithm, iterations, salt, _digest = kept.split("$")
        assert algorithm == "pbkdf2_sha256"
        assert int(iterations) >= 600_000
        assert len(salt) >= 22  # of 62 characters: 128 bits

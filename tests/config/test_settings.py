"""Settings that the product promises and no other test reads."""

from django.contrib.auth.hashers import make_password


class TestPasswordHashers:
    def test_keep_passwords_by_a_slow_hash(self):
        kept = make_password("plum canoe ladder frost")

        algorithm, iterations, salt, _digest = kept.split("$")
        assert algorithm == "pbkdf2_sha256"
        assert int(iterations) >= 600_000
        assert len(salt) >= 22  # of 62 characters: 128 bits

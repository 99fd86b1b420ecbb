"""Ciphertexts inside other data. Sessions are tested in tests/config/reencryption/test_command.py."""

import pytest

from access import ciphertexts


class TestInAuthenticator:
    @pytest.mark.parametrize(
        ("data", "changed"),
        [
            ({"secret": "a"}, {"secret": "A"}),
            ({"seed": "a", "used_mask": 5, "viewed_at": 1.5}, {"seed": "A", "used_mask": 5, "viewed_at": 1.5}),
            ({"migrated_codes": ["a", "b"]}, {"migrated_codes": ["A", "B"]}),
            ({"name": "a key", "credential": {}}, {"name": "a key", "credential": {}}),
        ],
    )
    def test_changes_what_allauth_encrypts_and_nothing_else(self, data, changed):
        assert ciphertexts.in_authenticator(data, str.upper) == changed

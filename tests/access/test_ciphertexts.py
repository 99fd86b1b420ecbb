"""Ciphertexts inside other data."""

import pytest
from django.contrib.sessions.backends.db import SessionStore

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


class TestInSession:
    @pytest.mark.parametrize("name", [ciphertexts.FRESH_KEY, ciphertexts.FRESH_LINK])
    def test_changes_a_key_or_link_that_the_next_page_shows_and_nothing_else(self, name):
        stored = SessionStore().encode({name: "a", "other": "b"})

        assert SessionStore().decode(ciphertexts.in_session(stored, str.upper)) == {name: "A", "other": "b"}

    def test_leaves_others_and_what_cannot_be_verified_as_they_are(self):
        for stored in (SessionStore().encode({"other": "b"}), "made up"):
            assert ciphertexts.in_session(stored, str.upper) == stored

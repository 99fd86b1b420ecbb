"""Ciphertexts inside other data: allauth's authenticators and sessions.

Each function returns its data with `change` applied to every ciphertext in it, for `config.reencryption`.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.sessions.backends.db import SessionStore

# Key of a seller's new API key in the session, until the next page has shown it.
FRESH_KEY = "fresh_key"


def in_authenticator(data: dict[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """`data` of an `allauth.mfa` Authenticator: the secret of one-time codes, or the seed of recovery codes."""
    changed: dict[str, Any] = {name: change(data[name]) for name in ("secret", "seed") if name in data}
    if "migrated_codes" in data:
        changed["migrated_codes"] = [change(code) for code in data["migrated_codes"]]
    return {**data, **changed}


def in_session(session_data: str, change: Callable[[str], str]) -> str:
    """`session_data` of a Session. One that SECRET_KEY does not verify counts as empty, as for Django."""
    store = SessionStore()
    content = store.decode(session_data)
    if FRESH_KEY not in content:
        return session_data
    return store.encode({**content, FRESH_KEY: change(content[FRESH_KEY])})

"""Ciphertexts inside other data: allauth's authenticators and sessions.

Each function returns its data with `change` applied to every ciphertext in it, for
`manage.py reencrypt_credentials`.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.sessions.backends.db import SessionStore

# Keys in the session of a seller's new API key and of the link of an invitation, until the next page has shown it.
FRESH_KEY = "fresh_key"
FRESH_LINK = "fresh_link"


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
    changed = {name: change(content[name]) for name in (FRESH_KEY, FRESH_LINK) if name in content}
    return store.encode({**content, **changed}) if changed else session_data

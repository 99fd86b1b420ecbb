"""Re-encrypts every ciphertext in the database with the first of CREDENTIALS_KEYS, so that the others can be removed.

Can run beside the service: rows are read without a lock; those with another key are then read again with a row lock,
rewritten and committed in batches. Locked rows are skipped and left to a later pass.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Model

from common import credentials
from common.fields import CiphertextField
from panel import ciphertexts

_BATCH = 500
# Applies a function to each ciphertext within a column's value and returns the changed value.
Walk = Callable[[Any, Callable[[str], str]], Any]


def _change_value(value: str, change: Callable[[str], str]) -> str:
    return change(value) if value else value


@dataclass(frozen=True)
class Column:
    """A database column that contains ciphertexts. `name_of` formats a primary key for reports."""

    model: type[Model]
    attribute: str
    walk: Walk = _change_value
    name_of: Callable[[Any], str] = str

    def __str__(self) -> str:
        return f"{self.model._meta.label}.{self.attribute}"

    def batches(self) -> Iterator[list[tuple[Any, Any]]]:
        """Primary keys and values of all rows, in the order of the primary key."""
        rows = self.model._default_manager.order_by("pk").values_list("pk", self.attribute)
        batch = list(rows[:_BATCH])
        while batch:
            yield batch
            batch = list(rows.filter(pk__gt=batch[-1][0])[:_BATCH])

    def keys_of(self, value: Any) -> list[str]:
        """Fingerprint of the key of each ciphertext in a value. Raises InvalidToken when one has no known key."""
        keys: list[str] = []

        def collect(ciphertext: str) -> str:
            keys.append(credentials.key_of(ciphertext))
            return ciphertext

        self.walk(value, collect)
        return keys

    @transaction.atomic
    def rewrite(self, primary_keys: list[Any]) -> int:
        """Re-encrypt these rows with the first key, except locked ones. Returns how many."""
        chosen = self.model._default_manager.filter(pk__in=primary_keys)
        rows = list(chosen.select_for_update(skip_locked=True, no_key=True))
        for row in rows:
            setattr(row, self.attribute, self.walk(getattr(row, self.attribute), credentials.reencrypt))
        return self.model._default_manager.bulk_update(rows, [self.attribute]) if rows else 0


@dataclass
class Found:
    """Result of one pass over a column: ciphertexts per key, primary keys of undecryptable rows, rows rewritten."""

    under_key: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    rewritten: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all ciphertexts are encrypted with the first key."""
        return not self.unreadable and set(self.under_key) <= {credentials.first_key()}


def columns() -> list[Column]:
    """Every column of the database that holds ciphertexts."""
    own = [
        Column(model, part.name)
        for model in apps.get_models()
        for part in model._meta.concrete_fields
        if isinstance(part, CiphertextField)
    ]
    return [
        *own,
        Column(Authenticator, "data", ciphertexts.in_authenticator),
        # The primary key of a session is the value of its cookie, so reports show its fingerprint.
        Column(Session, "session_data", ciphertexts.in_session, credentials.fingerprint),
    ]


def scan(column: Column, *, rewrite: bool) -> Found:
    """One pass over a column. `rewrite` re-encrypts rows with another key."""
    found, first = Found(), credentials.first_key()
    for batch in column.batches():
        old = []
        for primary_key, value in batch:
            try:
                keys = column.keys_of(value)
            except InvalidToken:
                found.unreadable.append(column.name_of(primary_key))
                continue
            found.under_key.update(keys)
            if set(keys) - {first}:
                old.append(primary_key)
        if rewrite and old:
            found.rewritten += column.rewrite(old)
    return found

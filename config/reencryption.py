"""Brings every ciphertext in the database under the first of CREDENTIALS_KEYS, so that the other keys can go.

Works beside a running service: rows are read without a lock, then those under another key are read again under a row
lock, rewritten and committed batch by batch. A row that somebody else has locked is left to a later pass.
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
# A value and what to do with each ciphertext in it, to the value with that done.
Walk = Callable[[Any, Callable[[str], str]], Any]


def _whole(value: str, change: Callable[[str], str]) -> str:
    return change(value) if value else value


@dataclass(frozen=True)
class Column:
    """A column with ciphertexts. `name_of` makes a primary key fit to be shown."""

    model: type[Model]
    attribute: str
    walk: Walk = _whole
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

        def note(ciphertext: str) -> str:
            keys.append(credentials.key_of(ciphertext))
            return ciphertext

        self.walk(value, note)
        return keys

    @transaction.atomic
    def rewrite(self, primary_keys: list[Any]) -> int:
        """Bring these rows under the first key, but for those that are locked. Returns how many."""
        chosen = self.model._default_manager.filter(pk__in=primary_keys)
        rows = list(chosen.select_for_update(skip_locked=True, no_key=True))
        for row in rows:
            setattr(row, self.attribute, self.walk(getattr(row, self.attribute), credentials.reencrypt))
        return self.model._default_manager.bulk_update(rows, [self.attribute]) if rows else 0


@dataclass
class Found:
    """What one pass over a column has met: ciphertexts under each key, rows that no key opens, rows rewritten."""

    under_key: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    rewritten: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether everything is under the first key."""
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
        # The primary key of a session is what its cookie holds, so it is not shown.
        Column(Session, "session_data", ciphertexts.in_session, credentials.fingerprint),
    ]


def scan(column: Column, *, rewrite: bool) -> Found:
    """One pass over a column; with `rewrite` what is met under another key is brought under the first."""
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

"""Re-encrypts every ciphertext in the database with the first of CREDENTIALS_KEYS, so that the others can be removed.

Can run beside the service: rows are read without a lock; those with another key are then read again with a row lock,
rewritten and committed in batches. Locked rows are skipped and left to a later pass.
"""

import json
import sys
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import Model

from access import ciphertexts
from common import credentials
from common.fields import CiphertextField

_BATCH = 500
_MOST_PASSES = 10
_PAUSE_SECONDS = 1
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


class Command(BaseCommand):
    help = (
        "Re-encrypt all ciphertexts in the database with the first of CREDENTIALS_KEYS, while the service runs. Prints "
        '{"complete", "first_key", "reencrypted", "under_key", "unreadable"}: rows rewritten, ciphertexts under each '
        "key (named by its fingerprint), and ids of rows that no key decrypts. Exits with 1 unless complete, which "
        "means that the other keys can be removed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="report only, change nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        answer = self._report(self._passes(rewrite=not options["check"]))
        self.stdout.write(json.dumps(answer))
        if not answer["complete"]:
            sys.exit(1)

    def _passes(self, *, rewrite: bool) -> list[dict[str, Found]]:
        """Results of all passes. The last one had nothing to rewrite, unless rows stayed locked throughout."""
        passes = [self._pass(rewrite=rewrite)]
        while rewrite and len(passes) < _MOST_PASSES and not _is_done(passes[-1]):
            if len(passes) > 1:
                time.sleep(_PAUSE_SECONDS)  # until locked rows are released
            passes.append(self._pass(rewrite=True))
        return passes

    def _pass(self, *, rewrite: bool) -> dict[str, Found]:
        met = {}
        for column in columns():
            met[str(column)] = found = scan(column, rewrite=rewrite)
            self.stderr.write(
                f"{column}: {found.under_key.total()} ciphertexts, {found.rewritten} rows re-encrypted,"
                f" {len(found.unreadable)} unreadable"
            )
        return met

    def _report(self, passes: list[dict[str, Found]]) -> dict[str, Any]:
        last = passes[-1]
        keys = [credentials.fingerprint(key) for key in settings.CREDENTIALS_KEYS]
        return {
            "complete": _is_done(last) and not any(found.unreadable for found in last.values()),
            "first_key": credentials.first_key(),
            "reencrypted": {name: sum(met[name].rewritten for met in passes) for name in last},
            "under_key": {
                key: {name: found.under_key[key] for name, found in last.items() if found.under_key[key]}
                for key in keys
            },
            "unreadable": {name: found.unreadable for name, found in last.items() if found.unreadable},
        }


def _is_done(met: dict[str, Found]) -> bool:
    """Whether there is nothing to rewrite. Rows that no key decrypts need no further pass."""
    return all(set(found.under_key) <= {credentials.first_key()} for found in met.values())

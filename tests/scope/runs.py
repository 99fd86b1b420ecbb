"""Comparing a call among everybody with the same call where the others do not exist."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Model

from tests.scope.rows import Key, Ledger, Owner, plain


class Outcome(NamedTuple):
    """What a call returned or raised, what it wrote, and which rows of others it touched."""

    result: str
    error: BaseException | None
    changes: Counter[str]
    touched: list[Key]


def run(call: Callable[[], Any], ledger: Ledger, *, others: set[Key], alone: bool = False) -> Outcome:
    """Make the call, alone or among the others, and undo what it did."""
    savepoint = transaction.savepoint()
    callbacks = connection.run_on_commit
    error: BaseException | None = None
    try:
        if alone:
            ledger.remove(others)
        ledger.reset_sequences()
        inner = transaction.savepoint()
        try:
            result = plain(call())
        except Exception as raised:  # noqa: BLE001  # compared
            error, result = raised, f"{type(raised).__name__}: {raised}"
            if connection.needs_rollback or not connection.is_usable():
                transaction.set_rollback(False)
                transaction.savepoint_rollback(inner)
        changes, touched = ledger.changes(without=others)
        return Outcome(ledger.masked(result), error, changes, [] if alone else touched)
    finally:
        transaction.set_rollback(False)
        transaction.savepoint_rollback(savepoint)
        connection.run_on_commit = callbacks


def owners_of(values: Iterable[Any], ledger: Ledger) -> list[Owner]:
    """The owners of the rows among these values."""
    found = []
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else [value]:
            rows = each if isinstance(each, tuple) else (each,)
            found += [owner for row in rows if isinstance(row, Model) and (owner := ledger.owner_of(row))]
    return found

"""Comparing a call among everybody with the same call where the others do not exist."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Model

from tests.scope.rows import Columns, Key, Ledger, Owner, plain


class Outcome(NamedTuple):
    """What a call returned or raised, what it wrote, which rows of others it touched, and in which columns it wrote."""

    result: str
    error: BaseException | None
    changes: Counter[str]
    touched: list[Key]
    columns: Columns


def run(
    call: Callable[[], Any], ledger: Ledger, *, others: set[Key], alone: bool = False, bare: Iterable[Key] = ()
) -> Outcome:
    """Make the call, alone or among the others, and undo what it did. `bare`: rows that do not exist then."""
    removed = {*bare, *(others if alone else ())}
    ledger.remove(removed)
    savepoint = transaction.savepoint()
    callbacks = connection.run_on_commit
    error: BaseException | None = None
    try:
        ledger.reset_sequences()
        inner = transaction.savepoint()
        try:
            result = plain(call())
        except Exception as raised:  # noqa: BLE001  # compared
            error, result = raised, f"{type(raised).__name__}: {raised}"
            if connection.needs_rollback or not connection.is_usable():
                transaction.set_rollback(False)
                transaction.savepoint_rollback(inner)
        changes, touched, columns = ledger.changes(without=others, removed=removed)
        return Outcome(ledger.masked(result), error, changes, touched, columns)
    finally:
        transaction.set_rollback(False)
        transaction.savepoint_rollback(savepoint)
        transaction.savepoint_commit(savepoint)  # which a rollback keeps
        connection.run_on_commit = callbacks


def differences(call: Callable[[], Any], ledger: Ledger, *, others: set[Key], bare: Iterable[Key] = ()) -> list[str]:
    """What the call does otherwise among the others than alone; and whether it changes their rows."""
    among = run(call, ledger, others=others, bare=bare)
    alone = run(call, ledger, others=others, bare=bare, alone=True)
    return compared(among, alone)


def compared(among: Outcome, alone: Outcome) -> list[str]:
    """The differences of two outcomes, as texts."""
    found = [f"changed {key} of others" for key in among.touched]
    if among.result != alone.result:
        start = _same(among.result, alone.result)
        around = slice(max(0, start - 100), start + 200)
        found.append(f"answers {among.result[around]!r}, and alone {alone.result[around]!r}")
    found += [f"writes only among others: {text}" for text in among.changes - alone.changes]
    return found + [f"writes only alone: {text}" for text in alone.changes - among.changes]


def _same(one: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def owners_of(values: Iterable[Any], ledger: Ledger) -> list[Owner]:
    """The owners of the rows among these values."""
    found = []
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else [value]:
            rows = each if isinstance(each, tuple) else (each,)
            found += [owner for row in rows if isinstance(row, Model) and (owner := ledger.owner_of(row))]
    return found

"""What the log says of the request or task that a record belongs to: who calls, and what it is about. Ids only."""

from collections.abc import Mapping
from contextvars import ContextVar, Token
from datetime import datetime
from typing import Literal, TypeAlias

Name: TypeAlias = Literal["account", "user", "driver", "delivery", "order", "changed_at", "task"]
Scope: TypeAlias = "Token[dict[str, str] | None]"
_noted: ContextVar[dict[str, str] | None] = ContextVar("log_context", default=None)


def begin() -> Scope:
    """Begin a request or task, about which nothing is known yet. `end` takes what it returns."""
    return _noted.set({})


def end(scope: Scope) -> None:
    _noted.reset(scope)


def note(name: Name, value: object) -> None:
    """Put an id on all further records of this request or task. Outside of one it has no effect."""
    noted = _noted.get()
    if noted is not None:
        noted[name] = str(value)


def note_change(kind: Literal["delivery", "order"], key: object, at: datetime) -> None:
    """Note a new entry of the history of a delivery or order. `at` is the entry's moment."""
    note(kind, key)
    note("changed_at", at.isoformat())


def noted() -> Mapping[str, str]:
    return _noted.get() or {}

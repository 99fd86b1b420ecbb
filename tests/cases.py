"""Cases that one test looks at, one after the other."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from django.db import connection, transaction


def in_turn(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, but one test, whose fixtures are made once. What a case writes is undone.

    For cases that leave everything else as it was. The first one that fails is named by the report.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    given = [case if len(named) > 1 else (case,) for case in cases]

    def of(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            assert given, "no case"
            for values in given:
                # No `atomic` block: within one a durable block of production code is refused.
                savepoint = transaction.savepoint() if connection.in_atomic_block else None
                case = dict(zip(named, values, strict=True))
                try:
                    test(*args, **fixtures, **case)
                except BaseException as error:
                    error.add_note(f"with {case}")
                    raise
                if savepoint is not None:
                    transaction.savepoint_rollback(savepoint)
                    transaction.savepoint_commit(savepoint)  # which a rollback keeps

        signature = inspect.signature(test)
        fixtures_only = [one for one in signature.parameters.values() if one.name not in named]
        run.__signature__ = signature.replace(parameters=fixtures_only)  # type: ignore[attr-defined]  # of a function
        return run

    return of

"""Anonymising rows that triggers protect: only within `forgetting`, and only into the form that the trigger knows.

Columns of such a trigger are refused any other change, so an ordinary UPDATE fails as before.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pgtrigger
from django.db import connection, transaction

_VARIABLE = "rota.forgetting"
_IS_FORGETTING = f"coalesce(current_setting('{_VARIABLE}', TRUE), '') = 'on'"

# Forms of an anonymised column, as conditions of a trigger.
EMPTY = "NEW.{column} = ''"
FEWER_KEYS = "NEW.{column} <@ OLD.{column}"  # of JSON: nothing that was not there before
NO_BYTES = "NEW.{column} = ''::bytea"
ROUNDED = "NEW.{column} = round(OLD.{column}::numeric, 1)::double precision"  # of degrees: about eleven kilometres
REDACTED = "TRUE"  # of text that has a structure of its own; the code decides what is left of it
SET_ONCE = "OLD.{column} IS NULL"  # of the moment at which a row was anonymised


def equal_to(text: str) -> str:
    """The form of a column that holds this text afterwards."""
    return f"NEW.{{column}} = '{text}'"


@contextmanager
def forgetting() -> Iterator[None]:
    """A transaction, or a savepoint, in which columns may be anonymised. The permission ends with the block."""
    with transaction.atomic():
        _permit("on")
        yield
        _permit("off")  # after an error the rollback does it


def _permit(state: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, TRUE)", [_VARIABLE, state])


def read_only_but_forgotten(
    name: str, forms: Mapping[str, str], *, unless: Mapping[str, str] | None = None
) -> pgtrigger.Protect:
    """A trigger that refuses every change of these columns but the one into the form, within `forgetting`.

    `unless`: SQL conditions of columns, under which any change is allowed.
    """
    allowed = {column: f"{_IS_FORGETTING} AND {form.format(column=column)}" for column, form in forms.items()}
    for column, condition in (unless or {}).items():
        allowed[column] = f"{allowed[column]} OR {condition}"
    changes = (
        f"(OLD.{column} IS DISTINCT FROM NEW.{column} AND NOT ({condition}))" for column, condition in allowed.items()
    )
    return pgtrigger.Protect(
        name=name, operation=pgtrigger.Update, condition=pgtrigger.Condition(f"({' OR '.join(changes)})")
    )


def unless_forgotten(*, state: str, kept: str) -> pgtrigger.Condition:
    """The condition of a trigger that refuses all updates in a `state`, but those within `forgetting` that keep `kept`.

    Both are SQL; `kept` is true where the columns that must stay do.
    """
    return pgtrigger.Condition(f"({state} AND NOT ({_IS_FORGETTING} AND {kept}))")

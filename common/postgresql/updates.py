"""When what a row says to its readers was changed for the last time: its `updated_at`, which triggers maintain.

So no statement can leave it out, whatever makes it. A change of another row that is shown with this one touches it.
"""

from typing import Any

import pgtrigger
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

_SET = "NEW.updated_at := clock_timestamp(); RETURN NEW;"


def updated_at() -> Any:
    """The column of a row's latest change; at first the moment of its creation, which whoever creates it writes."""
    return models.DateTimeField(_("updated at"), db_default=Now(), editable=False)


def set_by_updates(name: str, *columns: str) -> pgtrigger.Trigger:
    """The trigger of a table that sets `updated_at` when one of these columns is written, without any by each update.

    A write of the same value counts: what it is written with may be shown elsewhere. The name comes after those of the
    triggers that refuse changes, which so compare rows as they were sent.
    """
    operation = pgtrigger.UpdateOf("updated_at", *columns) if columns else pgtrigger.Update  # type: ignore[no-untyped-call]
    return pgtrigger.Trigger(name=name, when=pgtrigger.Before, operation=operation, func=_SET)


def touch(table: str, keys: str) -> str:
    """The body of a trigger that has the rows of a table changed now whose keys the SQL `keys` selects.

    In the order of the keys, so that two transactions that touch several rows do not wait for each other. Not again
    what was changed in this transaction.
    """
    return f"""
        UPDATE {table} SET updated_at = updated_at WHERE id = ANY(ARRAY(
            SELECT id FROM {table} WHERE id = ANY(ARRAY({keys})) AND updated_at < transaction_timestamp()
            ORDER BY id FOR NO KEY UPDATE
        ));
        RETURN NULL;
    """  # noqa: S608  # nosec B608  # constants

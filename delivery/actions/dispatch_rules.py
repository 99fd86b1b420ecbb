"""Changes of the rules of dispatch."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pghistory
from django.core.exceptions import ValidationError
from django.db import transaction

from delivery.models import DispatchRules, Rules

_NAMES = [field.name for field in fields(Rules)]


@transaction.atomic
def change(*, values: Mapping[str, Any], by: str) -> DispatchRules:
    """Set the rules that `values` names. They hold at once in this process, in others within five seconds.

    The history records them with `by`, and with the database's clock. Raises ValidationError by the names of the rules.
    """
    if unknown := values.keys() - {*_NAMES}:
        raise ValidationError(dict.fromkeys(unknown, f"There is no such rule, but {', '.join(_NAMES)}."))
    row = DispatchRules.objects.first() or DispatchRules.objects.create()
    for name, value in values.items():
        setattr(row, name, value)
    row.full_clean()
    with pghistory.context(by=by):
        row.save(update_fields=values)  # not the others, which somebody else may be changing
    transaction.on_commit(DispatchRules.forget_current)
    return row

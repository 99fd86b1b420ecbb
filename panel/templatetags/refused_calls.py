"""Template filters for refused calls of either area."""

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def reasons(answer: str) -> list[str]:
    """What the body of the answer says is wrong, with the name of each field; empty for one that is not whole JSON."""
    try:
        body: Any = json.loads(answer)
    except ValueError:
        return []
    if not isinstance(body, dict):
        return []
    found = _of_fields(body.get("errors"))
    return found or [str(body[name]) for name in ("detail", "message") if body.get(name)][:1]


def _of_fields(errors: Any) -> list[str]:
    """The errors of area A, a list with JSON Pointers, or those of area B, lists of texts by dotted path."""
    if isinstance(errors, list):
        return [
            f"{str(each.get('pointer', '')).removeprefix('#/').replace('/', '.')}: {each.get('detail', '')}"
            for each in errors
            if isinstance(each, dict)
        ]
    if isinstance(errors, dict):
        return [f"{path}: {' '.join(map(str, texts))}" for path, texts in errors.items() if isinstance(texts, list)]
    return []

"""The query parameters that a filterset reads. `help_text` of a filter describes it."""

from typing import Any

from drf_spectacular.plumbing import build_parameter_type

from common.pagination import DEFAULT_ROWS, MOST_ROWS, LimitField

Schema = dict[str, Any]


def parameters(filterset: Any) -> list[Schema]:
    """Those of a QueryFilter class, its page last."""
    return [
        build_parameter_type(name, _schema(filter_.field), "query", description=filter_.field.help_text)
        for name, filter_ in filterset.base_filters.items()
    ]


def _schema(field: Any) -> Schema:
    if isinstance(field, LimitField):
        return {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": DEFAULT_ROWS}
    if choices := getattr(field, "choices", None):
        return {"type": "string", "enum": [value for value, _label in choices if value]}
    most = getattr(field, "max_length", None)
    return {"type": "string", **({"maxLength": most} if most else {})}

"""Entries of `errors` in the problems of area A: one for each place that is wrong."""

from collections.abc import Iterator
from typing import Any, NotRequired, TypedDict

from rest_framework import exceptions

from common.payload_warnings import PayloadWarning, UnknownParameter

# Codes of entries that a problem has as its own code if all its entries have it.
CODES_OF_PROBLEMS = frozenset({"unknown_key", "outside_service_area"})
# What warnings say, by code.
_WARNINGS = {
    "unknown_key": "This key is unknown and has no effect.",
    "missing_weight": "A package without a weight counts as 0 kg.",
    "doubtful_phone": "This does not look like a telephone number.",
    "unknown_outcome": "This begins like an outcome of the simulated driver and is none, so everything is delivered.",
}


class FieldError(TypedDict):
    """`pointer` is a JSON Pointer (RFC 6901) to a field of the body, in its URI fragment form; else `parameter`."""

    pointer: NotRequired[str]
    parameter: NotRequired[str]
    code: str
    detail: str


def of_query(detail: Any) -> Iterator[FieldError]:
    """Errors of query parameters, from lists of ErrorDetail by the name of the parameter."""
    for name, errors in detail.items():
        for error in errors:
            yield {"parameter": name, "code": error.code, "detail": str(error)}


def of_warning(warning: PayloadWarning) -> FieldError:
    """A warning, which is an error for a caller that prefers strict handling."""
    detail = _WARNINGS[warning.code] + _suggestion(warning.nearest) + _known(warning.known)
    return {"pointer": warning.pointer, "code": warning.code, "detail": detail}


def of_unknown_parameter(parameter: UnknownParameter) -> FieldError:
    """A parameter without effect, which is an error for a caller that prefers strict handling."""
    detail = "This parameter is unknown and has no effect." + _suggestion(parameter.nearest) + _known(parameter.known)
    return {"parameter": parameter.name, "code": "unknown_key", "detail": detail}


def _suggestion(nearest: str) -> str:
    return f" Did you mean '{nearest}'?" if nearest else ""


def _known(names: tuple[str, ...]) -> str:
    return f" Known ones: {', '.join(names)}." if names else ""


def of_body(detail: Any, pointer: str = "#") -> Iterator[FieldError]:
    """Errors of a body, from those of DRF, which are nested like the body."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            is_of_object = name == "non_field_errors"
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            yield from of_body(inner, pointer if is_of_object else f"{pointer}/{escaped}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            is_leaf = isinstance(inner, exceptions.ErrorDetail)
            yield from of_body(inner, pointer if is_leaf else f"{pointer}/{index}")
    else:
        yield {"pointer": pointer, "code": getattr(detail, "code", "invalid"), "detail": str(detail)}

"""JSON Schema of type hints, with a component for each TypedDict."""

import inspect
import types
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from common.api.json_body import Json

Schema = dict[str, Any]

_BASIC: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer", "format": "int64"},  # as parameters have it; generated clients take 32 bits otherwise
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}


def schema_of(hint: Any, components: dict[str, Schema]) -> Schema:
    """The schema of a hint. TypedDicts are added to `components` and referred to. Raises TypeError for other types."""
    if hint in _BASIC:
        return dict(_BASIC[hint])
    if is_typeddict(hint):
        return _component(hint, components)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _described(schema_of(arguments[0], components), arguments[1:])
    if origin is NotRequired:
        return schema_of(arguments[0], components)
    if origin is Literal:
        # Generators fail at an enumeration of booleans.
        values = {} if isinstance(arguments[0], bool) else {"enum": list(arguments)}
        return {**_BASIC[type(arguments[0])], **values}
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0], components)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1], components) or True}
    if origin in (Union, types.UnionType):
        return _union([schema_of(argument, components) for argument in arguments])
    raise TypeError(f"{hint} has no JSON Schema")


def component_name(typed_dict: type) -> str:
    """Area B's have a prefix, because both areas have an Order and an Address."""
    return ("Seller" if typed_dict.__module__.startswith("integration") else "") + typed_dict.__name__


def _component(typed_dict: Any, components: dict[str, Schema]) -> Schema:
    name = component_name(typed_dict)
    if name not in components:
        components[name] = {}  # refers to itself while it is made
        hints = get_type_hints(typed_dict, include_extras=True)
        components[name] = {
            "type": "object",
            **({"description": text} if (text := _own_doc(typed_dict)) else {}),
            "properties": {key: schema_of(hint, components) for key, hint in hints.items()},
            "required": [key for key in hints if key in typed_dict.__required_keys__],
        }
    return {"$ref": f"#/components/schemas/{name}"}


def _own_doc(typed_dict: Any) -> str:
    """The docstring, in one line, without that of `dict`."""
    text = typed_dict.__dict__.get("__doc__") or ""
    return " ".join(inspect.cleandoc(text).split()) if text != dict.__doc__ else ""


def _described(schema: Schema, metadata: tuple[Any, ...]) -> Schema:
    for json in metadata:
        if isinstance(json, Json):
            schema |= {"format": json.format} if json.format else {}
            schema |= {"enum": list(json.one_of)} if json.one_of else {}
            schema |= {"description": json.about} if json.about else {}
    return schema


def _union(schemas: list[Schema]) -> Schema:
    """One type or null as a list of types, as OpenAPI 3.1 writes it; else `anyOf`."""
    others = [schema for schema in schemas if schema != {"type": "null"}]
    if len(others) == 1 and len(schemas) == 2 and "type" in others[0]:  # noqa: PLR2004  # one type, and null
        schema = {**others[0], "type": [others[0]["type"], "null"]}
        return schema | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})
    return {"anyOf": schemas}

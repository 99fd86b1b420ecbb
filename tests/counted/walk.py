"""Where conditions of queries are written, and what they are about: what `places.txt` lists."""

import ast
import re
from collections.abc import Iterator

from tests.sources import modules

_BY_KEY = {"pk", "pk__in"}
_FUNCTIONS = {"Q", "When", "get_object_or_404"}
# Dictionaries have `get` too, so these count if all that they are given has a name.
_OF_ONE = {"get", "get_or_create", "update_or_create"}
_METHODS = {"filter", "exclude", "aggregate", *_OF_ONE}
_NO_CONDITION = {"then", "defaults", "create_defaults", "timeout"}
_IN_SQL = re.compile(r"\b(?:WHERE|AND|OR)\s+(?:NOT\s+)?\(*(?!EXISTS\b)([a-z_{][\w.{}]*)")


def places() -> dict[str, list[str]]:
    """By `module:function` the columns, parameters and names of the conditions of its queries, sorted.

    Those of constraints and indexes are none, nor is one row by its key.
    """
    found: dict[str, list[str]] = {}
    for module, source in modules():
        for names, conditions in _visit(ast.parse(source), ()):
            found.setdefault(f"{module}:{'.'.join(names)}", []).extend(conditions)
    return {place: sorted(conditions) for place, conditions in found.items() if conditions}


def _visit(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    children = list(ast.iter_child_nodes(node))
    match node:
        case ast.ClassDef(name="Meta") | ast.Expr(value=ast.Constant()):  # or a docstring
            return
        case ast.ClassDef(name=name, body=body):
            names = (*names, name)
            yield names, [condition for each in body for condition in _declared(each)]
        case ast.FunctionDef(name=name):
            names = (*names, name)
        case (
            ast.Assign(targets=[ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_])])
            | ast.AnnAssign(target=ast.Name(id=name))
        ) if not names:
            names = (name,)
        case ast.Call() if names:  # others register something
            yield names, _of_call(node)
        case ast.Constant(value=str(text)):
            yield names, _of_sql(text)
        case ast.JoinedStr(values=values):
            text = "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in values)
            yield names, _of_sql(text)
            children = [each for each in values if not isinstance(each, ast.Constant)]
    for child in children:
        yield from _visit(child, names)


def _of_call(call: ast.Call) -> list[str]:
    name, args = _name(call.func), call.args
    if name == "get_object_or_404":
        args = args[1:]
    elif name in _OF_ONE and args:
        return []
    named = [keyword.arg or f"**{_name(keyword.value)}" for keyword in call.keywords]
    named = [each for each in named if each not in _NO_CONDITION]
    is_query = name in _FUNCTIONS or (name in _METHODS and isinstance(call.func, ast.Attribute))
    if not is_query or not (args or set(named) - _BY_KEY):
        return []
    return [*named, *(part for arg in args for part in _parts(arg))]


def _parts(node: ast.AST) -> list[str]:
    """What a condition is composed of. The parts of `Q` are those of a call of its own."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return _parts(left) + _parts(right)
        case ast.UnaryOp(operand=operand):
            return _parts(operand)
        case ast.Starred(value=value):
            return [f"*{_name(value)}"]
        case ast.Call(func=func, args=args):
            column = str(args[0].value) if args and isinstance(args[0], ast.Constant) else ""
            return [] if _name(func) == "Q" else [f"{_name(func)}({column})"]
    return [_name(node)]


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return f"{_name(func)}()"
    return "…"


def _of_sql(text: str) -> list[str]:
    return _IN_SQL.findall(text) if re.search(r"\bWHERE\b", text) else []


def _declared(node: ast.stmt) -> list[str]:
    """The filter of a list, unless it has a method, which is a place of its own."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=args, keywords=keywords)):
            options = {keyword.arg: keyword.value for keyword in keywords}
            if _name(func).endswith("Filter") and "method" not in options:
                where = [*args, *(options[each] for each in ("field_name", "lookup_expr") if each in options)]
                column = "__".join(str(each.value) for each in where if isinstance(each, ast.Constant))
                return [f"{name}={column or name}"]
    return []

"""The changes that mutants are made by: mistakes of people who edit queries, conditions, moments, money and messages.

An operator is given a node of a syntax tree and the nodes that contain it, the outermost first, and yields changes.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from tests.sources import modules


class Change(NamedTuple):
    """The text from the start of `first` to the end of `last` becomes `text`."""

    first: ast.expr | ast.stmt
    last: ast.expr | ast.stmt
    text: str


Ancestors = Sequence[ast.AST]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Operator = Callable[[ast.AST, Ancestors], Iterator[Change]]

OPERATORS: dict[str, Operator] = {}  # by what reports call them

_QUERIES = {"filter", "exclude", "get", "Q", "get_object_or_404"}
_SETS = {"frozenset", "set", "tuple"}
_LOOKUPS = {"__lte": "__lt", "__lt": "__lte", "__gte": "__gt", "__gt": "__gte"}
_COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
_ROUNDINGS = {
    "ROUND_HALF_UP": "ROUND_HALF_EVEN", "ROUND_HALF_EVEN": "ROUND_HALF_UP", "ROUND_CEILING": "ROUND_HALF_UP",
    "ROUND_UP": "ROUND_HALF_UP", "ROUND_DOWN": "ROUND_HALF_UP", "ROUND_FLOOR": "ROUND_HALF_UP", "ceil": "floor",
    "floor": "ceil",
}  # fmt: skip  # a table
_OPPOSITES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "first": "last", "last": "first", "earliest": "latest",
    "latest": "earliest", "filter": "exclude", "exclude": "filter", "startswith": "endswith",
}  # fmt: skip  # a table
_METHODS = {"distinct", "select_for_update", "order_by", "strip", "casefold"}
# Does at once what waits for the commit.
EARLY = "with __import__('unittest.mock').mock.patch('django.db.transaction.on_commit', lambda do, **_: do()): "
_DECORATORS = re.compile(r"atomic|require|login|permission|cache|csrf|right|throttle|limit")
# Names around values that are the same only if each part of them is: keys of caches, digests, cursors, confirmations.
_IDENTITIES = re.compile(
    r"key|digest|cursor|confirm|sign|fingerprint|version|cache|etag|hash|sha\d|same|seen|group|scope|dumps|join"
)
_IS_SQL = re.compile(r"\b(SELECT|UPDATE|INSERT|WHERE|DELETE)\b")
_SQL = {
    r"<=": "<", r">=": ">", r"(?<![<>=-])<(?![=>])": "<=", r"(?<![<>=-])>(?!=)": ">=", r"\bDESC\b": "ASC",
    r" SKIP LOCKED": "", r"\bAND\b": "OR", r"\bDISTINCT ": "",
}  # fmt: skip  # a table


def changes(tree: ast.AST) -> Iterator[tuple[str, Change, Ancestors]]:
    """Each change of each operator, with the operator's name and the nodes down to the one it was given."""
    for node, ancestors in _with_ancestors(tree, ()):
        for name, operator in OPERATORS.items():
            for change in operator(node, ancestors):
                yield name, change, (*ancestors, node)


def _with_ancestors(node: ast.AST, ancestors: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, Ancestors]]:
    yield node, ancestors
    for child in ast.iter_child_nodes(node):
        yield from _with_ancestors(child, (*ancestors, node))


def _operator(name: str) -> Callable[[Operator], Operator]:
    def register(operator: Operator) -> Operator:
        OPERATORS[name] = operator
        return operator

    return register


def _becomes(node: ast.AST, replacement: ast.AST | str) -> Change:
    assert isinstance(node, ast.expr | ast.stmt)  # the other nodes have no place in the text
    return Change(node, node, replacement if isinstance(replacement, str) else f"({ast.unparse(replacement)})")


def _without(node: ast.AST, *path: str | int) -> ast.AST:
    """A copy of the node without the item of a list that the path of attributes and indexes leads to."""
    changed = deepcopy(node)
    place: Any = changed
    for step in path[:-1]:
        place = place[step] if isinstance(step, int) else getattr(place, step)
    del place[path[-1]]
    return changed


def _name(node: ast.AST) -> str:
    """The last part of a dotted name, or of the name of what is called."""
    match node:
        case ast.Call(func=func):
            return _name(func)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr.isupper()


@_operator("keyword of a query left out")
def _keyword_of_a_query(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    if isinstance(node, ast.Call) and _name(node) in _QUERIES:
        yield from (_becomes(node, _without(node, "keywords", index)) for index in range(len(node.keywords)))
        if _name(node) in {"exclude", "Q"} or (_name(node) == "filter" and isinstance(node.func, ast.Attribute)):
            yield from (_becomes(node, _without(node, "args", index)) for index in range(len(node.args)))


@_operator("keyword of a call left out")
def _keyword_of_a_call(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    if isinstance(node, ast.Call) and _name(node) not in {*_QUERIES, "zip"}:
        yield from (_becomes(node, _without(node, "keywords", index)) for index in range(len(node.keywords)))


@_operator("condition left out")
def _condition(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.BoolOp(op, values):
            for index in range(len(values)):
                rest = values[:index] + values[index + 1 :]
                yield _becomes(node, rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))
        case ast.ListComp(generators=generators) | ast.SetComp(generators=generators):
            for number, generator in enumerate(generators):
                for index in range(len(generator.ifs)):
                    yield _becomes(node, _without(node, "generators", number, "ifs", index))
        case ast.GeneratorExp(generators=[generator]) if generator.ifs:
            yield _becomes(node, _without(node, "generators", 0, "ifs", 0))
        case ast.BinOp(left, op, right) if _joins_conditions(node, op):
            yield from (_becomes(node, left), _becomes(node, right))


def _joins_conditions(node: ast.BinOp, op: ast.operator) -> bool:
    return isinstance(op, ast.BitAnd) or (isinstance(op, ast.BitOr) and "Q" in map(_name, ast.walk(node)))


@_operator("member of a set left out")
def _member(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    if isinstance(node, ast.Tuple | ast.Set | ast.List) and len(node.elts) > 1 and _is_set(node, ancestors):
        yield from (_becomes(node, _without(node, "elts", index)) for index in range(len(node.elts)))


def _is_set(node: ast.Tuple | ast.Set | ast.List, ancestors: Ancestors) -> bool:
    """Whether it has constants only, or plain members and is what `in` asks or what a constant is."""
    match next(each for each in reversed(ancestors) if not (isinstance(each, ast.Call) and _name(each) in _SETS)):
        case ast.Compare(left, [ast.In() | ast.NotIn()]):
            is_named = left is not node
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target):
            is_named = _name(target).isupper()
        case _:
            is_named = False
    return all(_is_constant(each) or (is_named and _is_plain(each)) for each in node.elts)


def _is_plain(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Starred) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


@_operator("part of a key left out")
def _part_of_a_key(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    names = {_name(each) for each in ancestors if isinstance(each, ast.Call)}
    names |= {each.arg or "" for each in ancestors if isinstance(each, ast.keyword)}
    targets = {_name(target) for each in ancestors if isinstance(each, ast.Assign) for target in each.targets}
    targets |= {_name(each.target) for each in ancestors if isinstance(each, ast.AnnAssign)}
    functions = [each for each in ancestors if isinstance(each, Function)]
    names |= targets | {each.name for each in functions}
    if isinstance(node, ast.Tuple | ast.List) and functions and targets:
        calls = (each for each in ast.walk(functions[-1]) if isinstance(each, ast.Call))
        names |= {_name(each) for each in calls if not targets.isdisjoint(_read(each))}
    if not any(map(_IDENTITIES.search, map(str.lower, names))):
        return
    match node:
        case ast.JoinedStr(values):
            found = [index for index, value in enumerate(values) if isinstance(value, ast.FormattedValue)]
            yield from (_becomes(node, _without(node, "values", index)) for index in found if len(found) > 1)
        case ast.Tuple(elts, ast.Load()) | ast.List(elts, ast.Load()) if not _is_set(node, ancestors):
            yield from (_becomes(node, _without(node, "elts", index)) for index in range(len(elts)) if len(elts) > 1)


@_operator("boundary moved")
def _boundary(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.Compare(left, ops, comparators):
            for index, op in enumerate(ops):
                if other := _COMPARISONS.get(type(op)):
                    yield _becomes(node, ast.Compare(left, [*ops[:index], other(), *ops[index + 1 :]], comparators))
        case ast.Call(keywords=keywords):
            for index, keyword in enumerate(keywords):
                for ending, other_ending in _LOOKUPS.items():
                    if keyword.arg and keyword.arg.endswith(ending):
                        changed = deepcopy(node)
                        changed.keywords[index].arg = keyword.arg.removesuffix(ending) + other_ending
                        yield _becomes(node, changed)


@_operator("number one more")
def _number(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and type(node.value) is int and not isinstance(ancestors[-1], ast.Subscript):
        yield _becomes(node, str(node.value + 1))


@_operator("rounded otherwise")
def _rounding(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _ROUNDINGS:
            yield _becomes(node, ast.unparse(node).removesuffix(name) + _ROUNDINGS[name])
        case ast.Call(func=ast.Attribute(attr="quantize"), args=[_exponent, _rounding]):
            yield _becomes(node, _without(node, "args", 1))
        case ast.Call(func=ast.Name(id="round")):
            yield _becomes(node, ast.Call(ast.Name("int"), node.args[:1], []))


@_operator("local time for UTC, or back")
def _zone(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.Call(func=ast.Attribute(attr="localtime"), args=[moment, *_]):
            yield _becomes(node, f"({ast.unparse(moment)})")
        case ast.Call(func=ast.Attribute(attr="localdate"), args=[moment, *_]):
            yield _becomes(node, f"({ast.unparse(moment)}).date()")
        case ast.Call(func=ast.Attribute(attr="localdate" | "localtime" as name)):
            yield _becomes(node, "timezone.now()" + ".date()" * (name == "localdate"))
        case ast.Call(func=ast.Attribute(value=moment, attr="astimezone"), args=[zone]):
            other = "timezone.get_current_timezone()" if _name(zone) == "UTC" else "__import__('datetime').UTC"
            yield _becomes(node, f"({ast.unparse(moment)}).astimezone({other})")
        case ast.keyword(arg="tzinfo" | "tz", value=ast.Name(id="UTC") as zone):
            yield _becomes(zone, "__import__('zoneinfo').ZoneInfo('America/Sao_Paulo')")


@_operator("call left out")
def _call(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _METHODS | _scopes():
            is_manager = name in _scopes() and isinstance(value, ast.Attribute)
            yield _becomes(node, f"{ast.unparse(value)}.all()" if is_manager else value)
        case ast.Expr(value=ast.Call() as call) if _name(call).endswith("on_commit"):
            yield from (_becomes(node, "pass"), _becomes(node, EARLY + ast.unparse(call)))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="_log")))):
            pass  # changes neither data nor answers
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield _becomes(node, "pass")


@cache
def _scopes() -> set[str]:
    """The methods by which the product's query sets become smaller or fuller ones."""
    trees = (ast.parse(source) for _path, source in modules() if "QuerySet" in source)
    classes = (each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.ClassDef))
    methods = (each for one in classes if one.name.endswith("QuerySet") for each in one.body)
    return {each.name for each in methods if isinstance(each, ast.FunctionDef) and _returns_query_set(each)}


def _returns_query_set(function: ast.FunctionDef) -> bool:
    return function.returns is not None and re.search(r"Self|QuerySet", ast.unparse(function.returns)) is not None


@_operator("assignment left out")
def _assignment(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.AugAssign() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _becomes(node, "pass")


@_operator("decorator or context left out")
def _decorator(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
            for decorator in decorators:
                if _DECORATORS.search(ast.unparse(decorator)):
                    yield _becomes(decorator, "(lambda function: function)")
        case ast.With(items=[item]) | ast.AsyncWith(items=[item]) if item.optional_vars is None:
            expression = item.context_expr
            yield _becomes(expression, "__import__('contextlib').nullcontext()")


@_operator("first for all")
def _first(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.For(iter=values) | ast.comprehension(iter=values):
            yield _becomes(values, f"list({ast.unparse(values)})[:1]")


@_operator("truth for None, or back")
def _none(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.Compare(left, [ast.IsNot()], [ast.Constant(value=None)]):
            yield _becomes(node, left)
        case ast.Compare(left, [ast.Is()], [ast.Constant(value=None)]):
            yield _becomes(node, ast.UnaryOp(ast.Not(), left))
        case ast.If(test=test) | ast.IfExp(test=test) if isinstance(test, ast.Name | ast.Attribute):
            yield _becomes(test, f"({ast.unparse(test)} is not None)")
        case ast.UnaryOp(ast.Not(), ast.Name() | ast.Attribute() as operand):
            yield _becomes(node, f"({ast.unparse(operand)} is None)")
        case ast.BoolOp(ast.Or(), [ast.Name() | ast.Attribute() as value, other]):
            is_given = ast.Compare(value, [ast.IsNot()], [ast.Constant(None)])
            yield _becomes(node, ast.IfExp(is_given, value, other))


@_operator("statements swapped")
def _swapped(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    for body in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
        for first, second in pairwise(body) if isinstance(body, list) else ():
            if _has_effects(first) and _has_effects(second) and not _bound(first) & _read(second):
                indent = "\n" + " " * first.col_offset
                text = f"{ast.unparse(second)}\n{ast.unparse(first)}".replace("\n", indent)
                yield Change(first, second, text)


def _has_effects(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.If):
        return any(isinstance(each, ast.Call | ast.Raise | ast.Return) for each in ast.walk(node)) or _writes(node)
    return False


def _writes(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript)


def _bound(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _read(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


@_operator("error swallowed, or not handled")
def _error(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    if isinstance(node, ast.ExceptHandler):
        yield from (_becomes(each, "pass") for each in ast.walk(node) if isinstance(each, ast.Raise))
        if isinstance(node.type, ast.Tuple):
            yield from (_becomes(node.type, _without(node.type, "elts", index)) for index in range(len(node.type.elts)))
        elif node.type is not None:
            yield _becomes(node.type, "ZeroDivisionError")  # which nothing here raises


@_operator("refusal left out")
def _refusal(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.If(test=test, body=[ast.Raise() | ast.Return() | ast.Continue()], orelse=[]):
            yield _becomes(test, "False")


@_operator("opposite")
def _opposite(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _OPPOSITES and _name(ancestors[-1]) == name:
            yield _becomes(node, ast.unparse(node).removesuffix(name) + _OPPOSITES[name])
        case ast.Constant(value=str() as text) if re.fullmatch(r"-[a-z_]+", text):
            yield _becomes(node, repr(text[1:]))  # the order of a query
        case ast.IfExp(test, body, orelse):
            yield _becomes(node, ast.IfExp(test, orelse, body))
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            yield _becomes(node, ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right))


@_operator("another constant")
def _constant(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    """The next one of the same owner, in the alphabet of those that the module mentions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _is_constant(node):
        owner = node.value.id
        members = _constants(ancestors[0])[owner]
        if len(members) > 1:
            yield _becomes(node, f"{owner}.{members[(members.index(node.attr) + 1) % len(members)]}")


@cache
def _constants(tree: ast.AST) -> dict[str, list[str]]:
    """The members of each owner that the module mentions, in the sequence of the alphabet."""
    found = [each for each in ast.walk(tree) if isinstance(each, ast.Attribute) and _is_constant(each)]
    return {owner: sorted({each.attr for each in found if _name(each.value) == owner}) for owner in map(_owner, found)}


def _owner(node: ast.Attribute) -> str:
    return _name(node.value)


@_operator("another parameter")
def _parameter(node: ast.AST, ancestors: Ancestors) -> Iterator[Change]:
    """The next one of the function that has the same annotation."""
    functions = [each for each in ancestors if isinstance(each, Function)]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and functions:
        parameters = [*functions[-1].args.args, *functions[-1].args.kwonlyargs]
        annotations = {each.arg: ast.unparse(each.annotation) for each in parameters if each.annotation}
        alike = [name for name, text in annotations.items() if text == annotations.get(node.id)]
        if len(alike) > 1:
            yield _becomes(node, alike[(alike.index(node.id) + 1) % len(alike)])


@_operator("SQL changed")
def _sql(node: ast.AST, _ancestors: Ancestors) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _IS_SQL.search(node.value):
        for pattern, other in _SQL.items():
            for found in re.finditer(pattern, node.value):
                yield _becomes(node, repr(node.value[: found.start()] + other + node.value[found.end() :]))

"""Mutations beside those of cosmic-ray: mistakes people make in queries, conditions, rounding and tables."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy

_SWAPPED_NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil", "first": "last",
    "last": "first", "earliest": "latest", "latest": "earliest", "filter": "exclude", "exclude": "filter",
    "ROUND_HALF_UP": "ROUND_HALF_EVEN", "ROUND_HALF_EVEN": "ROUND_HALF_UP", "ROUND_CEILING": "ROUND_HALF_UP",
    "ROUND_UP": "ROUND_HALF_UP", "startswith": "endswith", "strip": "lstrip", "lower": "upper", "upper": "lower",
}  # fmt: skip  # a table
_LOOKUPS = {"__lte": "__lt", "__lt": "__lte", "__gte": "__gt", "__gt": "__gte"}
_SQL = [
    (re.compile(r"<="), "<"), (re.compile(r">="), ">"), (re.compile(r"(?<![<>=-])<(?![=>])"), "<="),
    (re.compile(r"(?<![<>=-])>(?!=)"), ">="), (re.compile(r"\bDESC\b"), "ASC"), (re.compile(r" SKIP LOCKED"), ""),
    (re.compile(r"\bAND\b"), "OR"),
]  # fmt: skip  # a table
_IS_SQL = re.compile(r"\b(SELECT|UPDATE|INSERT|WHERE|CHECK)\b")


def mutations(source: str) -> Iterator[str]:
    """The whole source with one change, once for each change."""
    tree = ast.parse(source)
    constants = _constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            node.decorator_list.clear()  # options of dataclasses change no rule
        for replacement in (*_replacements(node), *_other_constants(node, constants)):
            yield _spliced(source, node, replacement)
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            yield _spliced(source, node.type, "ZeroDivisionError")  # which nothing here raises


def _replacements(node: ast.AST) -> Iterator[str]:  # noqa: C901  # a table of kinds
    match node:
        case ast.BoolOp(values=values):
            for index in range(len(values)):
                rest = values[:index] + values[index + 1 :]
                yield f"({ast.unparse(rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))})"
        case ast.Call(keywords=keywords) if keywords:
            yield from _changed_keywords(node)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="_log")))):
            pass  # a log line changes neither data nor responses
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign():
            yield "pass"
        case ast.Name(id=name) if name in _SWAPPED_NAMES:
            yield _SWAPPED_NAMES[name]
        case ast.Attribute(attr=name) if name in _SWAPPED_NAMES:
            changed = deepcopy(node)
            changed.attr = _SWAPPED_NAMES[name]
            yield ast.unparse(changed)
        case ast.Constant(value=str() as text) if re.fullmatch(r"-[a-z_]+", text):
            yield repr(text[1:])  # the order of a query
        case ast.Constant(value=str() as text) if _IS_SQL.search(text):
            for pattern, other in _SQL:
                for found in pattern.finditer(text):
                    yield repr(text[: found.start()] + other + text[found.end() :])


def _changed_keywords(call: ast.Call) -> Iterator[str]:
    """The call without each keyword argument, and with the other boundary of each comparison of a query."""
    for index, keyword in enumerate(call.keywords):
        without = deepcopy(call)
        del without.keywords[index]
        yield ast.unparse(without)
        for ending, other in _LOOKUPS.items():
            if keyword.arg and keyword.arg.endswith(ending):
                changed = deepcopy(call)
                changed.keywords[index].arg = keyword.arg.removesuffix(ending) + other
                yield ast.unparse(changed)


def _constants(tree: ast.AST) -> dict[str, list[str]]:
    """Names of members of enumerations: owner -> members that the module mentions."""
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper():
            found[node.value.id].add(node.attr)
    return {owner: sorted(members) for owner, members in found.items()}


def _other_constants(node: ast.AST, constants: dict[str, list[str]]) -> Iterator[str]:
    """The member that follows in the alphabet, of those that the module mentions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper():
        members = constants[node.value.id]
        if len(members) > 1:
            yield f"{node.value.id}.{members[(members.index(node.attr) + 1) % len(members)]}"


def _spliced(source: str, node: ast.AST, replacement: str) -> str:
    """The source with the node's text replaced. Columns of the syntax tree count bytes."""
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + replacement.encode() + after).decode()

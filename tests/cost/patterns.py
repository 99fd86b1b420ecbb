"""The regular expressions of the product, found in its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

from config.env import BASE_DIR

_FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
# Classes and functions that compile the pattern they are given.
_TAKERS = {"RegexValidator", "RegexField", "re_path"}


def patterns() -> set[tuple[str, str]]:
    """(file, pattern) of every regular expression. What is neither a literal nor a constant stands as its source."""
    return {(name, pattern) for name, tree in _trees() for pattern in _patterns_of(tree)}


def _trees() -> Iterator[tuple[str, ast.Module]]:
    # Every package of the product, also one that comes later.
    for package in sorted(path.parent for path in BASE_DIR.glob("*/__init__.py")):
        if package.name in {"benchmarks", "tests"}:
            continue
        for path in sorted(package.rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(BASE_DIR)), ast.parse(Path(path).read_text(encoding="utf-8"))


def _patterns_of(tree: ast.Module) -> Iterator[str]:
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _takes_pattern(node.func):
            yield _text(node.args[0], constants)
        elif isinstance(node, ast.keyword | ast.Assign) and _is_regex(node):
            yield _text(node.value, constants)
        elif isinstance(node, ast.ImportFrom) and node.module in {"re", "regex"}:
            yield f"from {node.module} import: call it as {node.module}.compile(...), so that it is found here"


def _takes_pattern(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        return isinstance(function.value, ast.Name) and function.value.id == "re" and function.attr in _FUNCTIONS
    return isinstance(function, ast.Name) and function.id in _TAKERS


def _is_regex(node: "ast.keyword | ast.Assign") -> bool:
    """A path converter's `regex = ...`, and look-ups such as `document__regex=...`."""
    if isinstance(node, ast.keyword):
        return (node.arg or "").rpartition("_")[2] in {"regex", "iregex"}
    return any(isinstance(target, ast.Name) and target.id == "regex" for target in node.targets)


def _text(node: ast.expr, constants: dict[str, ast.expr]) -> str:
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    if isinstance(node, ast.Constant):
        return node.value.decode() if isinstance(node.value, bytes) else str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.FormattedValue) else part for part in node.values)
        return "".join(_text(part, constants) for part in parts)
    return ast.unparse(node)

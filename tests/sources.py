"""The product's own source, for tests that read it."""

import ast
from collections.abc import Iterator

from config.env import BASE_DIR

PACKAGES = sorted({path.parent.name for path in BASE_DIR.glob("*/__init__.py")} - {"benchmarks"})
_NOT_PRODUCT = {"migrations", "node_modules"}


def modules() -> Iterator[tuple[str, str]]:
    """Path and text of each module that runs in production."""
    for package in PACKAGES:
        for path in sorted((BASE_DIR / package).rglob("*.py")):
            name = path.relative_to(BASE_DIR)
            if not _NOT_PRODUCT & set(name.parts) and not name.is_relative_to("dev"):
                yield name.as_posix(), path.read_text()


def functions(source: str) -> Iterator[list[ast.AST]]:
    """The nodes of each function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield list(ast.walk(node))

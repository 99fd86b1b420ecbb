"""Each lock of the production code has a test that fails without it, which `tests.locks` names."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from config.env import BASE_DIR
from tests.locks import LOCKS, NOT_NOTICED
from tests.sources import PACKAGES

# Calls that lock, or that settle with a unique index which of two transactions writes a row, and functions of ours that
# are named for the lock they take.
_CALL = re.compile(r"select_for_update|get_or_create|update_or_create|R?Lock|_?(try_)?lock(ed|_\w+)?|_lock_\w+")
_KEYWORDS = {"ignore_conflicts", "update_conflicts"}
_SQL = re.compile(r"FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|ON CONFLICT|pg_(try_)?advisory_\w*lock|LOCK TABLE")
# Not in production, or run by one process alone.
_LEFT_OUT = re.compile(r"(.*/)?migrations/|dev/")


def test_each_lock_is_in_the_table_with_its_test():
    found = Counter(place for module in _modules() for place in _places(module))

    named = Counter({place: len(tests) for place, tests in LOCKS.items()})
    assert found - named == Counter(), "write a test that fails without this lock, and name it in tests/locks.py"
    assert named - found == Counter(), "this lock is gone; take it out of tests/locks.py"


def test_each_named_test_exists():
    named = {test for tests in LOCKS.values() for test in tests}

    assert {test for test in named if test not in NOT_NOTICED and not _exists(test)} == set()
    assert named >= NOT_NOTICED


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        for path in (BASE_DIR / package).rglob("*.py"):
            module = path.relative_to(BASE_DIR).as_posix()
            if not _LEFT_OUT.match(module):
                yield module


def _places(module: str) -> Iterator[str]:
    """The place of each lock, as `module:function` or `module:CONSTANT`, repeated for each lock in it."""

    def visit(node: ast.AST, names: tuple[str, ...]) -> Iterator[str]:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = (*names, name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if not names:
                names = (name,)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), keywords=keywords):
                if _CALL.fullmatch(name) or _KEYWORDS & {keyword.arg for keyword in keywords}:
                    yield f"{module}:{'.'.join(names)}"
            case ast.Expr(value=ast.Constant()):
                return  # a docstring
            case ast.Constant(value=str() as text) if _SQL.search(text):
                yield f"{module}:{'.'.join(names)}"
        for child in ast.iter_child_nodes(node):
            yield from visit(child, names)

    yield from visit(ast.parse((BASE_DIR / module).read_text()), ())


def _exists(test: str) -> bool:
    """Whether the node of pytest is a function of its module, within its classes."""
    path, *names = test.split("::")
    nodes: list[ast.stmt] = ast.parse((BASE_DIR / path).read_text()).body
    for name in names:
        found = [each for each in nodes if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == name]
        if not found:
            return False
        nodes = found[0].body
    return True

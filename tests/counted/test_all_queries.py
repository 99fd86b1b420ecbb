"""Each query with conditions that people rely on has an entry."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import import_module

from config.env import BASE_DIR
from tests.counted.others import OTHERS
from tests.counted.rows import ENTRIES
from tests.sources import modules

_BY_KEY = {"pk", "pk__in"}
_CONDITIONS = {"filter", "exclude", "aggregate", "Q"}


def test_each_has_an_entry_or_a_reason():
    for path in (BASE_DIR / "tests" / "counted").glob("test_*.py"):
        import_module(f"tests.counted.{path.stem}")
    found = {place for module, source in modules() for place in _places(module, source)}

    without = {place for place in found - ENTRIES.keys() if not any(fnmatch(place, other) for other in OTHERS)}
    assert without == set(), "add the rows that must not count to an entry in tests/counted"
    assert ENTRIES.keys() - found == set(), "these are gone"
    assert {other for other in OTHERS if not any(fnmatch(place, other) for place in found)} == set(), "these are gone"


def _places(module: str, source: str) -> Iterator[str]:
    """Where conditions of queries are written, as `module:function`. Those of constraints and indexes are none."""

    def visit(node: ast.AST, names: tuple[str, ...]) -> Iterator[str]:
        match node:
            case ast.ClassDef(name="Meta"):
                return
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names = (*names, name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if not names:
                names = (name,)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id="Q" as name), keywords=keywords, args=args):
                if names and name in _CONDITIONS and (args or {keyword.arg for keyword in keywords} - _BY_KEY):
                    yield f"{module}:{'.'.join(names)}"
        for child in ast.iter_child_nodes(node):
            yield from visit(child, names)

    yield from visit(ast.parse(source), ())

"""The mutants of a module: copies of its source with one change each."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutation.operators import mutations
from tests.mutation.targets import TARGETS

ROOT = Path(__file__).parents[2]

# Excluded: replacements that any test of the line detects, because they raise for the operands in question.
_COARSE = re.compile(
    r"core/ReplaceBinaryOperator_\w+_(RShift|LShift|Pow|Mod|BitXor|BitOr|BitAnd|FloorDiv)$"
    r"|core/ReplaceBinaryOperator_(BitOr|BitAnd|Mod|Pow)_"
    r"|core/ReplaceBinaryOperator_Mul_(Sub|Add)$|core/ReplaceBinaryOperator_(Add|Sub|Div)_Div$"
    r"|core/ReplaceComparisonOperator_(?!Is_IsNot|IsNot_Is)\w+_(Is|IsNot)$"
    r"|core/ReplaceComparisonOperator_(Is|IsNot)_(?!IsNot$|Is$)"
    r"|core/ReplaceUnaryOperator_\w+_(Invert|UAdd|Not)$|core/Variable"
    r"|core/ExceptionReplacer"  # fails for dotted names; operators.py replaces it
)


@dataclass(frozen=True)
class Mutant:
    module: str
    changed: str  # the whole source
    diff: str
    key: str  # digest of the changed source and its tests


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module that is valid Python, differs in its syntax tree and is not excluded by `_COARSE`."""
    source = (ROOT / module).read_text()
    tests = _digest_of(TARGETS[module])
    seen = {_meaning(source)}
    for changed in (*_by_cosmic_ray(source), *mutations(source)):
        meaning = _meaning(changed)
        if meaning and meaning not in seen:
            seen.add(meaning)
            diff = "".join(unified_diff(source.splitlines(True), changed.splitlines(True), module, module, n=1))
            yield Mutant(module, changed, diff, hashlib.sha256(f"{tests}{module}{changed}".encode()).hexdigest())


def _by_cosmic_ray(source: str) -> Iterator[str]:
    for operator in operator_names():
        occurrence = 0
        while not _COARSE.match(operator):
            changed = mutate_code(source, get_operator(operator)(), occurrence)
            if changed is None:
                break
            yield changed
            occurrence += 1


class _OnlyBehaviour(ast.NodeTransformer):
    """Removes what other checks hold: annotations and parameter kinds (mypy), the schema (makemigrations --check)."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        positional = [*node.posonlyargs, *node.args]
        without_default = [None] * (len(positional) - len(node.defaults))
        # One default for each parameter, so that the tree does not tell of which kind a parameter is.
        node.kw_defaults = [*without_default, *node.defaults, *node.kw_defaults]
        node.args = [*positional, *node.kwonlyargs]
        node.posonlyargs, node.kwonlyargs, node.defaults = [], [], []
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = []
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = ast.unparse(node.func)
        if re.fullmatch(r"models\.(\w*Field|ForeignKey|Index)|CiphertextField", called):
            return ast.Constant(value=None)
        if called == "zip":  # `strict` matters only when the calling code has made sequences of different lengths
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "strict"]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant(value=None)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node


def _meaning(source: str) -> str:
    """The part of the syntax tree that affects behaviour; empty if the source is not valid Python."""
    try:
        return ast.dump(_OnlyBehaviour().visit(ast.parse(source)))
    except SyntaxError:
        return ""


def _digest_of(paths: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        place = ROOT / path
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(file.read_bytes())
    return digest.hexdigest()

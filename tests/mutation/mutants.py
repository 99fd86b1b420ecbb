"""The mutants of the product: copies of a module with one change each."""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from config.env import BASE_DIR
from tests.mutation.operators import Change, Function, changes
from tests.sources import modules

# Without rules: settings and start-up, what describes the API, and what only shows.
_NOT = re.compile(
    r"/(apps|urls|openapi|plots|__init__)\.py|config/(settings|env|environment|database|processes|npm_files)\.py"
    r"|config/(formats|openapi)/|panel/guide/|/management/"
)
_TEXTS = {"_", "gettext", "ngettext", "gettext_lazy", "pgettext"}


@dataclass(frozen=True)
class Mutant:
    """`key` stays while the function around the change does, wherever that moves within its module."""

    module: str
    operator: str
    change: Change
    key: str

    @property
    def source(self) -> str:
        """Of the whole module."""
        return spliced((BASE_DIR / self.module).read_text(), self.change)

    @property
    def lines(self) -> range:
        """That it changes."""
        return range(self.change.first.lineno, (self.change.last.end_lineno or 0) + 1)

    @property
    def summary(self) -> str:
        """What becomes what, in one line."""
        source = (BASE_DIR / self.module).read_text().encode()
        return f"{_line(source[slice(*_span(source, self.change))].decode())} -> {_line(self.change.text)}"

    def differs(self) -> bool:
        """Whether it is valid Python with another syntax tree than the module."""
        with suppress(SyntaxError):
            return ast.dump(ast.parse(self.source)) != ast.dump(ast.parse((BASE_DIR / self.module).read_text()))
        return False


def paths() -> Iterator[str]:
    """The modules that mutants are made of."""
    return (path for path, _source in modules() if not _NOT.search(path))


def mutants_of(paths: Iterable[str]) -> Iterator[Mutant]:
    """Every mutant of these modules."""
    for path in paths:
        texts: dict[ast.AST, str] = {}
        for operator, change, nodes in changes(ast.parse((BASE_DIR / path).read_text())):
            if _matters(nodes):
                around = next((each for each in nodes if isinstance(each, Function)), None)
                if around and around not in texts:
                    texts[around] = ast.unparse(around)
                # Its place in the function, so that equal changes at two places differ.
                place = (change.first.lineno - (around.lineno if around else 0), change.first.col_offset)
                parts = (path, texts[around] if around else "", operator, change.text, place)
                yield Mutant(path, operator, change, hashlib.sha256(repr(parts).encode()).hexdigest()[:16])


def sample(mutants: Iterable[Mutant], size: int, seed: str) -> list[Mutant]:
    """As many of each operator as there can be, ordered so that a part of it is spread over the operators too.

    A mutant's place follows from its own key, so that the sample stays the same where the code does.
    """
    ordered = sorted(mutants, key=lambda each: hashlib.sha256(f"{seed}{each.key}".encode()).digest())
    counts: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    for mutant in ordered:
        numbers[mutant.key] = counts[mutant.operator]
        counts[mutant.operator] += 1
    found = sorted(ordered, key=lambda each: numbers[each.key])
    return list(islice(filter(Mutant.differs, found), size))


def _matters(nodes: Sequence[ast.AST]) -> bool:
    """Whether the last node is no text, annotation, log line, or declaration, of which other checks hold the most."""
    for above, below in pairwise([*nodes, None]):
        match above:
            case ast.Call(func=ast.Name(id=name)) if name in _TEXTS:
                return False
            case ast.Call(func=ast.Attribute(value=ast.Name(id="_log"))):
                return False
            case ast.FunctionDef() | ast.AsyncFunctionDef() if below and below is above.returns:
                return False
            case ast.FunctionDef(name="__str__" | "__repr__"):
                return False
            case ast.arg() | ast.AnnAssign() if below and below is above.annotation:
                return False
            case ast.ClassDef() if below and not isinstance(below, Function):
                return False
    in_function = any(isinstance(each, Function | ast.Lambda) for each in nodes[:-1])
    return in_function or isinstance(nodes[-1], ast.Tuple | ast.Set | ast.List | ast.Constant)


def spliced(source: str, change: Change) -> str:
    """The source with the change."""
    content = source.encode()
    start, end = _span(content, change)
    return (content[:start] + change.text.encode() + content[end:]).decode()


def _span(content: bytes, change: Change) -> tuple[int, int]:
    """Where the change begins and ends. Columns of the syntax tree count bytes."""
    starts = [0, *accumulate(map(len, content.splitlines(keepends=True)))]
    first, last = change.first, change.last
    return starts[first.lineno - 1] + first.col_offset, starts[(last.end_lineno or 0) - 1] + (last.end_col_offset or 0)


def _line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:100]} … {text[-56:]}"

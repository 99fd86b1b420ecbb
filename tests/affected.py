"""Prints the test files nearest to a change, for `make test-affected`. The argument is the commit to compare with.

Of a changed module these are the files that import it, or a module that imports it; those in the folder where it is
tested; and those with its name, or with that of its leaf. A changed template, script or style counts as the modules and
templates that name it. Everything is reached over enough imports, and what is called by a URL is imported nowhere, so
the whole suite has the last word. Tests in a browser take too long to be found by anything but their names.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import PurePath

import grimp

from config.env import BASE_DIR
from tests.sources import PACKAGES

# A change of these reaches every test.
_SHARED = {"pyproject.toml", "requirements-dev.lock", "config/settings.py", "tests/conftest.py", "tests/servers.py"}
# Where files that no module is made of are tested.
_OTHERS = {
    "docs": ("tests/test_documents.py", "tests/panel/guide"),
    "locale": ("tests/config/test_translations.py",),
    "deploy": ("tests/deploy",),
}
_FEW = 8  # tests near a module
_LEVELS = 2  # of importers, about which more are looked for
_MOST_IMPORTERS = 4  # more do not make a test nearer
# Modules that say nothing about their subject, which their folder does.
_PARTS = {"__init__", "actions", "admin", "api", "base", "models", "serializers", "tasks", "urls", "views", "viewsets"}


def changed(base: str) -> set[str]:
    """The paths that differ from the commit where this branch left `base`, with what is not committed."""
    return {*git("diff", "--name-only", left(base)), *git("ls-files", "--others", "--exclude-standard")}


def left(base: str) -> str:
    """The commit where this branch left `base`."""
    return git("merge-base", base, "HEAD")[0]


def affected(paths: set[str]) -> set[str]:
    """The test files nearest to these paths, and folders of them."""
    if paths & _SHARED:
        return {"tests"}
    found = {test for path in paths for test in _OTHERS.get(path.partition("/")[0], ())}
    paths = paths | _naming(paths)
    modules = _with_importers({_module(path) for path in paths if path.endswith(".py")})
    for name, imported in _tests().items():
        if not modules.isdisjoint(imported) or any(_is_about(name, path) for path in paths):
            found.add(name)
    return found


def nearest(path: str) -> list[str]:
    """The test files that `affected` finds for a module, the nearest by name, imports and folder first.

    With those about the modules that import it, since it may be called by a page or the API only. Where all these are
    few, those about the importers of these too.
    """
    module, file = _module(path), PurePath(path)
    name = file.parent.name if file.stem in _PARTS else file.stem
    found = affected({path}) & _tests().keys()
    modules = {module}
    importers_of: Counter[str] = Counter()  # that a test is about
    for level in range(_LEVELS):
        if not level or len(found) < _FEW:
            modules = {each for each in _with_importers(modules) if not each.endswith(".urls")}
            importers = {f"{each.replace('.', '/')}.py" for each in modules}
            importers_of.update(test for test in _tests() for each in importers if _is_about(test, each))
            words = {PurePath(each).stem for each in importers} - _PARTS
            found |= importers_of.keys() | _naming_urls_of({file.stem, *words})

    def distance(test: str) -> tuple[int, int, str]:
        folders = PurePath(test).parts[1:-1]
        common = len([*takewhile(lambda each: each[0] == each[1], zip(folders, file.parts, strict=False))])
        is_named, imports = name in test.removeprefix(f"tests/{file.parts[0]}/"), module in _tests()[test]
        by_importers = min(importers_of[test], _MOST_IMPORTERS)
        return -8 * is_named - 6 * imports - 2 * common - by_importers, len(folders), test

    return sorted(found, key=distance)


def _naming_urls_of(modules: set[str]) -> set[str]:
    """The test files that name URLs of views in modules of these names."""
    view = re.compile(rf"\b(?:{'|'.join(modules)})\.[A-Z]")
    lines = (line for path in git("ls-files", "*/urls.py") for line in (BASE_DIR / path).read_text().splitlines())
    named = {name for line in lines if view.search(line) for name in re.findall(r'"(\w+)"', line)}
    pattern = re.compile(rf"""["':]({"|".join(named)})["']""")
    return {test for test in _tests() if named and pattern.search((BASE_DIR / test).read_text())}


def git(*arguments: str) -> list[str]:
    """The lines that a command of git prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=BASE_DIR, check=True, capture_output=True, text=True).stdout.splitlines()


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _naming(paths: set[str]) -> set[str]:
    """The modules and templates that name one of these templates or static files, directly or over another template."""
    files = (path for path in git("ls-files", *PACKAGES, "templates") if path.endswith((".py", ".html")))
    sources = {path: (BASE_DIR / path).read_text() for path in files if (BASE_DIR / path).exists()}
    found: set[str] = set()
    waiting = {path for path in paths if path.startswith("templates/") or "/static/" in path}
    while waiting:
        name = re.sub(r"^templates/|.*/static/", "", waiting.pop())
        new = {path for path, source in sources.items() if re.search(rf"""["']{re.escape(name)}["']""", source)} - found
        found |= new
        waiting |= {path for path in new if path.startswith("templates/")}
    return found


@cache
def _imports() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def _with_importers(modules: set[str]) -> set[str]:
    graph = _imports()
    return modules.union(*(graph.find_modules_that_directly_import(module) for module in modules & graph.modules))


@cache
def _tests() -> dict[str, set[str]]:
    """What each test file of `make test` imports; nothing for those in a browser."""
    files = {path.relative_to(BASE_DIR).as_posix(): path for path in (BASE_DIR / "tests").rglob("test_*.py")}
    return {
        name: set() if name.startswith("tests/browser/") else {*_imported(path.read_text())}
        for name, path in files.items()
        if not name.startswith(("tests/contract/", "tests/faults/"))
    }


def _imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_about(test: str, path: str) -> bool:
    """Whether the test is this path, stands where it is tested, or has its name."""
    file = PurePath(path)
    word = file.parent.name if file.stem in _PARTS else file.stem
    folder = f"tests/{file.parent.as_posix()}/"
    in_folder = folder.count("/") > 2 and test.startswith(folder)
    return test == path or in_folder or re.search(rf"(?:/|test_){re.escape(word)}s?(?:_|/|\.py$)", test) is not None


if __name__ == "__main__":
    print(*sorted(affected(changed(sys.argv[1]))))

"""docs/asvs.md: a row for every requirement, and no test in it that does not exist."""

import ast
import re
from itertools import chain

import pytest

from config.env import BASE_DIR

DOCUMENT = BASE_DIR / "docs" / "asvs.md"
# Level 1 and 2 of ASVS 5.0 without the chapters 9, 10 and 17, which the document says do not apply.
IDS = (BASE_DIR / "tests" / "config" / "asvs_ids.txt").read_text().split()
_ID = r"\d+\.\d+\.\d+"
_TEST = re.compile(r"`(tests/[^`]+)`")
_WORDS = ("document", "review", "operator", "does not apply", "gap: ")


def rows():
    """The cells of each row: ids, requirement, implementation, evidence."""
    lines = [line for line in DOCUMENT.read_text().splitlines() if re.match(rf"\| {_ID}", line)]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def ids_of(cell):
    """The ids that `1.2.3`, `1.2.3, 1.2.4` and `1.2.3 to 1.2.6` name."""
    first, *more = re.findall(_ID, cell)
    if " to " not in cell:
        return [first, *more]
    (last,), section = more, first.rpartition(".")[0]
    return [f"{section}.{number}" for number in range(int(first.split(".")[2]), int(last.split(".")[2]) + 1)]


def names_in(path):
    """The names of a module's tests and of the classes that hold them."""
    names = set()
    for node in ast.parse((BASE_DIR / path).read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {
                node.name,
                *(f"{node.name}::{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)),
            }
    return {name for name in names if name.rpartition("::")[2].startswith(("test_", "Test"))}


def test_every_requirement_has_one_row():
    assert sorted(chain.from_iterable(ids_of(row[0]) for row in rows())) == sorted(IDS)


def test_every_row_says_what_shows_it():
    silent = [row for row in rows() if len(row) != 4 or not (_TEST.search(row[3]) or row[3].startswith(_WORDS))]

    assert silent == []


def test_every_test_exists():
    named = {test for row in rows() for test in _TEST.findall(row[3])}

    missing = []
    for test in sorted(named):
        path, _colons, name = test.partition("::")
        if not (BASE_DIR / path).is_file() or (name and name not in names_in(path)):
            missing.append(test)

    assert named
    assert missing == []


def test_nothing_is_left_to_be_filled_in():
    assert "TODO" not in DOCUMENT.read_text()


@pytest.mark.parametrize("chapter", ["V9", "V10", "V17"])
def test_the_chapters_without_rows_are_explained(chapter):
    assert f"**{chapter}, " in DOCUMENT.read_text()


def anchors_of(path):
    """The ids that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_has_a_target():
    links = [
        (page, page.parent / (name or page.name), anchor)
        for page in (BASE_DIR / "docs").glob("*.md")
        for name, anchor in re.findall(r"\]\((?!https?://)([^)#]*)#?([^)]*)\)", page.read_text())
    ]

    assert len(links) > 50
    dead = [
        f"{page.name}: {target.name}#{anchor}"
        for page, target, anchor in links
        if not target.is_file() or (anchor and anchor not in anchors_of(target))
    ]
    assert dead == []

"""docs/asvs.md and asvs.txt: evidence for every requirement, and no test in it that does not exist."""

import ast
import re
from collections import Counter

import pytest

from config.env import BASE_DIR

DOCUMENT = BASE_DIR / "docs" / "asvs.md"
# Level 1 and 2 of ASVS 5.0 without the chapters 9, 10 and 17, each with its tests or one of the words below.
EVIDENCE = {
    number: evidence
    for number, *evidence in map(str.split, (BASE_DIR / "tests" / "config" / "asvs.txt").read_text().splitlines())
}
HEADINGS = {
    "gap": "Not met, or not in full",
    "operator": "Done by the operator",
    "document": "Documented",
    "review": "Read in the code",
    "none": "Does not apply",
}


def section(heading):
    return DOCUMENT.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]


def numbers_in(heading):
    """The requirements in the first cells of a section's rows."""
    cells = re.findall(r"^\| (\d[^|]*) \|", section(heading), re.MULTILINE)
    return [number for cell in cells for number in cell.split(", ")]


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


def test_every_requirement_has_evidence():
    assert f"each of the {len(EVIDENCE)} requirements" in DOCUMENT.read_text()
    assert [number for number, evidence in EVIDENCE.items() if not evidence] == []


@pytest.mark.parametrize("word", HEADINGS)
def test_the_document_has_a_row_for_each_that_no_test_shows_in_full(word):
    marked = [number for number, evidence in EVIDENCE.items() if word in evidence]

    assert Counter(numbers_in(HEADINGS[word])) == Counter(marked)


def test_the_document_has_a_row_for_each_chapter_without_evidence():
    assert set(re.findall(r"^\| chapter (V\d+) ", section("Does not apply"), re.MULTILINE)) == {"V9", "V10", "V17"}


def test_every_test_exists():
    named = {each for evidence in EVIDENCE.values() for each in evidence} - set(HEADINGS)

    missing = []
    for test in sorted(named):
        path, _colons, name = test.partition("::")
        if not (BASE_DIR / path).is_file() or (name and name not in names_in(path)):
            missing.append(test)

    assert named
    assert missing == []


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

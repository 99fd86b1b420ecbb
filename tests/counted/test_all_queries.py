"""Each query with conditions has an entry or a reason, and `places.txt` says which conditions it has."""

from importlib import import_module

from config.env import BASE_DIR
from tests.counted.rows import ENTRIES
from tests.counted.walk import places

_FOLDER = BASE_DIR / "tests" / "counted"
# Heading of the places that have one.
_ENTRY = "# entry"
_TO_DO = """tests/counted/places.txt does not list the conditions that queries have. What people rely on needs an entry:
add a row that fails the new condition alone and see it fail without that condition, or take away the row of one that is
gone. Then change the line in places.txt, under `# entry` or under a reason that fits:"""


def test_each_has_an_entry_or_a_reason():
    for path in _FOLDER.glob("test_*.py"):
        import_module(f"tests.counted.{path.stem}")
    lines = _lines()
    listed, found = {line for _heading, line in lines}, {" ".join([p, *parts]) for p, parts in places().items()}

    changes = [f"- {line}" for line in listed - found] + [f"+ {line}" for line in found - listed]
    assert not changes, "\n".join([_TO_DO, *sorted(changes, key=lambda line: line[2:])])
    assert len(lines) == len(listed), "a line is there twice"
    with_entry = {line.split()[0] for heading, line in lines if heading.startswith(_ENTRY)}
    assert with_entry == ENTRIES.keys(), "the lines under `# entry` are not those of `@counts`"


def _lines() -> list[tuple[str, str]]:
    """The lines of `places.txt`, each with its heading."""
    heading, lines = "", []
    for line in (_FOLDER / "places.txt").read_text().splitlines():
        if line.startswith("#"):
            heading = line
        elif line:
            lines.append((heading, line))
    return lines

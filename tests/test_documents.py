"""What documents name in backticks exists: files, folders, commands, targets of make, settings, names in the code."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import PurePath

import pytest
from django.core.management import get_commands
from django.utils import translation
from django.utils.translation import gettext

from config.env import BASE_DIR
from delivery import lifecycle
from delivery.actions import deliveries
from delivery.words import TRIGGERS
from tests.cases import in_turn

TRACKED = subprocess.run(["git", "ls-files"], cwd=BASE_DIR, capture_output=True, text=True, check=True).stdout.split()  # noqa: S607
FOLDERS = {f"{parent}/" for name in TRACKED for parent in PurePath(name).parents}
# docs/personal-data.md names columns, which tests/access/personal_data/test_inventory.py compares with the database.
DOCUMENTS = sorted(name for name in TRACKED if name.endswith(".md") and name != "docs/personal-data.md")
SUFFIXES = ("py", "html", "js", "css", "toml", "md", "csv", "json", "yaml", "yml", "conf", "sh", "po", "sql")
# Of PostgreSQL, PgBouncer, systemd, generators of clients and what they make, an operator's machine and a reader's own
# folder.
FROM_OUTSIDE = {
    "pg_trgm", "pg_stat_replication", "max_standby_streaming_delay", "pg_wal", "LoadCredential", "server_login_retry",
    "postgresql.auto.conf", "secrets.json", "DATA_DIR/secrets.json", "pg_hba.conf", "proofs/",
    "v0.1.0", "content_type_overrides", "ImmediateDeliveryAPI", "SplFileObject",
}  # fmt: skip  # a list of names
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(rf"[\w.-][\w./-]*\.({'|'.join(SUFFIXES)})")
_FOLDER = re.compile(r"[\w.-]+(/[\w.-]+)*/")
_COMMAND = re.compile(r"(?:\.venv/bin/python )?manage\.py (\w+)")
_TARGET = re.compile(r"make ([a-z][a-z-]*)")
# A constant or setting, a name with underscores, a class, or names with dots between them.
_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|[a-z]\w*_\w+(\(\))?|[A-Z][a-z]+[A-Z]\w+|[a-z_]\w*(\.\w+)+(\(\))?")
_HOST = re.compile(r".*\.(com|br|org|example|service|timer|socket|dump|gz|pmtiles|txt|npmjs|map)")


@pytest.fixture(scope="module")
def words() -> set[str]:
    """Every word of the project's files but the documents."""
    files = (BASE_DIR / name for name in TRACKED if not name.endswith((".md", ".png", ".jpg", ".mo")))
    return {word for path in files for word in re.findall(r"\w+", path.read_text(errors="ignore"))}


def named(document: str) -> Iterator[str]:
    text = _BLOCK.sub("", (BASE_DIR / document).read_text())
    yield from (name for name in re.findall(r"`([^`\n]+)`", text) if name not in FROM_OUTSIDE)


def exists(name: str, words: set[str]) -> bool:
    if name.startswith(("/", "var/")):  # an address, a place on the operator's machine, or what is made at run time
        return True
    if _FILE.fullmatch(name):
        return any(path == name or path.endswith(f"/{name}") for path in TRACKED)
    if _FOLDER.fullmatch(name):
        return any(path == name or path.endswith(f"/{name}") for path in FOLDERS)
    if command := _COMMAND.match(name):
        return command[1] in get_commands()
    if target := _TARGET.fullmatch(name):
        return f"\n{target[1]}:" in (BASE_DIR / "Makefile").read_text()
    if _NAME.fullmatch(name) and not _HOST.fullmatch(name):
        return words.issuperset(re.findall(r"\w+", name))
    return True


@in_turn("document", DOCUMENTS)
def test_every_name_in_backticks_exists(document, words):
    assert [name for name in named(document) if not exists(name, words)] == []


def rows(title: str) -> list[list[str]]:
    """The rows of the glossary's table below this heading."""
    _before, _title, text = (BASE_DIR / "docs/glossary.md").read_text().partition(f"### {title}\n")
    lines = [line for line in text.partition("\n#")[0].splitlines() if line.startswith("| ")]
    assert lines, title
    return [[cell.strip("` ") for cell in line.strip("|").split("|")] for line in lines[1:]]


class TestGlossary:
    def test_has_the_action_and_the_words_of_each_trigger(self):
        found = rows("One word in three forms")

        assert {trigger: event for trigger, _action, event in found} == {
            each.value: str(TRIGGERS[each]) for each in lifecycle.Trigger
        }
        assert all(callable(getattr(deliveries, action)) for _trigger, action, _event in found)
        of_another = {trigger for trigger, action, _event in found if action.rstrip("_") != trigger}
        assert of_another < set(lifecycle.IMPLIED)

    def test_has_the_words_of_pages_in_both_languages(self):
        found = rows("Words on pages")

        with translation.override("pt-br"):
            assert {english: gettext(english) for english, _portuguese, _meaning in found} == {
                english: portuguese for english, portuguese, _meaning in found
            }

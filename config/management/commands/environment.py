import re
import textwrap
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config.variables import VARIABLES, Variable

EXAMPLE: Path = settings.BASE_DIR / ".env.example"
DOCUMENT: Path = settings.BASE_DIR / "docs" / "operations.md"
_TABLE = re.compile(r"(?<=## Environment\n\n)(\|.*\n)+")
_MARKS = re.compile(r"[`*](\w[^`*]*)[`*]|\[([^]]*)\]\([^)]*\)")  # of Markdown: code, emphasis, links
_WIDTH = 110
_INTRODUCTION = """\
# The environment of Rota in production. Copy this file to .env, which only you may read, and fill in the first part.
# What begins with # has the value that is used without it. docs/operations.md explains more of it.
# This file is written by: manage.py environment
"""


def example() -> str:
    """The text of .env.example."""
    used = [variable for variable in VARIABLES.values() if not variable.embedded_only]
    needed = [variable for variable in used if variable.required]
    others = [variable for variable in used if not variable.required]
    parts = [_INTRODUCTION, "# --- Required ---\n", *map(_entry, needed), "# --- Optional ---\n", *map(_entry, others)]
    return "\n".join(parts)


def table() -> str:
    """The table of docs/operations.md."""
    rows = [
        f"| `{variable.name}` | {variable.meaning} | {variable.without or variable.default} |".replace("|  |", "| |")
        for variable in VARIABLES.values()
    ]
    return "\n".join(["| variable | meaning | default |", "|---|---|---|", *rows]) + "\n"


def document() -> str:
    """The text of docs/operations.md with the table as it is now."""
    return _TABLE.sub(lambda _: table(), DOCUMENT.read_text(), count=1)


def _entry(variable: Variable) -> str:
    meaning = _MARKS.sub(r"\1\2", variable.meaning)
    if variable.without and not variable.required:
        meaning += ". Default: " + _MARKS.sub(r"\1\2", variable.without)
    texts = textwrap.wrap(meaning[:1].upper() + meaning[1:], _WIDTH, break_long_words=False, break_on_hyphens=False)
    if variable.required:
        texts.append(variable.required[:1].upper() + variable.required[1:])
    comment = "".join(f"# {text}\n" for text in texts)
    return f"{comment}{'' if variable.required else '#'}{variable.name}={variable.default}\n"


class Command(BaseCommand):
    help = "Write .env.example and the table of the environment in docs/operations.md."

    def handle(self, *_args: Any, **_options: Any) -> None:
        EXAMPLE.write_text(example())
        DOCUMENT.write_text(document())
        self.stdout.write(f"{len(VARIABLES)} variables")

import re
import textwrap
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from pydantic.fields import FieldInfo

from config.environment import GROUPS, VARIABLES, Group, about

EXAMPLE: Path = settings.BASE_DIR / ".env.example"
_MARKS = re.compile(r"[`*](\w[^`*]*)[`*]|\[([^]]*)\]\([^)]*\)")  # of Markdown: code, emphasis, links
_WIDTH = 110
_INTRODUCTION = """\
# The environment of Rota in production. Copy this file to .env, which only you may read, and fill in the first part.
# What begins with # has the value that is used without it. docs/operations.md explains more of it.
# This file is written by: manage.py environment
"""


def example() -> str:
    """The text of .env.example."""
    required = [_entry(name, field) for name, field in VARIABLES.items() if about(field)["required"]]
    optional = [part for group in GROUPS for part in _part(group)]
    return "\n".join([_INTRODUCTION, "# --- Required ---\n", *required, *optional])


def default(field: FieldInfo) -> str:
    """The default of a field as a value of the environment, empty where it depends on the mode."""
    if field.default_factory or field.default == []:
        return ""
    return f"{field.default:d}" if isinstance(field.default, bool) else str(field.default)


def _part(group: type[Group]) -> list[str]:
    """The title and the entries of a group, without those that are required or of no use in production."""
    entries = [
        _entry(name, field)
        for name, field in group.model_fields.items()
        if not (about(field)["required"] or about(field)["embedded_only"])
    ]
    return [f"# --- {(group.__doc__ or '').rstrip('.')} ---\n", *entries] if entries else []


def _entry(name: str, field: FieldInfo) -> str:
    required, without = about(field)["required"], about(field)["without"]
    meaning = _MARKS.sub(r"\1\2", field.description or "")
    if without and not required:
        meaning += ". Default: " + _MARKS.sub(r"\1\2", without)
    texts = textwrap.wrap(meaning[:1].upper() + meaning[1:], _WIDTH, break_long_words=False, break_on_hyphens=False)
    if required:
        texts.append(required[:1].upper() + required[1:])
    comment = "".join(f"# {text}\n" for text in texts)
    return f"{comment}{'' if required else '#'}{name}={default(field)}\n"


class Command(BaseCommand):
    help = "Write .env.example."

    def handle(self, *_args: Any, **_options: Any) -> None:
        EXAMPLE.write_text(example())
        self.stdout.write(f"{len(VARIABLES)} variables")

"""The guide: the Markdown files of docs/guide/ as HTML, each rendered once per process and language.

`docs/guide/<name>.md` is the English page, `docs/guide/<language>/<name>.md` its translation. Headings have the anchors
of the English page in every language, so that a link to a heading does not depend on the reader's language. Blocks of
code stand in the English page alone: a translation has the same blocks without content. The page of error codes has no
file: it is made of the catalogue.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, override

from panel.guide import error_codes

FOLDER: Path = settings.BASE_DIR / "docs" / "guide"
_ENGLISH = "en"
# The first page has no name in its URL. Code hosts show README.md where they list a folder.
FIRST_FILE = "README.md"

# Titles of the menu's parts, and the names of their pages.
CHAPTERS: list[tuple[Promise, tuple[str, ...]]] = [
    (gettext_lazy("First steps"), ("", "quickstart", "sandbox")),
    (gettext_lazy("Immediate delivery"), ("deliveries", "statuses", "webhooks")),
    (gettext_lazy("Order integration"), ("orders",)),
    (
        gettext_lazy("Both APIs"),
        ("retries", "warnings", "limits", "errors", "error-codes", "refused-calls", "versioning"),
    ),
]
NAMES = frozenset(name for _title, names in CHAPTERS for name in names)


@dataclass(frozen=True)
class Heading:
    """An entry of a page's table of contents. `level` is 2 or 3."""

    level: int
    anchor: str
    title: str


@dataclass(frozen=True)
class Page:
    """A page in one language. `headings`: those below the title."""

    name: str
    title: str
    html: str
    headings: tuple[Heading, ...]

    @property
    def url(self) -> str:
        return url(self.name)


def folder(language: str) -> Path:
    """The folder with the files of this language."""
    return FOLDER if language == _ENGLISH else FOLDER / language


def url(name: str) -> str:
    """The address of a page of the guide."""
    return reverse("documentation:page", args=[name]) if name else reverse("documentation:first")


@cache
def page(name: str, language: str) -> Page:
    """The page with one of NAMES. Raises ValueError if a translation has other headings or blocks of code."""
    from panel.guide import markdown  # its packages occupy 2 MB in processes that serve the APIs alone

    text, english = (_text(name, each) for each in (language, _ENGLISH))
    with override(language):
        html, headings = markdown.render(text, english=english)
    return Page(
        name=name,
        title=headings[0].title,
        html=html,
        headings=tuple(heading for heading in headings if heading.level > 1),
    )


def _text(name: str, language: str) -> str:
    if name == "error-codes":
        return error_codes.markdown(language)
    return (folder(language) / (f"{name}.md" if name else FIRST_FILE)).read_text()


def menu(language: str) -> list[tuple[Promise, list[Page]]]:
    """The pages of each chapter."""
    return [(title, [page(name, language) for name in names]) for title, names in CHAPTERS]

"""The guide: the Markdown files of docs/guide/ as HTML, each rendered once per process and language.

`docs/guide/<name>.md` is the English page, `docs/guide/<language>/<name>.md` its translation. Headings have the anchors
of the English page in every language, so that a link to a heading does not depend on the reader's language.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, override
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from documentation.catalogue import CODES

FOLDER: Path = settings.BASE_DIR / "docs" / "guide"
_ENGLISH = "en"
# The first page has no name in its URL. Code hosts show README.md where they list a folder.
_FIRST_FILE = "README.md"

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
    """The page with one of NAMES. Raises ValueError if a translation has other headings than the English page."""
    file_name = f"{name}.md" if name else _FIRST_FILE
    markdown = _markdown()
    tokens = markdown.parse((folder(language) / file_name).read_text())
    english = markdown.parse((folder(_ENGLISH) / file_name).read_text())
    for opening, original in zip(_openings(tokens), _openings(english), strict=True):
        opening.attrs["id"] = original.attrs["id"]
    with override(language):
        html = str(markdown.renderer.render(tokens, markdown.options, {}))
    headings = list(_headings(tokens))
    return Page(
        name=name,
        title=headings[0].title,
        html=html,
        headings=tuple(heading for heading in headings if heading.level > 1),
    )


def menu(language: str) -> list[tuple[Promise, list[Page]]]:
    """The pages of each chapter."""
    return [(title, [page(name, language) for name in names]) for title, names in CHAPTERS]


@cache
def _markdown() -> MarkdownIt:
    """CommonMark with tables and without raw HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").use(anchors_plugin, max_level=3)
    markdown.core.ruler.push("links", _add_links)
    markdown.core.ruler.push("cells", _title_cells)
    markdown.renderer.rules.update(fence=_fence, table_open=_table_open, table_close=_table_close)  # type: ignore[attr-defined]
    return markdown


def _openings(tokens: list[Token]) -> Iterator[Token]:
    """The tokens that begin a heading with an anchor."""
    return (token for token in tokens if token.type == "heading_open" and "id" in token.attrs)


def _headings(tokens: list[Token]) -> Iterator[Heading]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and "id" in opening.attrs:
            yield Heading(int(opening.tag[1:]), str(opening.attrs["id"]), _text(inline))


def _text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


def _add_links(state: StateCore) -> None:
    """Turn links between files into links between pages, and link the error codes in the text to their pages."""
    for before, token in pairwise(state.tokens):
        if token.type == "inline":
            children = token.children or []
            token.children = children if before.type == "heading_open" else list(_linked(children))


def _linked(tokens: list[Token]) -> Iterator[Token]:
    is_in_link = False
    for token in tokens:
        if token.type == "link_open":
            is_in_link = True
            token.attrs["href"] = _of_page(str(token.attrs["href"]))
        elif token.type == "link_close":
            is_in_link = False
        if token.type == "code_inline" and token.content in CODES and not is_in_link:
            address = reverse("documentation:error", args=[token.content])
            yield Token("link_open", "a", 1, attrs={"href": address})
            yield token
            yield Token("link_close", "a", -1)
        else:
            yield token


def _of_page(target: str) -> str:
    """`retries.md#anchor` as an address of the product; any other target as it is."""
    file_name, hash_sign, anchor = target.partition("#")
    name = "" if file_name == _FIRST_FILE else file_name.removesuffix(".md")
    return url(name) + hash_sign + anchor if file_name.endswith(".md") else target


def _title_cells(state: StateCore) -> None:
    """Give each cell of a table the title of its column, which narrow windows show beside it."""
    titles: list[str] = []
    column = 0
    for opening, inline in pairwise(state.tokens):
        if opening.type == "table_open":
            titles = []
        elif opening.type == "tr_open":
            column = 0
        elif opening.type == "th_open":
            titles.append(_text(inline))
        elif opening.type == "td_open":
            opening.attrs["data-title"] = titles[column]
            column += 1


def _fence(tokens: list[Token], index: int, *_others: object) -> str:
    """A block of code with a button that copies it."""
    context = {"id": f"code-{index}", "text": tokens[index].content.rstrip("\n")}
    return str(render_to_string("panel/copy.html", context))


def _table_open(*_others: object) -> str:
    """A wide table scrolls within its own element, which the keyboard reaches, so that the page does not."""
    return '<div class="scroll" tabindex="0"><table>\n'


def _table_close(*_others: object) -> str:
    return "</table></div>\n"

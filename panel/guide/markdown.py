"""The pages of the guide as HTML, each rendered once per process and language."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import override
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

from panel.guide import pages
from panel.guide.catalogue import CODES


@dataclass(frozen=True)
class Section:
    """A heading of a page and what stands below it up to the next one, as plain text. `level` is 1 to 3."""

    level: int
    anchor: str
    title: str
    text: str


@dataclass(frozen=True)
class Page:
    """A page in one language. Its first section has its title."""

    name: str
    html: str
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return self.sections[0].title

    @property
    def headings(self) -> tuple[Section, ...]:
        """The entries of its table of contents."""
        return self.sections[1:]

    @property
    def url(self) -> str:
        return pages.url(self.name)


def menu(language: str) -> list[tuple[Promise, list[Page]]]:
    """The pages of each chapter."""
    return [(title, [page(name, language) for name in names]) for title, names in pages.CHAPTERS]


@cache
def page(name: str, language: str) -> Page:
    """The page with one of NAMES. The anchors of its headings and its blocks of code are those of the English page.

    Raises ValueError if the two pages do not have as many headings and blocks of code.
    """
    parser = _markdown()
    with override(language):
        tokens, originals = (parser.parse(pages.text(name, each)) for each in (language, pages.ENGLISH))
        for opening, original in zip(_openings(tokens), _openings(originals), strict=True):
            opening.attrs["id"] = original.attrs["id"]
        for block, original in zip(_blocks(tokens), _blocks(originals), strict=True):
            block.content = original.content
        html = str(parser.renderer.render(tokens, parser.options, {}))
    return Page(name, html, tuple(_sections(tokens)))


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


def _blocks(tokens: list[Token]) -> Iterator[Token]:
    return (token for token in tokens if token.type == "fence")


def _sections(tokens: list[Token]) -> Iterator[Section]:
    starts = [index for index, token in enumerate(tokens) if token.type == "heading_open" and "id" in token.attrs]
    for start, end in pairwise([*starts, len(tokens)]):
        opening, inline, *below = tokens[start:end]
        text = " ".join(_text(token) or token.content for token in below if token.type in {"inline", "fence"})
        yield Section(int(opening.tag[1:]), str(opening.attrs["id"]), _text(inline), text)


def _text(inline: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children or [])


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
    name = "" if file_name == pages.FIRST_FILE else file_name.removesuffix(".md")
    return pages.url(name) + hash_sign + anchor if file_name.endswith(".md") else target


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

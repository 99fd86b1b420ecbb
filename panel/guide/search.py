"""The search of the documentation: an index of its sections, made once for each process and language.

Words of any language of the guide are found, because readers of the one know names of the other: `fatura`, `webhook`.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext, override

from panel.guide import description, markdown
from panel.guide.catalogue import CODES

LONGEST_QUERY = 100  # characters
_MOST_RESULTS = 20
# Characters of an excerpt on both sides of the first word that was found.
_BEFORE, _AFTER = 60, 140


@dataclass(frozen=True)
class Entry:
    """A section of a page, an error code, or a call of the reference. `page`: the title of its page."""

    url: str
    page: str
    title: str
    text: str
    folded_title: str = field(init=False)
    folded_text: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded_title", _folded(f"{self.title} {self.page}"))
        object.__setattr__(self, "folded_text", _folded(self.text))


@dataclass(frozen=True)
class Result:
    """What was found, and its text around the first word of the query that stands there, in the word's language."""

    entry: Entry
    before: str
    word: str
    after: str


def find(query: str, language: str) -> list[Result]:
    """The entries in this language that have every word of the query, in one of the languages each.

    Case and accents do not count. Those with most words in their titles come first, of these the ones whose title
    begins with the first word. Of those with none in their titles the first has most words that begin like those of the
    query. Of the query the first LONGEST_QUERY characters are read.
    """
    words = _words(query)
    if not words:
        return []
    found = [
        forms
        for forms in _index(language)
        if all(any(word in form.folded_title or word in form.folded_text for form in forms) for word in words)
    ]
    found.sort(key=lambda forms: min(_rank(form, words) for form in forms))
    return [_result(forms, words) for forms in found[:_MOST_RESULTS]]


def _rank(form: Entry, words: list[str]) -> tuple[int, bool, int]:
    missing = sum(word not in form.folded_title for word in words)
    told = sum(form.folded_text.count(f" {word}") for word in words) if missing == len(words) else 0
    return missing, not form.folded_title.startswith(words[0]), -told


def _words(query: str) -> list[str]:
    """Each word once: a repeated one would cost as much as another one, and count twice."""
    return [*dict.fromkeys(_folded(unicodedata.normalize("NFC", query[:LONGEST_QUERY])).split())]


def _result(forms: tuple[Entry, ...], words: list[str]) -> Result:
    places = ((form, form.folded_text.find(word), word) for form in forms for word in words)
    told, start, word = next((place for place in places if place[1] >= 0), (forms[0], 0, ""))
    end = start + len(word)
    before, after = told.text[:start], told.text[end:]
    if len(before) > _BEFORE:
        before = f"… {before[-_BEFORE:].partition(' ')[2]}"
    if len(after) > _AFTER:
        after = f"{after[:_AFTER].rpartition(' ')[0]} …"
    return Result(forms[0], before, told.text[start:end], after)


@cache
def _index(language: str) -> tuple[tuple[Entry, ...], ...]:
    """Each entry in this language, and then in the others."""
    others = [_entries(other) for other, _name in settings.LANGUAGES if other != language]
    return tuple(zip(_entries(language), *others, strict=True))


@cache
def _entries(language: str) -> tuple[Entry, ...]:
    with override(language):
        return (*_of_pages(language), *_of_codes(), *_of_calls(language))


def _of_pages(language: str) -> Iterator[Entry]:
    for _chapter, chapter in markdown.menu(language):
        for page in chapter:
            # Each error code is an entry of its own.
            for section in page.sections if page.name != "error-codes" else page.sections[:1]:
                anchor = f"#{section.anchor}" if section.level > 1 else ""
                yield Entry(page.url + anchor, page.title, section.title, section.text)


def _of_codes() -> Iterator[Entry]:
    for code, entry in CODES.items():
        text = f"{gettext(entry.meaning)} {gettext(entry.remedy)}"
        yield Entry(reverse("documentation:error", args=[code]), gettext("Error codes"), code, text)


def _of_calls(language: str) -> Iterator[Entry]:
    for path, methods in description.translated(language)["paths"].items():
        for method, call in methods.items():
            text = f"{call['summary']}. {call['description']}"
            yield Entry(description.url(call), gettext("API reference"), f"{method.upper()} {path}", text)


def _folded(text: str) -> str:
    """The text without accents and capitals, as long as it was."""
    return "".join(unicodedata.normalize("NFKD", letter)[0].casefold()[:1] for letter in text)

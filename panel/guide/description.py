"""The OpenAPI description in each language of the pages. `manage.py messages` collects its texts as it does theirs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, override

from panel.guide.catalogue import CODES

# `manage.py openapi` writes it, in English.
FILE = Path(__file__).with_name("openapi.json")
_WITH_TEXTS = {"description", "summary"}
_AS_SENT = {"example", "examples"}
# An answer's description has the meanings of all its error codes, which are texts of the catalogue.
_BEFORE_A_MEANING = re.compile(rf"( ?`(?:{'|'.join(CODES)})`: )")
# Each sentence is a text, so that a change of one leaves the translations of the others.
_AFTER_A_SENTENCE = re.compile(r"(?<=[.!?])(\s+)")


def texts(description: Any) -> set[str]:
    """The English texts of this description that readers need in their language. Names, codes and examples stay."""
    found: set[str] = set()

    def note(text: str) -> str:
        found.add(text)
        return text

    _with(note, description)
    return found


def translated(language: str) -> Any:
    """The description in this language. It is parsed and translated anew by each call, about 20 ms."""
    with override(language):
        return _with(gettext, json.loads(FILE.read_text()))


def url(call: dict[str, Any]) -> str:
    """The address of this operation of the description in the reference."""
    anchor = "/".join((call["tags"][0].replace(" ", "%20"), call["operationId"]))
    return f"{reverse('documentation:reference')}#/{anchor}"


def _with(change: Callable[[str], str], value: Any) -> Any:
    """The value with each of its texts as `change` gives it."""
    if isinstance(value, list):
        return [_with(change, inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: _changed(change, key, inner) for key, inner in value.items()}


def _changed(change: Callable[[str], str], key: str, value: Any) -> Any:
    if key in _AS_SENT:
        return value
    if key in _WITH_TEXTS and isinstance(value, str):
        own, *meanings = _BEFORE_A_MEANING.split(value)
        parts = [*_AFTER_A_SENTENCE.split(own), *meanings]
        return "".join(change(part) if part and index % 2 == 0 else part for index, part in enumerate(parts))
    return _with(change, value)

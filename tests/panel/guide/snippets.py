"""The blocks of code of the guide. Those that a reader runs are named after their language, ```bash quote-delivery."""

import json
import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from panel.guide import pages

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Snippet:
    """`answer`: the JSON value that the guide shows after the snippet, before the next heading. None without one."""

    page: str
    language: str
    name: str
    code: str
    answer: Any

    def __str__(self) -> str:
        return f"{self.page}-{self.name}-{self.language}"


def of_page(page: str) -> list[Snippet]:
    """The named snippets of the English guide, in order."""
    text = (pages.FOLDER / f"{page}.md").read_text()
    blocks = list(_FENCE.finditer(text))
    found = []
    for block, following in zip_longest(blocks, blocks[1:]):
        language, _, name = block[1].partition(" ")
        if name:
            found.append(Snippet(page, language, name, block[2], _answer(text, block, following)))
    return found


def _answer(text: str, block: re.Match[str], following: re.Match[str] | None) -> Any:
    if following is None or following[1] != "json" or "\n#" in text[block.end() : following.start()]:
        return None
    return json.loads(following[2])


def all_named() -> list[Snippet]:
    return [snippet for name in sorted(pages.NAMES - {"", "error-codes"}) for snippet in of_page(name)]

"""The guide is the same in every language: its files, its structure, its code, links and figures."""

import re
from itertools import zip_longest

import pytest
from django.conf import settings
from markdown_it import MarkdownIt

from panel.guide import pages
from tests.cases import in_turn

TRANSLATIONS = [language for language, _name in settings.LANGUAGES if language != "en"]
FILES = sorted(path.name for path in pages.FOLDER.glob("*.md"))
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


def parts(path):
    """Pairs of a line's number and what every language has there, in the order of the file.

    Of a block of code its language and name are compared; of a text the codes, the targets of links and the figures,
    sorted because languages order words differently, and figures without separators: 1,000.5 and 1.000,5 are the same.
    """
    line = 0
    for token in MarkdownIt("commonmark").enable("table").parse(path.read_text()):
        line = token.map[0] + 1 if token.map else line
        if token.type == "fence":
            yield line, f"```{token.info}"
        elif token.type == "inline":
            children = token.children or []
            codes = [child.content for child in children if child.type == "code_inline"]
            links = [str(child.attrs["href"]) for child in children if child.type == "link_open"]
            text = " ".join(child.content for child in children if child.type == "text")
            figures = [re.sub("[.,]", "", figure) for figure in FIGURE.findall(text)]
            yield line, (sorted(codes), sorted(links), sorted(figures))
        else:
            yield line, f"{token.type} {token.tag}"


def first_difference(original, translation):
    """The place in both files where they differ first, None if they do not."""
    for here, there in zip_longest(parts(original), parts(translation), fillvalue=("end", None)):
        if here[1] != there[1]:
            return f"{original}:{here[0]} has {here[1]}, {translation}:{there[0]} has {there[1]}"
    return None


@pytest.mark.parametrize("language", TRANSLATIONS)
class TestTranslation:
    def test_has_the_same_files(self, language):
        assert sorted(path.name for path in pages.folder(language).iterdir()) == FILES

    @in_turn("name", FILES)
    def test_has_the_same_structure_code_links_and_figures(self, language, name):
        assert first_difference(pages.FOLDER / name, pages.folder(language) / name) is None

    @in_turn("name", FILES)
    def test_leaves_its_blocks_of_code_to_the_english_page(self, language, name):
        tokens = MarkdownIt("commonmark").parse((pages.folder(language) / name).read_text())

        assert [token.content for token in tokens if token.type == "fence" and token.content] == []


class TestFirstDifference:
    ORIGINAL = "# Limits\n\nAt most 1,000 of [these](limits.md) `items`.\n\n```json\n{}\n{}\n```\n"

    @pytest.mark.parametrize(
        ("before", "after", "line"),
        [
            ("# Limits", "## Limites", 1),
            ("1,000", "2.000", 3),
            ("limits.md", "limits.md#calls", 3),
            ("`items`", "`itens`", 3),
            ("```json", "```text", 5),
            ("```\n", "```\n\nMore.", 10),
        ],
    )
    def test_names_file_and_line(self, tmp_path, before, after, line):
        original, translation = tmp_path / "limits.md", tmp_path / "limites.md"
        original.write_text(self.ORIGINAL)
        translation.write_text(after.join(self.ORIGINAL.rsplit(before, 1)))

        assert f"limites.md:{line} has " in first_difference(original, translation)

    def test_is_none_for_another_order_of_words_and_other_separators(self, tmp_path):
        original, translation = tmp_path / "limits.md", tmp_path / "limites.md"
        original.write_text("`a`, then `b`, 1,000.5 kg")
        translation.write_text("1.000,5 kg de `b`, depois `a`")

        assert first_difference(original, translation) is None

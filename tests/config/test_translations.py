"""Portuguese is complete: every text of the pages has a translation that fits."""

import ast
import re
from io import BytesIO

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings

from config.env import PACKAGES
from config.management.commands import messages

_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|%%|\{\w*\}|<[^>]+>")


def texts(message):
    """Pairs of original and translation, one for each form of the plural."""
    if isinstance(message.id, str):
        return [(message.id, message.string)]
    return list(zip(message.id, message.string, strict=True))


@pytest.fixture(scope="module")
def translated():
    return [message for message in messages.translated() if message.id]


def test_every_text_of_the_pages_is_in_the_file(translated):
    collected = {message.id for message in messages.collected() if message.id}

    assert collected == {message.id for message in translated}, "run `manage.py messages`"


def test_no_text_is_translated_within_an_f_string_alone():
    """Babel does not look into f-strings, so that such a text would be in no file."""
    collected = {message.id for message in messages.collected() if message.id}
    within = [
        call.args[0].value
        for path in (path for package in PACKAGES for path in package.rglob("*.py"))
        for text in ast.walk(ast.parse(path.read_text()))
        if isinstance(text, ast.JoinedStr)
        for call in ast.walk(text)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in {"_", "gettext"}
        if isinstance(call.args[0], ast.Constant)
    ]

    assert within
    assert {*within} <= collected


def test_every_text_has_a_translation(translated):
    missing = messages.without_translation(translated)

    assert missing == [], "fill these in in locale/pt_BR/LC_MESSAGES/django.po; where one is fuzzy, remove that line"


def test_every_translation_has_the_values_and_tags_of_its_original(translated):
    wrong = [
        (original, text)
        for message in translated
        for original, text in texts(message)
        if sorted(_PLACEHOLDER.findall(original)) != sorted(_PLACEHOLDER.findall(text))
    ]

    assert wrong == []


def test_hardly_anything_is_the_same_in_both_languages(translated):
    """What is left in English by oversight would show here."""
    same = {message.id for message in translated for original, text in texts(message) if original == text}

    assert not {text for text in same if isinstance(text, str) and len(text.split()) > 3}


def test_no_translation_has_its_text_twice(translated):
    halves = [(text[: len(text) // 2], text[len(text) // 2 :]) for message in translated for _, text in texts(message)]

    assert [first for first, second in halves if " " in first and first == second.strip()] == []


def test_no_portuguese_text_has_a_word_that_the_glossary_replaces(translated):
    """*Elegível* is apto, *manifesto* romaneio, *rastreamento* rastreio, and so on: one word for one thing."""
    replaced = re.compile(
        r"\b(eleg[íi]ve\w+|integrador\w*|manifestos?|motoboys?|motoristas?|ofertad\w+|rastreamento)\b", re.IGNORECASE
    )
    files = [settings.BASE_DIR / "integration/errors.py", *settings.BASE_DIR.glob("docs/guide/pt-br/*.md")]

    read = [text for message in translated for _, text in texts(message)] + [file.read_text() for file in files]

    assert len(files) > 1
    assert {match[0] for text in read for match in replaced.finditer(text)} == set()


class TestCollecting:
    @pytest.fixture
    def catalog(self):
        catalog = Catalog(locale=messages.LOCALE, fuzzy=False)
        catalog.add("The driver has one hour to accept.", "O entregador tem uma hora para aceitar.")
        catalog.add("Accept", "Aceitar")
        return catalog

    def collect(self, catalog, *ids):
        """The catalog as it is read again after `manage.py messages` found these texts."""
        found = Catalog(locale=messages.LOCALE, fuzzy=False)
        for text in ids:
            found.add(text)
        messages.update(catalog, found)
        file = BytesIO()
        write_po(file, catalog)
        file.seek(0)
        return read_po(file, locale=messages.LOCALE)

    def test_keeps_the_translation_of_a_changed_sentence_as_fuzzy(self, catalog):
        changed = "The driver has two hours to accept."

        kept = self.collect(catalog, changed, "Accept")

        assert (kept[changed].string, kept[changed].fuzzy) == ("O entregador tem uma hora para aceitar.", True)
        assert messages.without_translation(kept) == [changed]
        assert read_mo(BytesIO(messages.compiled(kept)))[changed] is None

    def test_gives_a_new_text_no_translation(self, catalog):
        kept = self.collect(catalog, "The driver has one hour to accept.", "Accept", "Accepted")

        assert (kept["Accepted"].string, kept["Accept"].string) == ("", "Aceitar")
        assert messages.without_translation(kept) == ["Accepted"]

    def test_gives_a_text_that_comes_back_its_translation_while_others_have_none(self, catalog):
        without = self.collect(catalog, "Something else")

        again = self.collect(without, "Something else", "Accept")

        assert again["Accept"].string == "Aceitar"
        assert not again["Accept"].fuzzy

    def test_drops_texts_that_are_gone_when_every_other_one_is_translated(self, catalog):
        kept = self.collect(catalog, "Accept")

        assert (len(kept), len(kept.obsolete)) == (1, 0)

    def test_finds_texts_in_a_checkout_of_any_name(self, tmp_path, monkeypatch, settings):
        checkout = tmp_path / "migrations"
        for name in ("access/views.py", "access/migrations/0001_initial.py"):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text("")
        settings.BASE_DIR = checkout
        monkeypatch.setattr(messages, "PACKAGES", [checkout / "access"])
        monkeypatch.setattr(messages, "_UNTRANSLATED_PACKAGES", ())

        assert messages._sources() == [checkout / "access" / "views.py"]

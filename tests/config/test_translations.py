"""Portuguese is complete: every text of the pages has a translation that fits, and the compiled file is of today."""

import re

import pytest

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


def test_every_text_has_a_translation(translated):
    assert [message.id for message in translated if not all(text for _original, text in texts(message))] == []
    assert [message.id for message in translated if message.fuzzy] == []


def test_every_translation_has_the_values_and_tags_of_its_original(translated):
    wrong = [
        (original, text)
        for message in translated
        for original, text in texts(message)
        if sorted(_PLACEHOLDER.findall(original)) != sorted(_PLACEHOLDER.findall(text))
    ]

    assert wrong == []


def test_the_compiled_file_is_that_of_the_texts():
    assert (messages.FOLDER / "django.mo").read_bytes() == messages.compiled(messages.translated())


def test_hardly_anything_is_the_same_in_both_languages(translated):
    """What is left in English by oversight would show here."""
    same = {message.id for message in translated for original, text in texts(message) if original == text}

    assert not {text for text in same if isinstance(text, str) and len(text.split()) > 3}

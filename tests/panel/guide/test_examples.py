"""The answers that the pages of error codes show are made with messages of the product."""

import ast
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation import gettext, override
from rest_framework.fields import Field

from config.server import limits
from panel.guide import examples
from panel.guide.catalogue import A, B

LIMITS = {"url_too_long": limits._URL, "header_too_long": limits._header("Cookie")}
SHORTEST = 15  # characters besides placeholders; shorter texts would match any sentence
SUGGESTION = re.compile(r" Did you mean '\w+'\?$")
# Their examples come from the handlers, without a text of the examples; one is DRF's, one is put together.
MADE_BY_HANDLERS = {"method_not_allowed", "server_error"}
# Attributes of errors; `example` is what is tested.
SHOWN_BY_PAGES = {"meaning", "remedy", "example"}
PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}")


def text_of(node):
    """A text of the source, with a placeholder for each value that is inserted; None for other nodes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{value}" for part in node.values)
    return None


def nodes_of(tree):
    """The nodes of a module without the texts that pages alone show."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in SHOWN_BY_PAGES):
            yield node
            yield from nodes_of(node)


def messages():
    """The texts of sentences in the packages of both APIs, and of the engine in both languages, as patterns."""
    for package in ("delivery", "integration", "common/webhooks"):
        for path in Path(settings.BASE_DIR / package).rglob("*.py"):
            for node in nodes_of(ast.parse(path.read_text())):
                text = text_of(node) or ""
                for each in {text, in_portuguese(text)} if package == "common/webhooks" else {text}:
                    parts = PLACEHOLDER.split(each)
                    if sum(map(len, parts)) >= SHORTEST:
                        yield "(.+)".join(map(re.escape, parts))


def in_portuguese(text):
    with override("pt-br"):
        return gettext(text) if text else ""


def shown(api):
    """Every sentence of every example, with its code."""
    for code, answer in examples.answers_of(api).items():
        errors = answer.body.get("errors", [])
        if api == B or not errors:  # otherwise the detail is put together of the first error
            yield code, answer.body["detail" if api == A else "message"]
        if api == A:
            yield from ((code, SUGGESTION.sub("", error["detail"])) for error in errors)


@pytest.fixture(scope="module")
def is_message():
    known = {re.compile(pattern, re.DOTALL) for pattern in messages()}
    return lambda text: any(pattern.fullmatch(text) for pattern in known)


@pytest.mark.parametrize("api", [A, B])
def test_every_example_has_a_message_of_the_product(api, is_message):
    others = {str(Field.default_error_messages["required"])}
    others |= {limit.english if api == A else limit.portuguese for limit in LIMITS.values()}

    missing = [
        (code, text)
        for code, text in shown(api)
        if code not in MADE_BY_HANDLERS and text not in others and not is_message(text)
    ]

    assert missing == []


@pytest.mark.parametrize("api", [A, B])
def test_no_example_has_a_placeholder(api):
    assert [code for code, answer in examples.answers_of(api).items() if PLACEHOLDER.search(str(answer.body))] == []


def test_what_is_no_message_is_recognised(is_message):
    assert is_message("The body is larger than 256 KiB.")
    assert not is_message("The body is larger than 256 KiB")
    assert not is_message("The header Sandbox-Speed is not a number from 1 to 120.")
    assert settings.MAX_BODY_BYTES == 256 * 1024

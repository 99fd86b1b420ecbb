"""The quickstart's code does what it says: it distinguishes our webhooks from forged ones."""

import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from delivery.webhooks import signing

SNIPPETS: Path = settings.BASE_DIR / "templates" / "panel" / "snippets"
BODY = '{"status": "PENDING", "orders": [{"externalId": "açaí"}]}'.encode()


@pytest.fixture
def secret(monkeypatch):
    text = signing.new_secret()
    monkeypatch.setenv("ROTA_SECRET", text)
    return text


@pytest.fixture
def is_signed_by_rota(secret):
    space: dict[str, Any] = {}
    exec((SNIPPETS / "verify.py.txt").read_text(), space)  # noqa: S102  # it is what is tested
    return space["is_signed_by_rota"]


def headers(secret, *, at=None, others=()):
    sent_at = int(at or time.time())
    signature = signing.sign(webhook_id="id-1", timestamp=sent_at, body=BODY, secrets=[*others, secret])
    return {"webhook-id": "id-1", "webhook-timestamp": str(sent_at), "webhook-signature": signature}


def test_takes_what_we_sign(is_signed_by_rota, secret):
    assert is_signed_by_rota(headers(secret), BODY)


def test_takes_it_beside_the_signature_of_another_secret(is_signed_by_rota, secret):
    assert is_signed_by_rota(headers(secret, others=[signing.new_secret()]), BODY)


def test_refuses_another_body_another_secret_and_what_is_old(is_signed_by_rota, secret):
    assert not is_signed_by_rota(headers(secret), BODY + b" ")
    assert not is_signed_by_rota(headers(signing.new_secret()), BODY)
    assert not is_signed_by_rota(headers(secret, at=time.time() - 301), BODY)


@pytest.mark.parametrize("name", ["webhook-id", "webhook-timestamp", "webhook-signature"])
@pytest.mark.parametrize("value", [None, "", "x", "é", "9" * 5000, "v1"])
def test_refuses_a_missing_or_malformed_header(is_signed_by_rota, secret, name, value):
    sent = {**headers(secret), name: value}
    if value is None:
        del sent[name]

    assert is_signed_by_rota(sent, BODY) is False


@pytest.mark.parametrize(
    ("language", "begin", "end"),
    [
        ("py", "def is_signed_by_rota", "for signature in given)\n"),
        ("js", "function", "\n}\n"),
        ("php", "function", "\n}\n"),
    ],
)
@pytest.mark.parametrize("guide", ["quickstart.md", "pt-br/quickstart.md"])
def test_is_the_function_of_the_guide(language, begin, end, guide):
    code = (SNIPPETS / f"verify.{language}.txt").read_text().replace("ROTA_SECRET", "WEBHOOK_SECRET")
    function = code[code.index(begin) : code.index(end) + len(end)]

    assert function in (settings.BASE_DIR / "docs" / "guide" / guide).read_text()

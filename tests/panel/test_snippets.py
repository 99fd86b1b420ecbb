"""The quickstart's code does what it says: it knows our webhooks from forged ones."""

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
def is_ours(secret):
    space: dict[str, Any] = {}
    exec((SNIPPETS / "verify.py.txt").read_text(), space)  # noqa: S102  # it is what is tested
    return space["is_ours"]


def headers(secret, *, at=None, others=()):
    sent_at = int(at or time.time())
    signature = signing.sign(webhook_id="id-1", timestamp=sent_at, body=BODY, secrets=[*others, secret])
    return {"webhook-id": "id-1", "webhook-timestamp": str(sent_at), "webhook-signature": signature}


def test_takes_what_we_sign(is_ours, secret):
    assert is_ours(headers(secret), BODY)


def test_takes_it_beside_the_signature_of_another_secret(is_ours, secret):
    assert is_ours(headers(secret, others=[signing.new_secret()]), BODY)


def test_refuses_another_body_another_secret_and_what_is_old(is_ours, secret):
    assert not is_ours(headers(secret), BODY + b" ")
    assert not is_ours(headers(signing.new_secret()), BODY)
    assert not is_ours(headers(secret, at=time.time() - 301), BODY)

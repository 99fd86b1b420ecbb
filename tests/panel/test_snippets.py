"""The panel's quickstarts: their code is that of the guide, and distinguishes our webhooks from forged ones."""

import html
import re
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse

from common.webhooks import signing
from tests.panel.guide import snippets

SNIPPETS: Path = settings.BASE_DIR / "templates" / "panel" / "snippets"
BODY = '{"status": "PENDING", "orders": [{"externalId": "açaí"}]}'.encode()


@pytest.fixture
def secret(monkeypatch):
    text = signing.new_secret()
    monkeypatch.setenv("WEBHOOK_SECRET", text)
    return text


@pytest.fixture
def is_signed_by_rota(secret):
    space: dict[str, Any] = {}
    function, _, _server = (SNIPPETS / "receive.py.txt").read_text().partition("class Receiver")
    exec(function, space)  # noqa: S102  # it is what is tested
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


def test_the_receiver_in_python_is_that_of_the_guide():
    (of_guide,) = [each for each in snippets.of_page("quickstart") if each.name == "receive-webhooks"]

    assert (SNIPPETS / "receive.py.txt").read_text() == of_guide.code


class TestTheQuickstart:
    def test_of_an_account_has_the_names_of_the_guide(self, member, shop):
        page = html.unescape(
            member.get(reverse("panel:quickstart", args=[shop.integrator.pk, "sandbox"])).content.decode()
        )

        assert re.findall(r"export (\w+)=", page) == ["BASE_URL", "TOKEN", "WEBHOOK_SECRET"]
        assert "export TOKEN=rota_test_…" in page
        assert "export WEBHOOK_SECRET=whsec_…" in page
        assert '-H "Idempotency-Key: $IDEMPOTENCY_KEY" -d @delivery.json' in page
        for command in ("python3 receive.py", "node receive.js", "php -S 127.0.0.1:9000 receive.php"):
            assert f"start with {command}" in page
        assert "ROTA_" not in page

    def test_of_a_seller_has_the_names_of_the_guide(self, member, shop):
        page = html.unescape(member.get(reverse("panel:seller_quickstart", args=[shop.seller.pk])).content.decode())

        assert re.findall(r"export (\w+)=", page) == ["BASE_URL", "API_KEY"]
        assert '-H "Idempotency-Key: $IDEMPOTENCY_KEY" -d @-' in page
        assert "ROTA_" not in page

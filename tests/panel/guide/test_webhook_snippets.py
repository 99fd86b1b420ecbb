"""The guide's and the panel's programs that check a webhook's signature: they answer 401 to what we have not signed."""

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest
import requests
from django.conf import settings
from standardwebhooks import WebhookVerificationError

from common.webhooks import signing
from tests.panel.guide import snippets
from tests.ports import free_port, listens

BODY = json.dumps({"deliveryId": "id-of-delivery", "status": "PENDING", "orders": [{"externalId": "açaí"}]}).encode()
SECRET = signing.new_secret()
PROGRAMS = settings.BASE_DIR / "templates" / "panel" / "snippets"
EXTENSIONS = {"python": "py", "javascript": "js", "php": "php"}


def headers(*, secret=SECRET, at=None, others=()):
    sent_at = int(at or time.time())
    signature = signing.sign(webhook_id="id-1", timestamp=sent_at, body=BODY, secrets=[*others, secret])
    return {"webhook-id": "id-1", "webhook-timestamp": str(sent_at), "webhook-signature": signature}


def without(name):
    return {key: value for key, value in headers().items() if key != name}


ACCEPTED = {
    "signed": headers,
    "signed beside another secret": lambda: headers(others=[signing.new_secret()]),
    "four minutes old": lambda: headers(at=time.time() - 240),
}
REFUSED: dict[str, Any] = {
    "without headers": dict,
    "another secret": lambda: headers(secret=signing.new_secret()),
    "old": lambda: headers(at=time.time() - 310),
    "of the future": lambda: headers(at=time.time() + 310),
    "a time that is no number": lambda: headers() | {"webhook-timestamp": "soon"},
    "another id": lambda: headers() | {"webhook-id": "id-2"},
    "without an id": lambda: without("webhook-id"),
    "without a time": lambda: without("webhook-timestamp"),
    "without a signature": lambda: without("webhook-signature"),
    "a signature without a version": lambda: headers() | {"webhook-signature": "v1"},
    "an empty signature": lambda: headers() | {"webhook-signature": ""},
    "a signature of other characters": lambda: headers() | {"webhook-signature": "v1,\xe9"},
    "a time of too many digits": lambda: headers() | {"webhook-timestamp": "9" * 5000},
    "an empty time": lambda: headers() | {"webhook-timestamp": ""},
}


@pytest.fixture(params=EXTENSIONS)
def receiver(request, program, tmp_path):
    """The URL of the panel's program in one language, which runs until the test ends. Python's is the guide's too."""
    port = free_port()
    file = tmp_path / "receive.php"
    file.write_text((PROGRAMS / f"receive.{EXTENSIONS[request.param]}.txt").read_text())
    command = {
        "python": [sys.executable, file],
        "javascript": ["node", file],
        "php": ["php", "-S", f"127.0.0.1:{port}", file],
    }[request.param]
    program(str(command[0]))
    environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": SECRET, "PORT": str(port)}
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=output, stderr=output)
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def wait_for(port, process):
    for _attempt in range(200):
        if process.poll() is not None:
            break
        if listens(port):
            return
        time.sleep(0.05)
    pytest.fail("the program does not listen")


class TestReceiver:
    def test_takes_what_we_signed_and_nothing_else(self, receiver, tmp_path):
        accepted = {name: requests.post(receiver, BODY, headers=make(), timeout=10) for name, make in ACCEPTED.items()}
        refused = {name: requests.post(receiver, BODY, headers=make(), timeout=10) for name, make in REFUSED.items()}
        changed = requests.post(receiver, BODY + b" ", headers=headers(), timeout=10)

        assert {name: answer.status_code for name, answer in accepted.items()} == dict.fromkeys(ACCEPTED, 204)
        assert {name: answer.status_code for name, answer in refused.items()} == dict.fromkeys(REFUSED, 401)
        assert changed.status_code == 401
        assert (tmp_path / "output").read_text().count("id-1 id-of-delivery PENDING") == len(ACCEPTED)


class TestLibrary:
    """verify-with-library, with the package standardwebhooks."""

    @pytest.fixture
    def read_event(self, monkeypatch):
        monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
        (snippet,) = [each for each in snippets.of_page("webhooks") if each.name == "verify-with-library"]
        space: dict[str, Any] = {}
        exec(snippet.code, space)  # noqa: S102  # it is what is tested
        return space["read_event"]

    def test_reads_what_we_signed(self, read_event):
        assert read_event(headers(), BODY) == json.loads(BODY)

    def test_raises_at_another_signature(self, read_event):
        with pytest.raises(WebhookVerificationError):
            read_event(headers(secret=signing.new_secret()), BODY)

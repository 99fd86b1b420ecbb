"""The guide's and the panel's programs that check a webhook's signature: they answer 401 to what we have not signed."""

import base64
import hashlib
import hmac
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
from standardwebhooks import Webhook, WebhookVerificationError

from common.webhooks import signing
from panel.guide import pages
from tests.panel.guide import snippets
from tests.ports import free_port, listens

BODY = json.dumps({"deliveryId": "id-of-delivery", "status": "PENDING", "orders": [{"externalId": "açaí"}]}).encode()
SECRET = signing.new_secret()
PROGRAMS = {
    language: pages.PROGRAMS[f"receive.{end}"]
    for language, end in [("python", "py"), ("javascript", "js"), ("php", "php")]
}


def headers(*, secret=SECRET, at=None, others=(), webhook_id="id-1", body=BODY):
    sent_at = int(at or time.time())
    signature = signing.sign(webhook_id=webhook_id, timestamp=sent_at, body=body, secrets=[*others, secret])
    return {"webhook-id": webhook_id, "webhook-timestamp": str(sent_at), "webhook-signature": signature}


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


@pytest.fixture(params=PROGRAMS)
def receiver(request, program, tmp_path):
    """The URL of the panel's program in one language, which runs until the test ends. Python's is the guide's too."""
    port, file = free_port(), PROGRAMS[request.param]
    command = {
        "python": [sys.executable, file],
        "javascript": ["node", file],
        "php": ["php", "-S", f"127.0.0.1:{port}", file],
    }[request.param]
    program(str(command[0]))
    with running(command, port, tmp_path) as url:
        yield url


@contextmanager
def running(command, port, folder):
    """The URL of a program that receives webhooks with SECRET. Its output is the file `output` of the folder."""
    environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": SECRET, "PORT": str(port)}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=output)
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()


def code_of(page, name):
    (snippet,) = [each for each in snippets.of_page(page) if each.name == name]
    return snippet.code


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
        output = (tmp_path / "output").read_text()
        assert output.count("id-1 id-of-delivery PENDING") == len(ACCEPTED)
        assert output.count("Not signed with this WEBHOOK_SECRET") == len(REFUSED) + 1

    @pytest.mark.parametrize("language", ["python", "javascript"])
    def test_says_what_to_do_if_its_port_is_taken(self, program, language):
        command = [{"python": sys.executable, "javascript": "node"}[language], str(PROGRAMS[language])]
        program(str(command[0]))
        with closing(socket.create_server(("127.0.0.1", 0))) as taken:
            port = taken.getsockname()[1]
            environment = {"PATH": os.environ["PATH"], "WEBHOOK_SECRET": SECRET, "PORT": str(port)}

            ended = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=20)

        assert ended.returncode == 1
        assert str(port) in ended.stderr
        assert "Choose another PORT, and set the webhook URL to http://127.0.0.1:<PORT>/" in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


class TestLibrary:
    """verify-with-library, with the package standardwebhooks."""

    @pytest.fixture
    def read_event(self, monkeypatch):
        monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
        space: dict[str, Any] = {}
        exec(code_of("webhooks", "verify-with-library"), space)  # noqa: S102  # it is what is tested
        return space["read_event"]

    def test_reads_what_we_signed(self, read_event):
        assert read_event(headers(), BODY) == json.loads(BODY)

    def test_raises_at_another_signature(self, read_event):
        with pytest.raises(WebhookVerificationError):
            read_event(headers(secret=signing.new_secret()), BODY)


class TestReceiverOnce:
    """receive-once, with the package standardwebhooks."""

    @pytest.fixture
    def url(self, tmp_path):
        file, port = tmp_path / "receive_once.py", free_port()
        file.write_text(code_of("going-live", "receive-once"))
        with running([sys.executable, file], port, tmp_path) as url:
            yield url

    @staticmethod
    def send(url, webhook_id, sequence, status, **more):
        body = json.dumps({"deliveryId": "a", "status": status}).encode()
        sent = {**headers(webhook_id=webhook_id, body=body), "webhook-sequence": str(sequence), **more}
        return requests.post(url, body, headers=sent, timeout=10).status_code

    @staticmethod
    def recorded(folder):
        with closing(sqlite3.connect(folder / "events.db")) as database:
            ids = [row[0] for row in database.execute("SELECT id FROM received ORDER BY id")]
            return ids, database.execute("SELECT * FROM deliveries").fetchall()

    def test_records_each_event_once_and_keeps_the_newest_status(self, url, tmp_path):
        answers = [
            self.send(url, "e1", 1, "PENDING"),
            self.send(url, "e3", 3, "COLLECTED"),
            self.send(url, "e2", 2, "ACCEPT"),
            self.send(url, "e3", 3, "COLLECTED"),
        ]

        assert answers == [204, 204, 204, 204]
        assert self.recorded(tmp_path) == (["e1", "e2", "e3"], [("a", 3, "COLLECTED")])

    def test_answers_and_does_not_record_a_test_event(self, url, tmp_path):
        assert self.send(url, "e1", 1, "PENDING", **{"webhook-test": "true"}) == 204

        assert self.recorded(tmp_path) == ([], [])

    def test_refuses_what_we_have_not_signed(self, url, tmp_path):
        assert self.send(url, "e1", 1, "PENDING", **{"webhook-signature": "v1,AAAA"}) == 401

        assert self.recorded(tmp_path) == ([], [])


class TestVector:
    """The guide's test vectors by three implementations: ours, standardwebhooks, and the sentence above the vector."""

    @pytest.fixture(params=["webhooks.md", "order-webhooks.md"])
    def vector(self, request):
        text = (pages.FOLDER / request.param).read_text()
        (block,) = re.findall(r"^```text\n(secret .*?)^```", text, re.MULTILINE | re.DOTALL)
        return dict(line.split(maxsplit=1) for line in block.splitlines())

    def test_has_the_signature_of_each_implementation(self, vector):
        secret, webhook_id, sent_at, body = (vector[name] for name in ("secret", "id", "timestamp", "body"))

        ours = signing.sign(webhook_id=webhook_id, timestamp=int(sent_at), body=body.encode(), secrets=[secret])
        library = Webhook(secret).sign(webhook_id, datetime.fromtimestamp(int(sent_at), UTC), body)
        key = base64.b64decode(secret.removeprefix("whsec_"))
        digest = hmac.new(key, f"{webhook_id}.{sent_at}.{body}".encode(), hashlib.sha256).digest()
        assert {ours, library, f"v1,{base64.b64encode(digest).decode()}"} == {vector["signature"]}

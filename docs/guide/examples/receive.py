"""Receives webhooks at PORT, checks that Rota has signed them, and prints them."""

import base64
import hashlib
import hmac
import json
import os
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))


def is_signed_by_rota(headers: Message, body: bytes) -> bool:
    """Whether Rota signed this body within the last five minutes. `body` as it arrived, byte for byte."""
    sent_at = headers.get("webhook-timestamp", "")
    if not (sent_at.isdecimal() and len(sent_at) < 20 and abs(time.time() - int(sent_at)) <= 300):
        return False
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    given = [part.partition(",")[2].encode() for part in headers.get("webhook-signature", "").split()]
    return any(hmac.compare_digest(expected, signature) for signature in given)


class Receiver(BaseHTTPRequestHandler):
    """Answers with 204 to what Rota has signed, and with 401 to anything else."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_signed = is_signed_by_rota(self.headers, body)
        if is_signed:
            self.take(json.loads(body))
        else:
            self.log_message("Not signed with this WEBHOOK_SECRET, or clocks differ. Take the secret of this endpoint.")
        self.send_response(204 if is_signed else 401)
        self.end_headers()

    def take(self, event: dict[str, Any]) -> None:
        print(self.headers["webhook-id"], event.get("deliveryId") or event["orderId"], event["status"], flush=True)


def listen(port: int, receiver: type[Receiver]) -> HTTPServer:
    try:
        return HTTPServer(("127.0.0.1", port), receiver)
    except OSError as error:
        url = "http://127.0.0.1:<PORT>/"
        raise SystemExit(f"Port {port}: {error}. Choose another PORT, and set the webhook URL to {url}") from None


if __name__ == "__main__":
    listen(int(os.environ.get("PORT", "9000")), Receiver).serve_forever()

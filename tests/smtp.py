"""Mail servers on loopback: one that works, and some that do not."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any
from urllib.parse import urlsplit

from aiosmtpd.controller import Controller

from tests.ports import free_port

SENDER = "Rota <rota@example.com>"


class Mailbox:
    """What the server has accepted. `reply` is what it answers to the end of a message, `refused` to recipients.

    `replies` are its answers to other recipients, by their addresses.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.reply = "250 OK"
        self.refused: set[str] = set()
        self.replies: dict[str, str] = {}

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802  # aiosmtpd's name
        if address in self.refused:
            return "550 no such mailbox"
        if address in self.replies:
            return self.replies[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802  # named by aiosmtpd
        if self.reply.startswith("250"):
            message = message_from_bytes(envelope.content, policy=default)
            message["X-Envelope-To"] = ",".join(envelope.rcpt_tos)
            self.messages.append(message)
        return self.reply


@contextmanager
def mail_server() -> Iterator[tuple[str, Mailbox]]:
    """A server that works: its URL and its mailbox."""
    mailbox = Mailbox()
    port = free_port()
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield f"smtp://127.0.0.1:{port}", mailbox
    finally:
        controller.stop()


@contextmanager
def hanging_server() -> Iterator[tuple[str, list[socket.socket]]]:
    """A server that accepts connections and never says anything: its URL and the connections."""
    accepted: list[socket.socket] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                accepted.append(listener.accept()[0])
            except OSError:  # closed
                return

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"smtp://127.0.0.1:{listener.getsockname()[1]}", accepted
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in accepted:
            connection.close()


def use(settings: Any, url: str) -> None:
    """Set what an EMAIL_URL of a server without encryption determines."""
    settings.EMAIL_URL, settings.DEFAULT_FROM_EMAIL = url, SENDER
    settings.EMAIL_HOST, settings.EMAIL_PORT = urlsplit(url).hostname, urlsplit(url).port


def body_of(message: Message) -> str:
    text: str = message.get_payload(decode=True).decode()  # type: ignore[union-attr]  # one part
    return text.replace("\r\n", "\n")

"""What is recorded of an e-mail before it is sent."""

import re
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.exceptions import ValidationError
from django.utils import timezone

from common.mail import outbox, sending
from common.mail.models import Message
from delivery.models import Delivery, WebhookEndpoint
from tests.cases import in_turn
from tests.factories import PICKUP

FOLDER = django_settings.BASE_DIR / "templates" / "mail"
TEMPLATES = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem != "alert_end")


class TestRecord:
    @pytest.mark.parametrize(
        "address",
        [
            "ana@example.com\nBcc: x@example.com", "ana@example.com\r\nSubject: x", "ana@example.com, x@example.com",
            '"a,b"@example.com', '"a b"@example.com', "ana", "", "@example.com", "ana@", "Ana <ana@example.com>",
            f"{'a' * 250}@example.com", "ana@example.com\0",
        ],
    )  # fmt: skip  # a list
    def test_refuses_what_is_not_one_address(self, mailbox, record, address):
        with pytest.raises(ValidationError):
            record(address)

        assert Message.objects.count() == 0

    def test_keeps_line_breaks_out_of_headers(self, mailbox, record):
        record(name="Loja\r\nBcc: x@example.com\r\n\r\nHello")

        sending.send_due()

        (received,) = mailbox.messages
        assert received["Bcc"] is None
        assert received["X-Envelope-To"] == "ana@example.com"

    def test_refuses_without_a_mail_server(self, db, record, settings):
        settings.EMAIL_URL = ""

        with pytest.raises(outbox.MailServerMissing):
            record()

        assert Message.objects.count() == 0

    def test_stores_no_text_that_can_be_read(self, mailbox, record):
        message = record()

        assert "https" not in message.body_ciphertext
        assert "https" not in str(Message.objects.values().get())


class TestRendered:
    STRANGE = "Loja\r\n\nYour account ends.\nhttps://evil.example/x www.evil.example evil.example " + "x" * 500

    @staticmethod
    def context(name: str) -> dict[str, Any]:
        """What the templates use; every text that somebody else has written is `name`."""
        now = timezone.now()
        return {
            **dict.fromkeys(("account", "shop", "inviter", "name", "code"), name),
            "endpoint": WebhookEndpoint(environment="live", failing_since=now, off_since=now, last_success_at=now),
            "day": now.date(),
            "deliveries": [
                {
                    "names": outbox.plain(name),
                    "trouble": "Late",
                    "reasons": [("B", "Nobody there")],
                    "delivery": Delivery(created_at=now, latitude=PICKUP.latitude, longitude=PICKUP.longitude),
                    "link": outbox.link("/y"),
                    "can_answer": True,
                }
            ],
            "count": 3,
            "others": 2,
            "link": outbox.link("/x"),
            "preferences": outbox.link("/y"),
            "state": {"sentence": "It is on its way.", "next_step": "Next it goes out for delivery."},
        }

    @in_turn("template", TEMPLATES)
    def test_has_neither_lines_nor_links_of_others(self, template):
        subject, body = outbox.rendered(template, self.context(self.STRANGE), language="en")

        _subject, ordinary = outbox.rendered(template, self.context("Loja"), language="en")
        assert len(body.splitlines()) == len(ordinary.splitlines())
        assert re.findall(r"\S*://\S*", body) == re.findall(r"\S*://\S*", ordinary)
        assert "evil.example" not in subject + body
        assert "x" * outbox.LONGEST_TEXT not in body

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("São João & Cia. Ltda.", "São João & Cia. Ltda."),
            ("A.B. Silva 2.0", "A.B. Silva 2.0"),
            ("ana@example.com", "ana@example.com"),
            ("Americanas.com", "Americanas. com"),
            ("javascript://x", "javascript: x"),
            ("evil\uff0eexample", "evil. example"),
            ("a\u202eb\x00c\td", "a b c d"),
            ("x" * 101, "x" * 99 + "…"),
        ],
    )
    def test_makes_a_name_one_short_line_that_is_no_address(self, text, shown):
        assert outbox.plain(text) == shown

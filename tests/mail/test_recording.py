"""What is recorded of an e-mail before it is sent."""

import pytest
from django.core.exceptions import ValidationError

from mail import outbox, sending
from mail.models import Message


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

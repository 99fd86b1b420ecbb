"""E-mails through a real mail server on loopback, and through servers that refuse, hang or are away."""

import logging
from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from common.mail import sending
from common.mail.models import Kind, Message, MessageState
from common.workers.deadlines import BoundedCalls
from tests import smtp
from tests.delivery.locking import without_waiting
from tests.overlapping import overlap
from tests.ports import free_port


@pytest.fixture
def away(settings):
    """A port of loopback that nobody listens at."""
    smtp.use(settings, f"smtp://127.0.0.1:{free_port()}")


def due_now():
    Message.objects.update(due_at=timezone.now())


def claim():
    message = sending._claim(at=timezone.now())
    assert message is not None
    return message


class TestSendDue:
    @pytest.mark.parametrize(
        ("language", "subject", "greeting"),
        [
            ("en", "maria invites you to São João on Rota", "maria invites you"),
            ("pt-br", "maria convida você para São João na Rota", "maria convida você"),
        ],
    )
    def test_hands_a_message_over_in_the_readers_language(self, mailbox, record, language, subject, greeting):
        message = record(name="São João", language=language)

        sending.send_due()

        (received,) = mailbox.messages
        assert (received["Subject"], received["To"], received["From"]) == (subject, "ana@example.com", smtp.SENDER)
        assert received["Auto-Submitted"] == "auto-generated"
        assert greeting in smtp.body_of(received)
        assert "https://rota.example.com/x" in smtp.body_of(received)
        message.refresh_from_db()
        assert (message.state, message.tries, message.error) == ("sent", 1, "")
        assert (message.body_ciphertext, message.unsubscribe_ciphertext) == ("", "")

    def test_sends_each_message_once(self, mailbox, record):
        record()
        record("bia@example.com")

        sending.send_due()
        sending.send_due()

        assert sorted(each["To"] for each in mailbox.messages) == ["ana@example.com", "bia@example.com"]

    def test_sends_those_to_receivers_of_orders_after_all_others_the_oldest_first(self, mailbox, record):
        to = {name: record(f"{name}@example.com") for name in ("late", "order", "early", "first-order")}
        now = timezone.now()
        for name, minutes in (("first-order", 9), ("order", 8), ("early", 2), ("late", 1)):
            kind = Kind.ORDER if "order" in name else Kind.ALERT
            due_at = now - timedelta(minutes=minutes)
            Message.objects.filter(pk=to[name].pk).update(kind=kind, due_at=due_at)

        sending.send_due()

        sent = [each["To"].partition("@")[0] for each in mailbox.messages]
        assert sent == ["early", "late", "first-order", "order"]

    def test_is_claimed_by_one_worker_and_not_waited_for_by_others(self, mailbox, record, transactional_db):
        message = record()
        claim = partial(sending._claim, at=timezone.now())

        assert overlap(claim, partial(without_waiting, claim)) == [message, None]

    def test_sends_it_again_with_the_same_id_after_a_worker_was_killed(self, mailbox, record):
        record()
        claimed = claim()
        sending._send(claimed, "text", "")  # and the worker ends before it has written this

        sending.send_due()
        assert len(mailbox.messages) == 1  # the lease has not ended
        due_now()
        sending.send_due()

        first, second = mailbox.messages
        assert first["Message-ID"] == second["Message-ID"]
        assert Message.objects.get().state == MessageState.SENT

    def test_a_late_worker_does_not_overwrite_the_outcome(self, mailbox, record):
        message = record()
        late = claim()
        due_now()
        claim()  # another worker's, after the lease of the first one

        sending._fail(late, "late")

        message.refresh_from_db()
        assert (message.state, message.tries, message.error) == ("waiting", 2, "")

    def test_repeats_a_message_that_the_server_defers(self, mailbox, record):
        mailbox.reply = "451 try again later"
        message = record()

        sending.send_due()

        message.refresh_from_db()
        assert (message.state, message.tries) == ("waiting", 1)
        assert "451" in message.error
        assert timedelta(0) < message.due_at - timezone.now() <= sending.PAUSES[0]
        mailbox.reply = "250 OK"
        due_now()
        sending.send_due()
        assert Message.objects.get().state == MessageState.SENT

    @pytest.mark.parametrize("how", ["message", "recipient"])
    def test_does_not_repeat_what_is_refused_for_good(self, mailbox, record, how, caplog):
        if how == "message":
            mailbox.reply = "500 no"
        else:
            mailbox.refused = {"ana@example.com"}
        message = record()

        sending.send_due()

        message.refresh_from_db()
        assert (message.state, message.tries) == ("failed", 1)
        assert (message.body_ciphertext, message.unsubscribe_ciphertext) == ("", "")
        assert message.error.startswith(("SMTPDataError", "SMTPRecipientsRefused"))
        assert [entry.levelno for entry in caplog.records if entry.name == "common.mail.sending"] == [logging.ERROR]
        assert message.recipient not in caplog.text

    def test_goes_on_after_a_refused_recipient(self, mailbox, record):
        mailbox.refused = {"ana@example.com"}
        record()
        record("bia@example.com")

        sending.send_due()

        assert [each["To"] for each in mailbox.messages] == ["bia@example.com"]

    @pytest.mark.parametrize("how", ["recipient", "message"])
    def test_goes_on_after_a_message_that_the_server_defers(self, mailbox, record, how):
        """A server with greylisting defers the first message to each recipient."""
        if how == "recipient":
            mailbox.replies = {"ana@example.com": "451 greylisted", "bia@example.com": "450 greylisted"}
        else:
            mailbox.reply = "451 greylisted"
        deferred = [record(), record("bia@example.com")]
        if how == "recipient":
            record("eva@example.com")

        sending.send_due()

        waiting = Message.objects.filter(state="waiting", tries=1)
        assert set(waiting) == set(deferred)
        assert [each["To"] for each in mailbox.messages] == ["eva@example.com"] * (how == "recipient")

    def test_ends_when_the_server_ends_the_connection(self, mailbox, record):
        mailbox.replies = {"ana@example.com": "421 shutting down"}
        record()
        record("bia@example.com")

        sending.send_due()

        assert mailbox.messages == []
        assert sorted(Message.objects.values_list("tries", flat=True)) == [0, 1]

    def test_goes_on_after_a_message_that_cannot_be_built(self, mailbox, record, caplog):
        bad = record()
        Message.objects.filter(pk=bad.pk).update(subject="two\nlines")
        record("bia@example.com")

        sending.send_due()

        assert [each["To"] for each in mailbox.messages] == ["bia@example.com"]
        bad.refresh_from_db()
        assert (bad.state, bad.tries, bad.error.partition(":")[0]) == ("waiting", 1, "BadHeaderError")

    def test_ends_after_six_attempts(self, away, record):
        message = record()

        for _attempt in range(8):
            due_now()
            sending.send_due()

        message.refresh_from_db()
        assert (message.state, message.tries) == ("failed", 6)
        assert "ConnectionRefusedError" in message.error

    @pytest.mark.parametrize(
        ("values", "error"),
        [
            ({"tries": 6}, "interrupted each time"),  # every worker was killed
            ({"expires_at": timezone.now()}, "expired"),
            ({"expires_at": timezone.now(), "error": "421 busy"}, "expired; 421 busy"),
            ({"body_ciphertext": "unreadable"}, "no key of CREDENTIALS_KEYS decrypts it"),
        ],
    )
    def test_gives_up_what_it_cannot_or_must_not_send(self, mailbox, record, values, error):
        message = record()
        Message.objects.update(**values)

        sending.send_due()

        message.refresh_from_db()
        assert (message.state, message.error, mailbox.messages) == ("failed", error, [])

    def test_tries_one_message_while_the_server_is_away(self, away, record):
        record()
        record("bia@example.com")

        sending.send_due()

        assert sorted(Message.objects.values_list("tries", flat=True)) == [0, 1]

    def test_waits_a_bounded_time_for_a_server_that_hangs(self, record, settings):
        settings.EMAIL_TIMEOUT = 0.2
        with smtp.hanging_server() as (url, connections):
            smtp.use(settings, url)
            message = record()

            sending.send_due()

            assert len(connections) == 1
        message.refresh_from_db()
        assert message.state == MessageState.WAITING
        assert "timed out" in message.error

    def test_waits_a_bounded_time_for_a_server_that_drips(self, record, settings, monkeypatch):
        """Each byte comes within the time-out of the socket, and the deadline of the whole message ends it."""
        monkeypatch.setattr(sending, "_calls", BoundedCalls(most=2, seconds=0.3))
        settings.EMAIL_TIMEOUT = 5
        with smtp.hanging_server() as (url, _connections):
            smtp.use(settings, url)
            message = record()

            sending.send_due()

        message.refresh_from_db()
        assert message.state == MessageState.WAITING
        assert message.error.startswith("DeadlinePassed")

    def test_leaves_everything_while_there_is_no_server(self, mailbox, record, settings):
        record()
        settings.EMAIL_URL = ""

        sending.send_due()

        assert Message.objects.get().tries == 0


class TestPrune:
    def test_deletes_messages_after_30_days(self, mailbox, record):
        old, kept = record(), record("bia@example.com")
        now = timezone.now()
        Message.objects.filter(pk=old.pk).update(created_at=now - timedelta(days=30, seconds=1))

        sending.prune(at=now)

        assert list(Message.objects.all()) == [kept]

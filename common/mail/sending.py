"""Sending the messages that are due, one after the other, through SMTP.

A message that is sent once more after a worker was killed (`common.postgresql.batches`) has the same Message-ID.
"""

import logging
import smtplib
from collections.abc import Callable
from datetime import datetime, timedelta

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import Error

from common import clock, credentials
from common.mail.models import LONGEST_ERROR, Kind, Message, MessageState
from common.postgresql import batches
from common.workers.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls

_log = logging.getLogger(__name__)
# Until the second attempt, the third, and so on. After the last one the message has failed.
PAUSES = (
    timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4),
)  # fmt: skip  # a list
# For connecting and sending one message. EMAIL_TIMEOUT limits each operation of the socket only, so a server that
# sends one byte now and then could take hours.
DEADLINE_SECONDS = 30
LEASE = timedelta(minutes=2)
KEPT = timedelta(days=30)
_PERMANENT = 500  # replies of SMTP from here on say that repeating the command does not help
_CLOSES = 421  # the server ends the connection
_calls = BoundedCalls(most=2, seconds=DEADLINE_SECONDS)


def send_due(is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Send what is due, until the server is away or ends the connection. A refused message does not end it."""
    if not settings.EMAIL_URL:
        return
    while not is_stopping():
        message = _claim(at=clock.now())
        if message is None or not _send_and_settle(message):
            return


def prune(*, at: datetime) -> None:
    batches.prune(Message, "created_at", before=at - KEPT)


def _claim(*, at: datetime) -> Message | None:
    """The message that is due first; those to receivers of orders, which may be thousands, after all others."""
    waiting = Message.objects.filter(state=MessageState.WAITING)
    for messages in (waiting.exclude(kind=Kind.ORDER), waiting.filter(kind=Kind.ORDER)):
        claimed: list[Message] = batches.claim(messages, at=at, lease=LEASE, most=1)
        if claimed:
            return claimed[0]
    return None


def _send_and_settle(message: Message) -> bool:
    """Returns whether the next message may be tried at once."""
    if message.expires_at <= clock.now():
        _fail(message, f"expired; {message.error}" if message.error else "expired")
        return True
    if message.tries > len(PAUSES) + 1:  # the workers that tried were killed
        _fail(message, "interrupted each time")
        return True
    try:
        body = credentials.decrypt(message.body_ciphertext)
        ciphertext = message.unsubscribe_ciphertext
        unsubscribe = credentials.decrypt(ciphertext) if ciphertext else ""
        _calls.run(lambda: _send(message, body, unsubscribe))
    except InvalidToken:
        _fail(message, "no key of CREDENTIALS_KEYS decrypts it")
    except Error:  # of the database, not of the message
        raise
    except Exception as error:  # noqa: BLE001  # stored with the message; the other messages are sent
        text = f"{type(error).__name__}: {error}".replace("\0", "")[:LONGEST_ERROR]
        codes = _codes(error)
        is_permanent = bool(codes) and all(code >= _PERMANENT for code in codes)
        again_at = None if is_permanent else batches.next_try(message, PAUSES, at=clock.now())
        if again_at is None:
            _fail(message, text)
        else:
            # Without the error, which can contain the address. The admin shows it.
            _log.warning("e-mail %s was not sent and is tried again", message.pk)
            batches.still_claimed(message).update(due_at=again_at, error=text)
        # Whether the server has refused this message or its recipient only, so that others can be sent.
        is_of_connection = isinstance(error, smtplib.SMTPException | OSError | DeadlinePassed | TooManyCalls)
        return (bool(codes) and _CLOSES not in codes) if is_of_connection else True
    else:
        _end(message, MessageState.SENT)
    return True


def _send(message: Message, body: str, unsubscribe: str) -> None:
    host = settings.SITE_URL.partition("://")[2].partition(":")[0]
    headers = {"Message-ID": f"<rota-{message.pk}@{host}>", "Auto-Submitted": "auto-generated"}
    if unsubscribe:
        headers |= {"List-Unsubscribe": f"<{unsubscribe}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    mail = EmailMessage(
        message.subject,
        body,
        settings.DEFAULT_FROM_EMAIL,
        [message.recipient],
        headers=headers,
        connection=get_connection("django.core.mail.backends.smtp.EmailBackend"),
    )
    mail.send()


def _codes(error: Exception) -> list[int]:
    """The replies of the server about this message and its recipient; empty for other errors."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return [code for code, _reply in error.recipients.values()]
    return [error.smtp_code] if isinstance(error, smtplib.SMTPDataError) else []


def _fail(message: Message, error: str) -> None:
    _log.error("e-mail %s was not sent, and is not tried again", message.pk)
    _end(message, MessageState.FAILED, error[:LONGEST_ERROR])


def _end(message: Message, state: MessageState, error: str = "") -> None:
    erased = {"body_ciphertext": "", "unsubscribe_ciphertext": ""}
    batches.still_claimed(message).update(**erased, state=state, ended_at=clock.now(), error=error)

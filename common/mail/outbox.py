"""Recording e-mails to be sent. Neither these functions nor web requests talk to the mail server."""

import re
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from common import credentials
from common.mail.models import LONGEST_SUBJECT, Kind, Message

LONGEST_ADDRESS = 254  # RFC 5321
LONGEST_TEXT = 100  # of a name in a message
# As in example.com, also as an ideographic or full-width one. Mail programs make links of host names.
_DOT_OF_A_HOST = re.compile(r"(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d_]{2})")


class MailServerMissing(Exception):
    """EMAIL_URL is not set, so nothing can be sent. Pages say so before anybody asks for a message."""


def is_configured() -> bool:
    return bool(settings.EMAIL_URL)


def clean_address(text: str) -> str:
    """One e-mail address in lower case. Raises ValidationError.

    Refuses quoted local parts, which may contain commas and spaces and so look like several addresses in a header, and
    letters before the @ that fold to ASCII ones, which Django accepts, such as the long s (U+017F).
    """
    address = text.strip().lower()
    if len(address) > LONGEST_ADDRESS or '"' in address or not text.rpartition("@")[0].isascii():
        raise ValidationError(_("This is not an e-mail address."))
    try:
        validate_email(address)
    except ValidationError as error:
        raise ValidationError(_("This is not an e-mail address.")) from error
    return address


def is_address(text: str) -> bool:
    """Whether a message can be sent to this address. Django accepts some that `clean_address` refuses."""
    try:
        clean_address(text)
    except ValidationError:
        return False
    return True


class Link(str):
    """An address of this service in the context of a message, which is written as it is."""

    __slots__ = ()


def link(path: str) -> Link:
    """The absolute address of a page, for messages."""
    return Link(f"{settings.SITE_URL}{path}")


def record(
    *,
    kind: Kind,
    recipient: str,
    template: str,
    context: dict[str, Any],
    language: str,
    at: datetime,
    lifetime: timedelta,
    unsubscribe: str = "",
) -> Message:
    """Write a message that is sent when this transaction has committed, and not later than `lifetime` after `at`.

    A POST to `unsubscribe`, without a log-in, ends further messages of this kind; mail programs offer it as a button.
    `template` names a file of templates/mail whose first line is the subject. Raises MailServerMissing, and
    ValidationError for an invalid address.
    """
    if not is_configured():
        raise MailServerMissing
    subject, body = rendered(template, context, language=language)
    return Message.objects.create(
        kind=kind,
        recipient=clean_address(recipient),
        subject=subject,
        body_ciphertext=credentials.encrypt(f"{body}\n"),
        unsubscribe_ciphertext=credentials.encrypt(unsubscribe) if unsubscribe else "",
        created_at=at,
        expires_at=at + lifetime,
        due_at=at,
    )


def rendered(template: str, context: dict[str, Any], *, language: str) -> tuple[str, str]:
    """Subject and body of a template of templates/mail, in a language.

    Texts of the context are made `plain`, except each `Link`.
    """
    context = {
        name: plain(value) if isinstance(value, str) and not isinstance(value, Link) else value
        for name, value in context.items()
    }
    with translation.override(language):
        text = render_to_string(f"mail/{template}.txt", context).strip()
    subject, _newline, body = text.partition("\n")
    return " ".join(subject.split())[:LONGEST_SUBJECT], body.strip()


def plain(text: str) -> str:
    """A text that somebody else has written, such as a name: one line, short, and no address that can be clicked.

    An e-mail in the operator's name must not carry a stranger's message or link.
    """
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    if not is_address(line):
        line = _DOT_OF_A_HOST.sub(". ", line.replace("://", ": "))
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 1]}…"

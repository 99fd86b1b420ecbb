"""What the names of people and accounts may contain. They are shown in e-mails, whose readers trust the sender."""

import re
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_WEB_ADDRESS = re.compile(r"://|\bwww\.", re.IGNORECASE)


def validate_name(text: str) -> None:
    """Refuse line breaks, other control characters and web addresses. Raises ValidationError."""
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in text):
        raise ValidationError(_("A name is one line, without control characters."))
    if _WEB_ADDRESS.search(text):
        raise ValidationError(_("A name contains no web address."))

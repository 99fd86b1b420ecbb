"""The language of the page that a request came from."""

from django.conf import settings
from django.utils.translation import get_language


def page_language() -> str:
    """The code of the active language, in which the person is written to."""
    return get_language() or settings.LANGUAGE_CODE

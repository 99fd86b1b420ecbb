"""Uploads that the web server has cut short."""

from django.http import HttpRequest

_MOST_DIGITS = 20  # of Content-Length; int() raises ValueError for more than 4,300


def is_cut_short(request: HttpRequest, *, field: str, most: int) -> bool:
    """Whether the file `field` is missing from a request of more than `most` bytes.

    The web server reads the first megabytes of a body (`config.rsgi.MAX_BODY_BYTES`), and Django drops a file whose end
    is missing, so that a file that is far too large looks like none.
    """
    declared = request.META.get("CONTENT_LENGTH") or "0"
    is_number = len(declared) <= _MOST_DIGITS and declared.isascii() and declared.isdigit()
    return field not in request.FILES and is_number and int(declared) > most

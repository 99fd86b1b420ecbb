"""The files in git that are made of others. Many tests would fail for one that is old, so none is run then."""

from config.management.commands import messages, openapi
from panel.guide import description


def stale() -> str:
    """Which of them is old, and what to run; empty if none is. Takes a third of a second."""
    if description.FILE.read_text() != openapi.content():
        return "panel/guide/openapi.json is not what the code describes: run `manage.py openapi`"
    if (messages.FOLDER / "django.mo").read_bytes() != messages.compiled(messages.translated()):
        return "locale/ has texts that are not compiled: run `manage.py messages`"
    return ""

"""Configuration of logging, and the formats of log records.

Actions and views log ids and no personal data. Paths, messages of exceptions and names of log-ins can contain what a
client sent, so both formats remove what looks like a credential, the token of a link or an e-mail address, and the rows
that PostgreSQL repeats in its errors.
"""

import json
import logging
import os
import re
import time
from collections.abc import Iterable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeAlias

from common.connections import is_unavailable
from common.observability import log_context

# What follows in a path is the right to see something.
BEFORE_SECRETS = ("/t/", "/driver/in/", "/account/password/reset/", "/api/photos/")
_ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


# The id of the request being served.
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="-")

# What is removed, and what stands in its place. A pattern is tried only if the record has one of the words before it
# (in lower case), because most records have none. Each takes linear time.
_REMOVED = (
    (("rota_",), re.compile(r"(rota_(?:live|test|key|testkey|carrierkey)_)[A-Za-z0-9_-]{16,}"), r"\1…"),
    (("whsec_",), re.compile(r"(whsec_)[A-Za-z0-9+/=_-]{8,}"), r"\1…"),
    (("bearer ", "basic "), re.compile(r"\b(Bearer|Basic) +[^\s'\"]+", re.IGNORECASE), r"\1 …"),
    (
        BEFORE_SECRETS,
        re.compile(r"(/t/|/driver/in/|/account/password/reset/|/api/photos/)[^\s'\"?#]+", re.IGNORECASE),
        r"\1…",
    ),
    (("@",), re.compile(r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "…@…"),
    # To the end of the exception's text: values may contain line breaks.
    (
        ("detail: ", "context: "),
        re.compile(r"(DETAIL|CONTEXT): .*?(?=\n\n(?:The above|During)|\Z)", re.DOTALL),
        r"\1: …",
    ),
)
# Longer texts are cut first.
_LONGEST = 64 * 1024


def without_secrets(text: str) -> str:
    """`text` without credentials, tokens of links, e-mail addresses and rows of the database."""
    text = text[:_LONGEST]
    lowered = text.lower()
    for words, pattern, replacement in _REMOVED:
        if any(word in lowered for word in words):
            text = pattern.sub(replacement, text)
    return text


def configuration(*, level: str) -> dict[str, Any]:
    """The setting LOGGING: every record of `level` or above to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"environment": {"()": "config.monitoring.logs.formatter"}},
        "handlers": {
            # Standard error, because commands print their results to standard output.
            "stderr": {"class": "logging.StreamHandler", "formatter": "environment", "filters": ["outage"]},
        },
        "filters": {"outage": {"()": "config.monitoring.outages.OutageFilter"}},
        "root": {"handlers": ["stderr"], "level": level},
        # Redundant: the access log has status and request id.
        "loggers": {
            "django.request": {"level": "ERROR"},
            # Any client can cause them; the access log has the 400.
            "django.security": {"level": "CRITICAL"},
            "django.security.csrf": {"level": "WARNING"},  # a line without a traceback, which says why
            "django.server": {"level": "ERROR"},
            # Both log addresses of chats, which are secrets: of refused posts, and at DEBUG of each request.
            "apprise": {"level": "CRITICAL"},
            "urllib3": {"level": "INFO"},
            # A line for each task, every few seconds.
            "celery": {"level": "WARNING"},
            # Celery's processes; its library gives the root logger none of its records.
            "multiprocessing": {"level": "ERROR", "handlers": ["stderr"]},
        },
    }


def formatter() -> logging.Formatter:
    """The formatter that LOG_FORMAT names. Also for granian, and for a process before Django is set up."""
    return JsonFormatter() if os.environ.get("LOG_FORMAT") == "json" else LineFormatter()


class LineFormatter(logging.Formatter):
    """Writes a record as one line, and indents the lines of its traceback.

    Paths, names and messages of exceptions can come from clients. Unescaped, a line break in them could forge a record,
    and escape sequences would act on the terminal that shows the log.

    Times are UTC, so that they are in order and mean the same whatever TIME_ZONE says.
    """

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # named by logging
        record.request_id = REQUEST_ID.get()
        text = without_secrets(super().formatMessage(record))
        if left_out := getattr(record, "left_out", 0):
            text = f"{text} (and {left_out} others since the last line)"
        return _escaped(text)

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802  # named by logging
        return _indented(without_secrets(_traceback(ei)).split("\n"))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802  # named by logging
        return _indented(super().formatStack(stack_info).split("\n"))


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object on one line, with ASCII characters only."""

    def format(self, record: logging.LogRecord) -> str:
        written: dict[str, object] = {
            "time": LineFormatter().formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
            "request_id": REQUEST_ID.get(),
            **log_context.noted(),
        }
        if left_out := getattr(record, "left_out", 0):
            written["left_out"] = left_out
        if record.exc_info:
            written["exception"] = without_secrets(_traceback(record.exc_info))
        if record.stack_info:
            written["stack"] = without_secrets(record.stack_info)
        return json.dumps(written)


def _traceback(of: _ExcInfo) -> str:
    """Only the last line if PostgreSQL is unavailable: an outage would fill the disk with the same traceback."""
    if is_unavailable(of[1]):
        return f"{type(of[1]).__name__}: {of[1]}".strip()
    return logging.Formatter().formatException(of)


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"    {_escaped(line)}" for line in lines)


def _escaped(text: str) -> str:
    """`text` with every character escaped that `repr` would escape: control characters, line separators, surrogates."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)

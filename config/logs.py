"""Configuration of logging, and the format of log records."""

import logging
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any, TypeAlias

_ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configuration(*, level: str) -> dict[str, Any]:
    """The setting LOGGING: every record of `level` or above, as one line on standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"request_id": {"()": "config.middleware.RequestIdFilter"}},
        "formatters": {
            "line": {
                "()": "config.logs.LineFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s",
            },
        },
        "handlers": {
            # Standard error, because commands print their results to standard output.
            "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request_id"]},
        },
        "root": {"handlers": ["stderr"], "level": level},
        # Redundant: the access log has status and request id.
        "loggers": {
            "django.request": {"level": "ERROR"},
            # Any client can cause it; the access log has the 400.
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "django.server": {"level": "ERROR"},
        },
    }


class LineFormatter(logging.Formatter):
    """Writes a record as one line, and indents the lines of its traceback.

    Paths, names and messages of exceptions can come from clients. Unescaped, a line break in them could forge a record,
    and escape sequences would act on the terminal that shows the log.

    Times are UTC, so that they are in order and mean the same whatever TIME_ZONE says.
    """

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # logging's name for it
        return _escaped(super().formatMessage(record))

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802  # likewise
        return _indented(super().formatException(ei).split("\n"))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802  # likewise
        return _indented(super().formatStack(stack_info).split("\n"))


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"    {_escaped(line)}" for line in lines)


def _escaped(text: str) -> str:
    """`text` with every character escaped that `repr` would escape: control characters, line separators, surrogates."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)

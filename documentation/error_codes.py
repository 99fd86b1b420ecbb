"""The page of the guide that lists every error code, as Markdown. Pure."""

from itertools import groupby

from documentation.catalogue import CODES, ErrorCode

_HEAD = """# Error codes

`code` of the [error bodies](errors.md), by HTTP status. This list is written by `manage.py error_codes`.
"""


def markdown() -> str:
    """The text of docs/guide/error-codes.md: a table for each status."""
    entries = sorted(CODES.values(), key=lambda entry: (entry.status, entry.code))
    tables = (_table(status, list(group)) for status, group in groupby(entries, key=lambda entry: entry.status))
    return "\n".join([_HEAD, *tables])


def _table(status: int, entries: list[ErrorCode]) -> str:
    rows = (f"| `{each.code}` | {' and '.join(each.apis)} | {each.meaning} | {each.remedy} |" for each in entries)
    lines = [f"## {status}", "", "| code | API | meaning | what to do |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)

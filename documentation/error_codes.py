"""The page of the guide that lists every error code, as Markdown. Pure."""

from itertools import groupby

from documentation.catalogue import CODES, ErrorCode

_HEAD = """# Error codes

`code` of the [error bodies](errors.md), by HTTP status. Each code has a page with an example of its body, at
`/docs/errors/<code>` of the service.
"""


def markdown() -> str:
    """The text of docs/guide/error-codes.md: a table for each status."""
    entries = sorted(CODES.values(), key=lambda entry: (entry.status, entry.code))
    tables = (_table(status, list(group)) for status, group in groupby(entries, key=lambda entry: entry.status))
    return "\n".join([_HEAD, *tables])


def _table(status: int, entries: list[ErrorCode]) -> str:
    head = [f"## {status}", "", "| code | API | meaning | what to do |", "|---|---|---|---|"]
    return "\n".join([*head, *map(_row, entries), ""])


def _row(entry: ErrorCode) -> str:
    api = entry.apis[0] if len(entry.apis) == 1 else "both"
    return f"| `{entry.code}` | {api} | {entry.meaning} | {entry.remedy} |"

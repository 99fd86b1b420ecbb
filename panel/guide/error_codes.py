"""The page of the guide that lists every error code, as Markdown."""

from itertools import groupby

from django.utils.translation import gettext, gettext_lazy, override

from panel.guide.catalogue import CODES, A, B, ErrorCode

_APIS = {A: gettext_lazy("immediate delivery"), B: gettext_lazy("order integration")}


def markdown(language: str) -> str:
    """The text of the page in this language: a table for each status."""
    entries = sorted(CODES.values(), key=lambda entry: (entry.status, entry.code))
    with override(language):
        tables = [_table(status, list(group)) for status, group in groupby(entries, key=lambda entry: entry.status)]
        return "\n".join([_head(), *tables])


def _head() -> str:
    intro = gettext(
        "`code` of the [error bodies](errors.md), by HTTP status. Each code has a page with an example of its body, "
        "at\n`/docs/errors/<code>` of the service."
    )
    return f"# {gettext('Error codes')}\n\n{intro}\n"


def _table(status: int, entries: list[ErrorCode]) -> str:
    columns = [gettext("code"), "API", gettext("meaning"), gettext("what to do")]
    head = [f"## {status}", "", f"| {' | '.join(columns)} |", "|---|---|---|---|"]
    return "\n".join([*head, *map(_row, entries), ""])


def _row(entry: ErrorCode) -> str:
    api = _APIS[entry.apis[0]] if len(entry.apis) == 1 else gettext("both")
    return f"| `{entry.code}` | {api} | {gettext(entry.meaning)} | {gettext(entry.remedy)} |"

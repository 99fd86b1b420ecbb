"""The guide: its chapters, the addresses of its pages, and their texts in Markdown.

`docs/guide/<name>.md` is the English page, `docs/guide/<language>/<name>.md` its translation. Headings have the anchors
of the English page in every language, so that a link to a heading does not depend on the reader's language. Blocks of
code stand in the English page alone: a translation has the same blocks without content. The page of error codes has no
file: it is made of the catalogue, as is the table in `retries.md`, where TABLE_OF_REPEATS stands. TABLE_OF_CALLS stands
where the calls of the description are.
"""

import re
from functools import cache
from itertools import groupby
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, override

from panel.guide import description
from panel.guide.catalogue import CODES, REPEATS_OF_CODES, A, B, Repeat, repeat_of

FOLDER: Path = settings.BASE_DIR / "docs" / "guide"
ENGLISH = "en"
# The first page has no name in its URL. Code hosts show README.md where they list a folder.
FIRST_FILE = "README.md"
# Programs that readers fetch, run and copy.
PROGRAMS = {
    name: FOLDER / "examples" / name for name in ("receive.py", "receive.js", "receive.php", "shop.py", "erp_day.py")
}
TABLE_OF_REPEATS = "<!-- the table of the catalogue -->"
TABLE_OF_CALLS = "<!-- the table of the description -->"

_SUMMARY = (
    "Two HTTP APIs of a logistics service in Brazil: immediate delivery (quote, request, follow and cancel same-day "
    "deliveries) and order integration (freight by postcode, orders, tracking, invoices)."
)
_ROW_OF_A_PAGE = re.compile(r"^\| \[[^]]+\]\((\S+)\.md\)[^|]* \| (.+) \|$", re.MULTILINE)
_DESCRIPTIONS = {"OpenAPI 3.1": "openapi-json", "Postman collection": "postman"}

# Titles of the menu's parts, and the names of their pages.
CHAPTERS: list[tuple[Promise, tuple[str, ...]]] = [
    (gettext_lazy("First steps"), ("", "quickstart", "sandbox", "going-live")),
    (gettext_lazy("Immediate delivery"), ("deliveries", "statuses", "webhooks", "connections")),
    (gettext_lazy("Order integration"), ("order-quickstart", "orders", "order-webhooks")),
    (
        gettext_lazy("Both APIs"),
        ("clients", "names", "retries", "warnings", "limits", "errors", "error-codes", "refused-calls", "versioning"),
    ),
]
_APIS = {A: gettext_lazy("deliveries"), B: gettext_lazy("orders")}
NAMES = frozenset(name for _title, names in CHAPTERS for name in names)


def folder(language: str) -> Path:
    """The folder with the files of this language."""
    return FOLDER if language == ENGLISH else FOLDER / language


def url(name: str) -> str:
    """The address of a page of the guide."""
    return reverse("documentation:page", args=[name]) if name else reverse("documentation:first")


def text(name: str, language: str) -> str:
    """The Markdown of the page with one of NAMES."""
    if name == "error-codes":
        return _error_codes(language)
    written = (folder(language) / _file(name)).read_text()
    if TABLE_OF_CALLS in written:
        return written.replace(TABLE_OF_CALLS, _calls(language, is_of_sellers=name == "orders"))
    return written.replace(TABLE_OF_REPEATS, _repeats(language)) if name == "retries" else written


def _file(name: str) -> str:
    return f"{name}.md" if name else FIRST_FILE


def for_language_models(base: str) -> str:
    """The list of the English pages in the format of https://llmstxt.org. `base`: the address of the service."""
    notes = dict(_ROW_OF_A_PAGE.findall(text("", ENGLISH)))
    lines = ["# Rota", "", f"> {_SUMMARY}"]
    for chapter, names in CHAPTERS:
        with override(ENGLISH):
            lines += ["", f"## {chapter}", ""]
        for name in names:
            title = text(name, ENGLISH).partition("\n")[0].removeprefix("# ")
            note = f": {notes[name]}" if name in notes else ""
            lines.append(f"- [{title}]({base}{url('')}{_file(name)}){note}")
    lines += ["", "## Descriptions of the APIs", ""]
    lines += [f"- [{title}]({base}{reverse(name)})" for title, name in _DESCRIPTIONS.items()]
    return "\n".join([*lines, ""])


@cache
def _calls(language: str, *, is_of_sellers: bool) -> str:
    """The table of the calls of one API, in the order of the description within each of its tags."""
    calls = [
        (path, method, call)
        for path, methods in description.translated(language)["paths"].items()
        if path.startswith("/api/integration/") == is_of_sellers
        for method, call in methods.items()
    ]
    tags = [*dict.fromkeys(call["tags"][0] for _path, _method, call in calls)]
    with override(language):
        columns = [gettext("call"), gettext("what it does"), gettext("answer")]
    lines = [f"| {' | '.join(columns)} |", "|---|---|---|"]
    for path, method, call in sorted(calls, key=lambda each: tags.index(each[2]["tags"][0])):
        answers = ", ".join(status for status in call["responses"] if status.startswith("2"))
        link = f"[{call['summary']}]({description.url(call)})"
        lines.append(f"| `{method.upper()} {path}` | {link} | {answers} |")
    return "\n".join(lines)


def _repeats(language: str) -> str:
    """The table of what each answer says about repeating the call: by status, with the codes that differ from it."""
    statuses = sorted({entry.status for entry in CODES.values()})
    with override(language):
        columns = [gettext("what happened"), gettext("repeating the call")]
        lines = [f"| {' | '.join(columns)} |", "|---|---|"]
        for repeat in Repeat:
            causes = [str(status) for status in statuses if repeat_of(status) is repeat]
            causes += [f"{CODES[code].status} `{code}`" for code, each in REPEATS_OF_CODES.items() if each is repeat]
            if repeat is Repeat.UNKNOWN:
                causes = [gettext("no answer, or a connection that broke"), *causes, gettext("any other 5xx")]
            lines.append(f"| {', '.join(causes)} | {gettext(repeat.value)} |")
    return "\n".join(lines)


def _error_codes(language: str) -> str:
    """The page that lists every error code: a table for each status."""
    entries = sorted(CODES.values(), key=lambda entry: (entry.status, entry.code))
    with override(language):
        intro = gettext(
            "`code` of the [error bodies](errors.md), by HTTP status. Each code has a page with an example of its "
            "body, at\n`/docs/errors/<code>` of the service. Below 500 nothing was changed, and the call is repeated "
            "when the cause is put right,\nunless [the table of repeated calls](retries.md#what-to-repeat-when) says "
            "otherwise."
        )
        columns = [gettext("code"), "API", gettext("meaning"), gettext("what to do")]
        lines = [f"# {gettext('Error codes')}", "", intro, ""]
        for status, group in groupby(entries, key=lambda entry: entry.status):
            lines += [f"## {status}", "", f"| {' | '.join(columns)} |", "|---|---|---|---|"]
            for entry in group:
                api = _APIS[entry.apis[0]] if len(entry.apis) == 1 else gettext("both")
                lines.append(f"| `{entry.code}` | {api} | {gettext(entry.meaning)} | {gettext(entry.remedy)} |")
            lines.append("")
    return "\n".join(lines)

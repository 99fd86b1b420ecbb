"""A table that somebody has uploaded: its rows are read, checked, and after a confirmation each is acted on.

What was read is kept, encrypted, for an hour (`common.files.kept_uploads`). The page has it worked on in portions of a
second. What a row means is said by the area: the columns by a `Table`, the work by a subclass of `Work`.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from django.utils.translation import gettext as _

from common import clock
from common.files import csv_files, kept_uploads, table_files
from common.files.csv_files import UnreadableFile, comparable, in_every_language
from common.measures import shown

MOST_BYTES = 300_000  # of a CSV file, and characters of a workbook's cells
PORTION_SECONDS = 1
MOST_FAULTS, LONGEST_FAULT = 5, 200  # of a row
# Of what is kept of a file. Its faults and what is acted on add at most as much again.
_MOST_BYTES_KEPT = 1_500_000
LONGEST_NAME = 200  # of a file
_LONGEST_HEADING = 100
DIGITS_OF_A_CEP = 8


@dataclass
class Row:
    """A row of the file. `state`: read, ready, wrong, repeated (what it asks for exists), done or failed."""

    line: int
    data: dict[str, str]
    state: str = "read"
    faults: Sequence[tuple[str, str]] = ()  # column, or an empty text, and what is wrong
    value: str = ""  # reais

    @property
    def price(self) -> Decimal:
        return Decimal(self.value or 0)


R = TypeVar("R", bound=Row)


@dataclass
class Upload:
    """An uploaded file on its way. After `is_confirmed` the rows that are ready are acted on."""

    environment: str
    name: str
    rows: list[Any]
    is_confirmed: bool = field(default=False, kw_only=True)
    id: UUID | None = field(default=None, kw_only=True)

    def of(self, *states: str) -> list[Any]:
        return [row for row in self.rows if row.state in states]

    @property
    def ready(self) -> list[Any]:
        return self.of("ready")

    @property
    def wrong(self) -> list[Any]:
        return self.of("wrong")

    @property
    def repeated(self) -> list[Any]:
        return self.of("repeated")

    @property
    def done(self) -> list[Any]:
        return self.of("done")

    @property
    def failed(self) -> list[Any]:
        return self.of("failed")

    @property
    def shown(self) -> list[Any]:
        """All rows, those with faults first."""
        return sorted(self.rows, key=lambda row: row.state not in {"wrong", "failed"})

    @property
    def total(self) -> Decimal:
        """The price of all rows that are ready."""
        return sum((row.price for row in self.ready), Decimal(0))

    @property
    def is_checked(self) -> bool:
        return not self.of("read")

    @property
    def is_done(self) -> bool:
        return self.is_confirmed and not self.of("ready")

    @property
    def waiting(self) -> bool:
        """Whether the next portion is to be worked on."""
        return not self.is_checked or (self.is_confirmed and not self.is_done)

    @property
    def worked(self) -> int:
        """How many rows are finished in the present step."""
        return len(self.rows) - len(self.of("ready" if self.is_checked and self.is_confirmed else "read"))

    @property
    def content(self) -> str:
        """As JSON, without its id."""
        return json.dumps({**asdict(self), "id": None}, ensure_ascii=False, default=str)  # of moments

    def keep(self, *, owner: str, kind: str) -> None:
        """Store a new one, which gets its id. Raises UnreadableFile if it is too large to be kept."""
        if len(self.content.encode()) > _MOST_BYTES_KEPT:
            raise UnreadableFile(csv_files.too_large(MOST_BYTES))
        self.id = kept_uploads.keep(self.content, owner=owner, kind=kind, at=clock.now())

    def save(self) -> None:
        assert self.id is not None  # noqa: S101  # nosec B101  # one that was kept or found
        kept_uploads.change(self.id, self.content, at=clock.now())


U = TypeVar("U", bound=Upload)


def find(upload: UUID, *, owner: str, kind: str, environment: str) -> dict[str, Any] | None:
    """What was kept of an upload in this environment; None if there is none, or not any more."""
    stored = kept_uploads.find(upload, owner=owner, kind=kind, at=clock.now())
    found: dict[str, Any] | None = json.loads(stored) if stored else None
    return found if found and found["environment"] == environment else None


@dataclass(frozen=True, eq=False)
class Table:
    """The columns that a file may have. `columns`: their headings by key. `also`: further names of some of them.

    `unique`: the key of what no two rows may share, `postcodes`: the columns of a CEP.
    """

    columns: Mapping[str, Any]
    unique: str
    postcodes: Collection[str]
    also: Mapping[str, Collection[str]] = field(default_factory=dict)

    def read(self, raw: bytes, row: Callable[[int, dict[str, str]], R]) -> list[R]:
        """The rows of a file, those with a fault marked. Raises UnreadableFile."""
        header, *records = table_files.read(raw, most=MOST_BYTES)
        keys = self._keys(header.cells)
        rows = []
        for record in records:
            cells = dict(zip(keys, record.cells, strict=False))
            made = row(record.number, {key: self._whole(key, cell) for key, cell in cells.items() if cell})
            if len(record.cells) > len(keys):
                made.state, made.faults = "wrong", [("", _("The row has more cells than the file has headings."))]
            rows.append(made)
        self._refuse_repeated_lines(rows)
        return rows

    def _keys(self, headings: Sequence[str]) -> list[str]:
        """The key of each column. Raises UnreadableFile if a heading is unknown or occurs twice."""
        found: list[str] = []
        for heading in headings:
            key = self._by_heading.get(comparable(heading[:_LONGEST_HEADING]))
            if key is None:
                names = ", ".join(map(str, self.columns.values()))
                detail = {"heading": heading[:60], "known": names}
                raise UnreadableFile(_("Unknown column '%(heading)s'. Known: %(known)s.") % detail)
            if key in found:
                raise UnreadableFile(_("The column '%(heading)s' occurs twice.") % {"heading": heading[:60]})
            found.append(key)
        return found

    @cached_property
    def _by_heading(self) -> dict[str, str]:
        """The key of each heading in any language, and of the further names."""
        others = {comparable(name): key for key, names in self.also.items() for name in (key, *names)}
        return {comparable(key): key for key in self.columns} | others | values(self.columns.items())

    def _whole(self, key: str, cell: str) -> str:
        """A CEP of São Paulo without its zero, which spreadsheets take from a number, has it again."""
        is_cut = key in self.postcodes and len(cell) == DIGITS_OF_A_CEP - 1 and cell.isascii() and cell.isdigit()
        return f"0{cell}" if is_cut else cell

    def _refuse_repeated_lines(self, rows: Iterable[Row]) -> None:
        """Of lines that say the same, or have the same order number, the first counts."""
        lines: dict[Any, int] = {}
        for row in rows:
            unique = row.data.get(self.unique)
            keys = [json.dumps(row.data, sort_keys=True), *([(self.unique, unique)] if unique else [])]
            if first := next((lines[key] for key in keys if key in lines), 0):
                row.state, row.faults = "wrong", [("", _("repeats line %(line)s") % {"line": first})]
            for key in keys:
                lines.setdefault(key, row.line)

    def not_one_of(self, key: str, text: str, names: Iterable[Any]) -> tuple[str, str]:
        """The heading of a column, and that a cell of it is none of its choices."""
        told = _("'%(text)s' is none of: %(choices)s") % {"text": shown(text), "choices": ", ".join(map(str, names))}
        return str(self.columns[key]), told[:LONGEST_FAULT]


def values(named: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The value of each name in any language; the first one of several."""
    found: dict[str, str] = {}
    for value, label in named:
        for name in in_every_language(label):
            found.setdefault(name, value)
    return found


@dataclass(frozen=True)
class Work(ABC):
    """What is done with the rows of an upload. Subclasses have who does it."""

    upload: Any

    @abstractmethod
    def check(self, row: Any, at: datetime) -> None:
        """Make it ready, wrong or repeated."""

    @abstractmethod
    def act(self, row: Any, at: datetime) -> None:
        """Make a row that is ready done, repeated or failed."""

    def advance(self) -> None:
        """Work on the rows of the present step for about a second, and save the upload."""
        upload, ends_at = self.upload, time.monotonic() + PORTION_SECONDS
        left, step = (upload.ready, self.act) if upload.is_checked else (upload.of("read"), self.check)
        for row in left:
            step(row, clock.now())
            if time.monotonic() >= ends_at:
                break
        upload.save()


def advance(upload: UUID, *, owner: str, find: Callable[[UUID], U | None], work: Callable[[U], Work]) -> U | None:
    """Work on the rows of the present step, and return the upload as it is then.

    Returns None, and does nothing, where it is not found, and while another request works on an upload of the owner:
    many at once would occupy the threads that answer others.
    """
    if not kept_uploads.claim(upload, owner=owner, at=clock.now()):
        return None
    try:
        found = find(upload)  # as the request before has left it
        if found and found.waiting:
            work(found).advance()
    finally:
        kept_uploads.release(upload)
    return found


def some(faults: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first few, each cut to what is kept."""
    return [(column, text[:LONGEST_FAULT]) for column, text in islice(faults, MOST_FAULTS)]

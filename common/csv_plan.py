"""What importing a CSV file into a table would change, and doing it.

Rows are identified by their key columns and not by id, so that a file made elsewhere can be imported. Rows of the table
that the file does not name stay as they are.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from common import csv_file
from common.csv_columns import Column, InvalidCell, by_heading, comparable, shown
from common.csv_file import Row, UnreadableFile
from common.measures import rise

MOST_FAULTS = 50  # shown at once


@dataclass(frozen=True)
class Table:
    """A table that is edited as CSV.

    `rows`: the rows that a file can change. `key`: attributes that identify one of them. `older_columns` are accepted
    in place of those of `columns` with the same attribute, but not written.
    """

    rows: Callable[[], "models.QuerySet[Any]"]
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    older_columns: tuple[Column, ...] = ()

    @property
    def model(self) -> type[models.Model]:
        return self.rows().model

    def key_of(self, row: models.Model) -> tuple[Any, ...]:
        return tuple(getattr(row, name) for name in self.key)

    def cells(self, row: models.Model) -> list[str]:
        """The row's cells in the reader's language."""
        return [column.write(getattr(row, column.attribute)) for column in self.columns]


class Kind(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Cell:
    """The text of a column before and after the import. `old` is None for a new row; `rise` is one of a price."""

    column: Column
    old: str | None
    new: str
    rise: int | None = None  # in percent

    @property
    def is_changed(self) -> bool:
        return self.old is not None and self.old != self.new


@dataclass(frozen=True)
class Change:
    """One row of the file. `row` is the model's, with its new values; `was` and `values` are those of the columns."""

    number: int
    kind: Kind
    row: models.Model
    was: tuple[Any, ...]
    values: tuple[Any, ...]
    cells: list[Cell]
    key: tuple[str, ...]  # attributes

    @property
    def told(self) -> list[Cell]:
        """The cells that tell what happens: those that change, or all figures of a new row."""
        others = [cell for cell in self.cells if cell.column.attribute not in self.key]
        return [cell for cell in others if cell.new] if self.kind is Kind.NEW else [c for c in others if c.is_changed]


@dataclass(frozen=True)
class Fault:
    """What is wrong, and the cells of its line with the number of the wrong one, as far as there is one."""

    message: str
    cells: tuple[str, ...] = ()
    wrong: int | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Plan:
    """The changes, or the faults in the file if it has any; then nothing may be imported."""

    changes: list[Change] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def changing(self) -> list[Change]:
        return [change for change in self.changes if change.kind is not Kind.UNCHANGED]

    @property
    def unchanged(self) -> list[Change]:
        return [change for change in self.changes if change.kind is Kind.UNCHANGED]

    @property
    def largest_rise(self) -> int:
        """Percent by which the price that rises most does; 0 if none rises."""
        return max((cell.rise or 0 for change in self.changing for cell in change.cells), default=0)

    def count(self, kind: str) -> int:
        return sum(change.kind == kind for change in self.changes)

    @property
    def counts(self) -> dict[str, int]:
        return {kind.value: self.count(kind) for kind in Kind}

    @property
    def digest(self) -> str:
        """Equal for plans that do the same, in whatever language they are shown."""
        text = repr([(change.kind, change.was, change.values) for change in self.changes])
        return hashlib.sha256(text.encode()).hexdigest()


def plan(table: Table, text: str, *, lock: bool = False) -> Plan:
    """What importing a file would change. With `lock` the rows are locked until the transaction ends."""
    try:
        rows = csv_file.read(text)
        columns = _columns(table, rows)
    except UnreadableFile as error:
        return Plan(faults=[Fault(str(error))])
    reader = _Reader(table, columns, rows[1:], lock=lock)
    faults = list(islice(reader.faults(), MOST_FAULTS + 1))
    if len(faults) > MOST_FAULTS:
        more = _("There are more faults: the first %(most)s are listed.") % {"most": MOST_FAULTS}
        faults[MOST_FAULTS:] = [Fault(more)]
    return Plan(faults=faults) if faults else Plan(changes=reader.changes)


def carry_out(made: Plan) -> None:
    """Write the changes, in the caller's transaction."""
    new = [change.row for change in made.changes if change.kind is Kind.NEW]
    changed = [change.row for change in made.changes if change.kind is Kind.CHANGED]
    for rows in filter(None, (new, changed)):
        manager = type(rows[0])._default_manager
        if rows is new:
            manager.bulk_create(rows)
        else:
            fields = [each.name for each in type(rows[0])._meta.concrete_fields if not each.primary_key]
            manager.bulk_update(rows, fields)


def _columns(table: Table, rows: Sequence[Row]) -> list[Column]:
    """The column of each cell of the first row. Raises UnreadableFile if one is unknown, repeated or missing."""
    if len(rows) < 2:  # noqa: PLR2004  # a heading and a row
        raise UnreadableFile(_("The file has no rows below its headings."))
    known = by_heading([*table.columns, *table.older_columns])
    found: list[Column] = []
    for heading in rows[0].cells:
        column = known.get(comparable(heading))
        if column is None:
            detail = {"heading": shown(heading), "known": ", ".join(each.heading for each in table.columns)}
            raise UnreadableFile(_("Unknown column '%(heading)s'. Known: %(known)s.") % detail)
        if column.attribute in {each.attribute for each in found}:
            raise UnreadableFile(_("The column '%(heading)s' occurs twice.") % {"heading": shown(heading)})
        found.append(column)
    given = {column.attribute for column in found}
    missing = [each.heading for each in table.columns if each.is_required and each.attribute not in given]
    if missing:
        raise UnreadableFile(_("Columns are missing: %(names)s.") % {"names": ", ".join(missing)})
    return found


class _Reader:
    """Compares the rows of a file with those of the table. `changes` is complete once `faults` has been exhausted."""

    def __init__(self, table: Table, columns: Sequence[Column], rows: Sequence[Row], *, lock: bool) -> None:
        self._table, self._columns, self._rows = table, columns, rows
        stored = table.rows()
        self._stored = {table.key_of(row): row for row in (stored.select_for_update(of=("self",)) if lock else stored)}
        self._parsers = [
            column.parser({row.cells[index] for row in rows if index < len(row.cells)})
            for index, column in enumerate(columns)
        ]
        self._numbers: dict[tuple[Any, ...], int] = {}  # of the lines, by key
        self.changes: list[Change] = []

    def faults(self) -> Iterator[Fault]:
        for row in self._rows:
            if len(row.cells) > len(self._columns) and any(row.cells[len(self._columns) :]):
                yield _at(row, None, _("more cells than headings"))
                continue
            values: dict[str, Any] = {}
            faults = list(self._values(row, values))
            yield from faults or self._compare(row, values)

    def _values(self, row: Row, values: dict[str, Any]) -> Iterator[Fault]:
        """Put the row's values into `values`. Yields what is wrong with its cells."""
        cells = [*row.cells, *[""] * (len(self._columns) - len(row.cells))]
        for index, (column, parse, text) in enumerate(zip(self._columns, self._parsers, cells, strict=False)):
            try:
                values[column.attribute] = parse(text) if text else column.default(self._field(column))
            except InvalidCell as error:
                yield _at(row, column, str(error), wrong=index)

    def _compare(self, row: Row, values: Mapping[str, Any]) -> Iterator[Fault]:
        """Add the row's change. Yields what the model does not allow."""
        key = tuple(values[name] for name in self._table.key)
        if key in self._numbers:
            yield _at(row, None, _("repeats line %(line)s") % {"line": self._numbers[key]})
            return
        self._numbers[key] = row.number
        stored = self._stored.get(key)
        before: Sequence[str | None] = [None] * len(self._table.columns)
        if stored is not None:
            before = self._table.cells(stored)
        changed = stored or self._table.model()
        was = {name: getattr(changed, name) for name in values}
        for name, value in values.items():
            setattr(changed, name, value)
        is_same = stored is not None and was == dict(values)
        yield from () if is_same else self._invalid(row, changed)
        after = self._table.cells(changed)
        rises = {
            column.attribute: rise(was[column.attribute], values[column.attribute])
            for column in self._columns
            if column.is_price and stored is not None
        }
        cells = [
            Cell(column, old, new, rises.get(column.attribute))
            for column, old, new in zip(self._table.columns, before, after, strict=True)
        ]
        kind = Kind.UNCHANGED if is_same else Kind.NEW if stored is None else Kind.CHANGED
        found = Change(row.number, kind, changed, tuple(was.values()), tuple(values.values()), cells, self._table.key)
        self.changes.append(found)

    def _invalid(self, row: Row, changed: models.Model) -> Iterator[Fault]:
        by_attribute = {column.attribute: column for column in self._columns}
        relations = {each.name for each in changed._meta.concrete_fields if each.is_relation}  # looked up by columns
        try:
            changed.clean_fields(exclude=relations)
        except ValidationError as error:
            for name, messages in error.message_dict.items():
                column = by_attribute.get(name)
                yield _at(row, column, " ".join(messages), wrong=self._columns.index(column) if column else None)

    def _field(self, column: Column) -> Any:
        return self._table.model._meta.get_field(column.attribute)


def _at(row: Row, column: Column | None, message: str, *, wrong: int | None = None) -> Fault:
    detail = {"line": row.number, "column": column and column.label, "message": message}
    sentence = _("Line %(line)s: %(message)s") if column is None else _("Line %(line)s, %(column)s: %(message)s")
    return Fault(sentence % detail, tuple(row.cells), wrong)

"""Deliveries from an uploaded table: each row is a form of a request with one drop-off.

What was read is kept, encrypted, for an hour (`common.files.kept_uploads`). The page has it checked and, after it is
confirmed, requested in portions of a second, because each row asks the geocoder and the routing engine once: what they
answered is kept with the row. A row is requested once, by the digest of what it says and of its pickup point, so that
the same file again makes no second delivery, unless the first one has failed.
"""

import hashlib
import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache, cached_property
from itertools import islice
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common import clock
from common.files import csv_files, kept_uploads, table_files
from common.files.csv_files import UnreadableFile, comparable, in_every_language
from common.measures import shown, with_value
from delivery import windows, words
from delivery.actions import deliveries, quotes
from delivery.errors import DeliveryError, ExternalIdInUse, QuoteExpired
from delivery.lifecycle import Mode, Status
from delivery.models import AccountScope, Delivery, Environment, PickupPoint, VehicleType
from delivery.payload import DeliveryRequest, restored
from delivery.refusals import refusal
from panel.integrators.delivery_forms import DeliveryForm, PackageForm, Priced, WindowsForm, priced

MOST_BYTES = 300_000  # of a CSV file, and characters of a workbook's cells
_PORTION_SECONDS = 1
# Of what is kept of a file. Its faults and requests add at most as much again.
_MOST_BYTES_KEPT = 1_500_000
_MOST_FAULTS, _LONGEST_FAULT = 5, 200  # of a row
_KIND = "deliveries"
_DIGITS_OF_A_CEP = 8
_MORNING = "08:00"
_YES = {"x", "1", "s", "y", "sim", "yes", "true", "verdadeiro"}
_NO = {"0", "n", "nao", "no", "false", "falso", "-"}

# The columns by the names of the form's fields, with their headings.
_OF_DROPOFF = {
    "external_id": gettext_lazy("Order number"), "name": gettext_lazy("Recipient"), "phone": gettext_lazy("Phone"),
    "street": gettext_lazy("Street"), "number": gettext_lazy("Number"), "complement": gettext_lazy("Complement"),
    "district": gettext_lazy("District"), "city": gettext_lazy("City"), "state": gettext_lazy("State"),
    "zipcode": gettext_lazy("CEP"), "latitude": gettext_lazy("latitude"), "longitude": gettext_lazy("longitude"),
    "instructions": gettext_lazy("Instructions for the driver"), "email": gettext_lazy("Email"),
    "on_failure": gettext_lazy("If it cannot be delivered"), "photo": gettext_lazy("Photo"), "pin": gettext_lazy("PIN"),
}  # fmt: skip  # a table
_OF_PACKAGE = {name: PackageForm.base_fields[name].label for name in ("description", "quantity", "weight")}
_WINDOWS = ("a_ready_at", "a_deadline_at", "b_ready_at", "b_deadline_at")
COLUMNS: dict[str, Any] = {
    "a-point": gettext_lazy("Pickup point"),
    "a-name": gettext_lazy("Sender"),
    "a-phone": gettext_lazy("Sender's phone"),
    **{f"b-{name}": label for name, label in _OF_DROPOFF.items()},
    **{f"package1-{name}": label for name, label in _OF_PACKAGE.items()},
    **{name: WindowsForm.base_fields[name].label for name in _WINDOWS},
    "vehicle_type": gettext_lazy("Vehicle"),
    "mode": gettext_lazy("Route"),
}
_FLAGS = ("b-photo", "b-pin")
# Columns with a choice, by its name in any language or its code.
_CHOICES: dict[str, Collection[tuple[str, Any]]] = {
    "vehicle_type": VehicleType.choices,
    "mode": words.MODES.items(),
    "b-on_failure": words.POLICIES.items(),
}
_CONTACT = ("name", "phone")
_PLACE = ("b-latitude", "b-longitude")


@dataclass
class Row:
    """A row of the file. `state`: read, priced, wrong, repeated (its delivery exists), requested or failed."""

    line: int
    data: dict[str, str]
    state: str = "read"
    faults: Sequence[tuple[str, str]] = ()  # column, or an empty text, and what is wrong
    value: str = ""  # reais
    # What is requested, at the price of the quote, and under which key; until then.
    payload: DeliveryRequest | None = None
    quote_id: str = ""
    key: str = ""
    delivery: str = ""

    @property
    def price(self) -> Decimal:
        return Decimal(self.value or 0)

    @property
    def order(self) -> str:
        return self.data.get("b-external_id", "")

    @property
    def to(self) -> str:
        """Who receives it, and where, for people."""
        parts = (self.data.get(f"b-{name}", "") for name in ("name", "street", "number", "district"))
        return " · ".join(part for part in parts if part) or self.data.get("b-position", "")


@dataclass
class Draft:
    """An uploaded file on its way: its rows are checked, then after `is_confirmed` those with a price are requested."""

    environment: str
    name: str
    rows: list[Row]
    sender: dict[str, str]  # values of A for rows that have none
    is_confirmed: bool = False
    id: UUID | None = None

    def of(self, *states: str) -> list[Row]:
        return [row for row in self.rows if row.state in states]

    @property
    def priced(self) -> list[Row]:
        return self.of("priced")

    @property
    def wrong(self) -> list[Row]:
        return self.of("wrong")

    @property
    def repeated(self) -> list[Row]:
        return self.of("repeated")

    @property
    def requested(self) -> list[Row]:
        return self.of("requested")

    @property
    def failed(self) -> list[Row]:
        return self.of("failed")

    @property
    def shown(self) -> list[Row]:
        """All rows, those with faults first."""
        return sorted(self.rows, key=lambda row: row.state not in {"wrong", "failed"})

    @property
    def total(self) -> Decimal:
        """The price of all rows that can be requested."""
        return sum((row.price for row in self.priced), Decimal(0))

    @property
    def is_checked(self) -> bool:
        return not self.of("read")

    @property
    def is_done(self) -> bool:
        return self.is_confirmed and not self.of("priced")

    @property
    def waiting(self) -> bool:
        """Whether the next portion is to be worked on."""
        return not self.is_checked or (self.is_confirmed and not self.is_done)

    @property
    def worked(self) -> int:
        """How many rows are finished in the present step."""
        return len(self.rows) - len(self.of("priced" if self.is_checked and self.is_confirmed else "read"))

    @property
    def content(self) -> str:
        """As JSON, without its id."""
        return json.dumps({**asdict(self), "id": None}, ensure_ascii=False, default=str)  # of moments

    def save(self) -> None:
        assert self.id is not None  # noqa: S101  # nosec B101  # one that was read or found
        kept_uploads.change(self.id, self.content, at=clock.now())


def _owner(scope: AccountScope) -> str:
    """Both environments of an account together."""
    return f"integrator {scope.integrator_id}"


def find(draft: UUID, *, scope: AccountScope) -> Draft | None:
    """The draft of this account and environment; None if there is none, or not any more."""
    stored = kept_uploads.find(draft, owner=_owner(scope), kind=_KIND, at=clock.now())
    found = json.loads(stored) if stored else None
    if found is None or found["environment"] != scope.environment:
        return None
    return Draft(**{**found, "rows": [_row(**row) for row in found["rows"]], "id": draft})


def _row(*, payload: dict[str, Any] | None = None, **kept: Any) -> Row:
    row = Row(**kept, payload=restored(payload) if payload else None)
    if row.state == "priced" and row.payload is None:  # by an earlier version
        row.state = "read"
    return row


def read(raw: bytes, name: str, *, scope: AccountScope, sender: Mapping[str, Any]) -> Draft:
    """A new draft from the content of a file. `sender` has the values of A for rows that have none.

    Raises UnreadableFile.
    """
    header, *records = table_files.read(raw, most=MOST_BYTES)
    columns = _columns(header.cells)
    rows = []
    for record in records:
        cells = dict(zip(columns, record.cells, strict=False))
        row = Row(record.number, {key: _whole(key, cell) for key, cell in cells.items() if cell})
        if len(record.cells) > len(columns):
            row.state, row.faults = "wrong", [("", _("The row has more cells than the file has headings."))]
        rows.append(row)
    texts = {key: str(value) for key, value in sender.items() if value}
    draft = Draft(scope.environment, name[:200], rows, texts)
    _refuse_repeated_lines(draft.rows)
    if len(draft.content.encode()) > _MOST_BYTES_KEPT:
        raise UnreadableFile(csv_files.too_large(MOST_BYTES))
    draft.id = kept_uploads.keep(draft.content, owner=_owner(scope), kind=_KIND, at=clock.now())
    return draft


def _whole(column: str, cell: str) -> str:
    """A CEP of São Paulo without its zero, which spreadsheets take from a number, has it again."""
    is_cut = column == "b-zipcode" and len(cell) == _DIGITS_OF_A_CEP - 1 and cell.isascii() and cell.isdigit()
    return f"0{cell}" if is_cut else cell


@cache
def _headings() -> dict[str, str]:
    """The name of the column of each heading in any language."""
    return {comparable(key): key for key in COLUMNS} | _values((key, label) for key, label in COLUMNS.items())


@cache
def _choices_of(column: str) -> dict[str, str]:
    """The value of each name of a choice in any language."""
    return _values(_CHOICES[column])


def _values(named: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """The value of each name in any language; the first one of several."""
    found: dict[str, str] = {}
    for value, label in named:
        for name in in_every_language(label):
            found.setdefault(name, value)
    return found


def _columns(headings: list[str]) -> list[str]:
    """The name of each column. Raises UnreadableFile if a heading is unknown or occurs twice."""
    known = _headings()
    found: list[str] = []
    for heading in headings:
        column = known.get(comparable(heading[:100]))
        if column is None:
            names = ", ".join(map(str, COLUMNS.values()))
            detail = {"heading": heading[:60], "known": names}
            raise UnreadableFile(_("Unknown column '%(heading)s'. Known: %(known)s.") % detail)
        if column in found:
            raise UnreadableFile(_("The column '%(heading)s' occurs twice.") % {"heading": heading[:60]})
        found.append(column)
    return found


def _refuse_repeated_lines(rows: Iterable[Row]) -> None:
    """Of lines that say the same, or have the same order number, the first counts."""
    lines: dict[Any, int] = {}
    for row in rows:
        keys = [json.dumps(row.data, sort_keys=True), *([("order", row.order)] if row.order else [])]
        if first := next((lines[key] for key in keys if key in lines), 0):
            row.state, row.faults = "wrong", [("", _("repeats line %(line)s") % {"line": first})]
        for key in keys:
            lines.setdefault(key, row.line)


def advance(draft: UUID, *, scope: AccountScope, by: str, points: Sequence[PickupPoint]) -> Draft | None:
    """Work on the rows of the present step for about a second, save the draft, and return it as it is then.

    Returns None, and does nothing, where it is not found, and while another request works on a draft of the account:
    many at once would occupy the threads that answer others.
    """
    if not kept_uploads.claim(draft, owner=_owner(scope), at=clock.now()):
        return None
    try:
        found = find(draft, scope=scope)  # as the request before has left it
        if found and found.waiting:
            Work(found, scope, by, points).advance()
    finally:
        kept_uploads.release(draft)
    return found


@dataclass(frozen=True)
class Work:
    """Who works on a draft."""

    draft: Draft
    scope: AccountScope
    by: str
    points: Sequence[PickupPoint]

    def advance(self) -> None:
        draft, ends_at = self.draft, time.monotonic() + _PORTION_SECONDS
        left, step = (draft.of("priced"), self._request) if draft.is_checked else (draft.of("read"), self._check)
        for row in left:
            step(row, clock.now())
            if time.monotonic() >= ends_at:
                break
        draft.save()

    def _check(self, row: Row, at: datetime) -> None:
        values, wrong = self._read(row)
        form = DeliveryForm(values, environment=self.scope.environment, points=self.points, anywhere=False)
        found = self._priced(form, at) if not wrong and form.is_valid() else None
        if found is None:
            others = (fault for fault in _faults(form, row) if fault[0] not in wrong)
            row.state, row.faults = "wrong", [*wrong.items(), *others][:_MOST_FAULTS]
        elif found.repeated:
            row.state, row.delivery = "repeated", str(next(iter(found.repeated.values())))
        else:
            row.state, row.value, row.quote_id = "priced", str(found.quote.value), found.quote_id
            row.payload, row.key = found.payload, _digest(row, values["a-point"])

    def _request(self, row: Row, at: datetime) -> None:
        """Request the delivery of a row at the price that was shown; a price that has changed is shown first."""
        assert row.payload is not None  # noqa: S101  # nosec B101  # of a row with a price
        request, row.payload = row.payload, None
        if fault := next(_late(request, at), None):
            row.state, row.faults = "failed", [fault]
            return
        try:
            quote_id = self._quote_id(row, request, at)
            delivery, is_earlier = self._request_once(row.key, request, quote_id, at) if quote_id else (None, False)
        except ExternalIdInUse as error:
            row.state, row.delivery = "repeated", str(error.delivery_id)
        except DeliveryError as error:
            row.state, row.faults = "failed", [("", refusal(error))]
        else:
            if delivery is None:
                row.state, row.faults = "failed", [("", _("The price has changed. Upload the file again to see it."))]
            else:
                row.state, row.delivery = "repeated" if is_earlier else "requested", str(delivery)

    def _quote_id(self, row: Row, request: DeliveryRequest, at: datetime) -> str:
        """Of the price that was shown. Once it has expired, a new one if the price is the same, and else empty.

        Raises the errors of `quotes.quote_for_request`.
        """
        try:
            quotes.redeem(row.quote_id, token=self.scope, payload=request, at=at)
        except QuoteExpired:
            quote = quotes.quote_for_request(token=self.scope, payload=request, quote_id=None, at=at)
            is_same = str(quote.value) == row.value
            return quotes.issue(quote, token=self.scope, payload=request, at=at) if is_same else ""
        return row.quote_id

    def _request_once(self, key: str, request: DeliveryRequest, quote_id: str, at: datetime) -> tuple[UUID, bool]:
        """See `deliveries.request_once`. A delivery that has failed is requested again."""
        delivery, is_earlier = deliveries.request_once(
            token=self.scope,
            key=key,
            payload=request,
            quote_id=quote_id,
            by=self.by,
            at=at,
            simulation_speed=1 if self.scope.environment == Environment.SANDBOX else None,
            refuses_repeated=True,
        )
        if is_earlier and Delivery.objects.filter(pk=delivery, status=Status.FAILED).exists():
            return self._request_once(f"row-{delivery}", request, quote_id, at)
        return delivery, is_earlier

    def _priced(self, form: DeliveryForm, at: datetime) -> Priced | None:
        """None if the form has errors then."""
        try:
            return priced(form, self.scope, at)
        except ValidationError:
            return None
        except DeliveryError as error:
            form.refuse(error)
            return None

    @cached_property
    def _points(self) -> dict[str, PickupPoint]:
        return {str(point.pk): point for point in self.points}

    @cached_property
    def _names_of_points(self) -> dict[str, str]:
        return _values((key, point.name) for key, point in self._points.items())

    def _read(self, row: Row) -> tuple[dict[str, str], dict[str, str]]:
        """The values of the form, and by its heading each column whose cell names none of its choices, with these."""
        cells = {key: text for key, text in row.data.items() if key not in _FLAGS and key not in _PLACE}
        wrong: dict[str, str] = {}
        for key in ("a-point", *_CHOICES):
            if text := cells.get(key):
                names = self._names_of_points if key == "a-point" else _choices_of(key)
                cells[key] = names.get(comparable(text), text)
                if cells[key] not in names.values():
                    labels = [point.name for point in self.points] if key == "a-point" else dict(_CHOICES[key]).values()
                    wrong |= [_not_one_of(key, text, labels)]
        for key in _FLAGS:
            name = comparable(row.data.get(key, ""))
            if name in _YES:
                cells[key] = "on"
            elif name and name not in _NO:
                wrong |= [_not_one_of(key, row.data[key], [_("Yes"), _("No")])]
        sender = self.draft.sender
        point = cells.get("a-point") or sender.get("point", "")
        # By the clocks of the pickup, as the form reads them.
        today = timezone.localdate(timezone=self._points[point].zone if point in self._points else None)
        for key in _WINDOWS:
            if key in cells:
                cells[key] = _moment(cells[key], today, is_end=key.endswith("deadline_at"))
        if any(row.data.get(key) for key in _PLACE):
            cells["b-position"] = ", ".join(row.data.get(key, "").replace(",", ".") for key in _PLACE)
        # The address is that of the sender's own pickup point.
        kept = sender if point == sender.get("point") else {key: sender[key] for key in _CONTACT if key in sender}
        given = {"vehicle_type": VehicleType.MOTORCYCLE.value, "package1-quantity": "1"}
        return {**given, **{f"a-{name}": value for name, value in kept.items()}, **cells, "a-point": point}, wrong


def _late(request: DeliveryRequest, at: datetime) -> Iterator[tuple[str, str]]:
    """The columns of the windows that are refused at `at`, with the reasons."""
    dropoffs = [place.window for place in request.dropoffs]
    for fault in windows.faults(request.pickup.window, dropoffs, is_reverse=request.mode is Mode.REVERSE, at=at):
        column = f"{'a' if fault.dropoff is None else 'b'}_{'deadline_at' if fault.is_deadline else 'ready_at'}"
        yield str(COLUMNS[column]), _(fault.text)


def _moment(text: str, today: date, *, is_end: bool) -> str:
    """A day without a time: until its end, or from the morning on, or from now on if it is today."""
    day = table_files.date_alone(text)
    if day is None:
        return text
    if is_end:
        return f"{day} 23:59"
    return "" if day == today else f"{day} {_MORNING}"


def _not_one_of(column: str, text: str, names: Iterable[Any]) -> tuple[str, str]:
    told = _("'%(text)s' is none of: %(choices)s") % {"text": shown(text), "choices": ", ".join(map(str, names))}
    return str(COLUMNS[column]), told[:_LONGEST_FAULT]


def _digest(row: Row, point: str) -> str:
    return "row-" + hashlib.sha256(json.dumps([row.data, point], sort_keys=True).encode()).hexdigest()


def _faults(form: DeliveryForm, row: Row) -> Iterator[tuple[str, str]]:
    for prefix, name, text in islice(form.faults(), _MOST_FAULTS):
        key = "b-latitude" if name == "position" else f"{prefix}-{name}" if prefix else name
        yield str(COLUMNS.get(key, "")), with_value(row.data.get(key, ""), text)[:_LONGEST_FAULT]

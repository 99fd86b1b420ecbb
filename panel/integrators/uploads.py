"""Deliveries from an uploaded table: each row is a form of a request with one drop-off.

Each row asks the geocoder and the routing engine once: what they answered is kept with the row. A row is requested
once, by the digest of what it says and of its pickup point, so that the same file again makes no second delivery,
unless the first one has failed.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, cached_property, partial
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.files import table_files
from common.files.csv_files import comparable
from common.measures import with_value
from delivery import windows, words
from delivery.actions import deliveries, quotes
from delivery.errors import AddressNotLocated, DeliveryError, ExternalIdInUse, QuoteExpired
from delivery.lifecycle import Mode, Status
from delivery.models import AccountScope, Delivery, Environment, PickupPoint, VehicleType
from delivery.payload import DeliveryRequest, restored
from delivery.places.geocoding import Precision
from delivery.refusals import refusal
from panel import uploaded_rows
from panel.integrators.delivery_forms import DeliveryForm, PackageForm, Priced, WindowsForm, priced

_KIND = "rows of deliveries"
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


TABLE = uploaded_rows.Table(COLUMNS, unique="b-external_id", postcodes={"b-zipcode"})


@dataclass
class Row(uploaded_rows.Row):
    """A row of the file."""

    # What is requested, at the price of the quote, and under which key; until then.
    payload: DeliveryRequest | None = None
    quote_id: str = ""
    key: str = ""
    delivery: str = ""
    # Where no house was found: street or postcode.
    precision: str = ""

    @property
    def order(self) -> str:
        return self.data.get("b-external_id", "")

    @property
    def to(self) -> str:
        """Who receives it, and where, for people."""
        parts = (self.data.get(f"b-{name}", "") for name in ("name", "street", "number", "district"))
        return " · ".join(part for part in parts if part) or self.data.get("b-position", "")


@dataclass
class Draft(uploaded_rows.Upload):
    """An uploaded file on its way to deliveries."""

    rows: list[Row]
    sender: dict[str, str] = field(default_factory=dict)  # values of A for rows that have none

    @property
    def shown(self) -> list[Row]:
        """All rows: those with faults, those to be looked at, the others."""
        return sorted(super().shown, key=lambda row: (row.state not in {"wrong", "failed"}, not row.precision))


def _owner(scope: AccountScope) -> str:
    """Both environments of an account together."""
    return f"integrator {scope.integrator_id}"


def find(draft: UUID, *, scope: AccountScope) -> Draft | None:
    """The draft of this account and environment; None if there is none, or not any more."""
    found = uploaded_rows.find(draft, owner=_owner(scope), kind=_KIND, environment=scope.environment)
    return Draft(**{**found, "rows": [_row(**row) for row in found["rows"]], "id": draft}) if found else None


def _row(*, payload: dict[str, Any] | None = None, **kept: Any) -> Row:
    return Row(**kept, payload=restored(payload) if payload else None)


def read(raw: bytes, name: str, *, scope: AccountScope, sender: Mapping[str, Any]) -> Draft:
    """A new draft from the content of a file. `sender` has the values of A for rows that have none.

    Raises UnreadableFile.
    """
    texts = {key: str(value) for key, value in sender.items() if value}
    draft = Draft(scope.environment, name[: uploaded_rows.LONGEST_NAME], TABLE.read(raw, Row), sender=texts)
    draft.keep(owner=_owner(scope), kind=_KIND)
    return draft


@cache
def _choices_of(column: str) -> dict[str, str]:
    """The value of each name of a choice in any language."""
    return uploaded_rows.values(_CHOICES[column])


def advance(draft: UUID, *, scope: AccountScope, by: str, points: Sequence[PickupPoint]) -> Draft | None:
    """See `uploaded_rows.advance`."""
    return uploaded_rows.advance(
        draft,
        owner=_owner(scope),
        find=partial(find, scope=scope),
        work=lambda found: Work(found, scope, by, points),
    )


@dataclass(frozen=True)
class Work(uploaded_rows.Work):
    """Who works on a draft."""

    upload: Draft
    scope: AccountScope
    by: str
    points: Sequence[PickupPoint]

    def check(self, row: Row, at: datetime) -> None:
        values, wrong = self._read(row)
        form = DeliveryForm(values, environment=self.scope.environment, points=self.points, anywhere=False)
        found = self._priced(form, at) if not wrong and form.is_valid() else None
        if found is None:
            others = (fault for fault in _faults(form, row) if fault[0] not in wrong)
            row.state, row.faults = "wrong", uploaded_rows.some([*wrong.items(), *others])
        elif found.repeated:
            row.state, row.delivery = "repeated", str(next(iter(found.repeated.values())))
        else:
            row.state, row.value, row.quote_id = "ready", str(found.quote.value), found.quote_id
            row.payload, row.key = found.payload, _digest(row, values["a-point"])
            row.precision = _doubtful(found, row)

    def act(self, row: Row, at: datetime) -> None:
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
                row.state, row.delivery = "repeated" if is_earlier else "done", str(delivery)

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
        except AddressNotLocated as error:
            form.used[0].add_error("street", _not_located(next(iter(error.candidates.values()))))
            return None
        except DeliveryError as error:
            form.refuse(error)
            return None

    @cached_property
    def _points(self) -> dict[str, PickupPoint]:
        return {str(point.pk): point for point in self.points}

    @cached_property
    def _names_of_points(self) -> dict[str, str]:
        return uploaded_rows.values((key, point.name) for key, point in self._points.items())

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
                    wrong |= [TABLE.not_one_of(key, text, labels)]
        for key in _FLAGS:
            name = comparable(row.data.get(key, ""))
            if name in _YES:
                cells[key] = "on"
            elif name and name not in _NO:
                wrong |= [TABLE.not_one_of(key, row.data[key], [_("Yes"), _("No")])]
        sender = self.upload.sender
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


def _not_located(candidates: Sequence[tuple[str, Any]]) -> str:
    """What to correct in a file, which has no map."""
    if not candidates:
        return _("No place was found for this address. Correct street and CEP, or write latitude and longitude.")
    text = _("More than one place fits this address, such as %(place)s. Write CEP and district.")
    return text % {"place": candidates[0][0]}


def _doubtful(found: Priced, row: Row) -> str:
    """How an address was located that somebody is to look at: one of which the CEP alone was found, or without number.

    Between two known numbers of its street a house is near enough.
    """
    precision = found.precisions.get("B", Precision.ROOFTOP)
    is_doubtful = precision == Precision.POSTCODE or (precision == Precision.STREET and not row.data.get("b-number"))
    return precision.value if is_doubtful else ""


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


def _digest(row: Row, point: str) -> str:
    return "row-" + hashlib.sha256(json.dumps([row.data, point], sort_keys=True).encode()).hexdigest()


def _faults(form: DeliveryForm, row: Row) -> Iterator[tuple[str, str]]:
    for prefix, name, text in form.faults():
        key = "b-latitude" if name == "position" else f"{prefix}-{name}" if prefix else name
        yield str(COLUMNS.get(key, "")), with_value(row.data.get(key, ""), text)

"""Orders from an uploaded table: each row is a form of an order with one item.

A row is created once, because its number is that of no other order of the seller.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from common.brazil.formats import document
from common.files.csv_files import comparable
from common.measures import with_value
from integration import words
from integration.actions import orders
from integration.errors import DuplicateOrder, IntegrationError
from integration.models import Company, Order, Seller, compact_document, is_document
from panel import uploaded_rows
from panel.sellers import order_forms
from panel.sellers.order_forms import HeadForm, InvoiceForm, ItemForm, OrderForm, ReceiverForm

_KIND = "rows of orders"
_LENGTHS_OF_DOCUMENTS = (11, 14)  # of a CPF and a CNPJ
_SHORTEST_DOCUMENT = 9  # digits that a spreadsheet leaves of one

# The columns by the names of the form's fields, with their headings.
COLUMNS: dict[str, Any] = {
    "order-code": HeadForm.base_fields["code"].label,
    "to-name": _("Recipient"),
    "to-document": ReceiverForm.base_fields["document"].label,
    **{f"to-{name}": ReceiverForm.base_fields[name].label for name in ("cellphone", "phone", "email")},
    **{
        f"to-{name}": ReceiverForm.base_fields[name].label
        for name in ("zipcode", "street", "number", "complement", "district", "city", "state")
    },
    **{f"item1-{name}": field.label for name, field in ItemForm.base_fields.items()},
    **{
        f"order-{name}": HeadForm.base_fields[name].label
        for name in ("cost", "volumes", "service", "company", "tracking_code")
    },
    **{f"invoice-{name}": field.label for name, field in InvoiceForm.base_fields.items()},
}
# As the API and other people's spreadsheets name them.
_ALSO: dict[str, Collection[str]] = {
    "order-code": ("orderId", "order", "pedido", "external id"),
    "order-cost": ("orderCost",),
    "order-company": ("company_document",),
    "order-tracking_code": ("trackingCode",),
    "to-document": ("CPF", "CNPJ", "CPF/CNPJ", "document", "documento"),
    "to-zipcode": ("zipCode", "zip code", "postcode"),
    "to-number": ("streetNumber",),
    "to-district": ("neighborhood",),
    "to-state": ("UF",),
}
TABLE = uploaded_rows.Table(COLUMNS, unique="order-code", postcodes={"to-zipcode"}, also=_ALSO)


@dataclass
class Row(uploaded_rows.Row):
    """A row of the file."""

    notes: Sequence[tuple[str, str]] = ()  # column, and what is accepted and probably a mistake
    agreed: str = ""  # the freight that was shown
    key: int | None = None  # of the order that it has become, or that has its number

    @property
    def order(self) -> str:
        return self.data.get("order-code", "")

    @property
    def to(self) -> str:
        """Who receives it, and where, for people."""
        parts = (self.data.get(f"to-{name}", "") for name in ("name", "street", "number", "city", "state"))
        return " · ".join(part for part in parts if part)


@dataclass
class Import(uploaded_rows.Upload):
    """An uploaded file on its way to orders."""

    rows: list[Row]


def _owner(seller: Seller) -> str:
    """Both environments of a seller together."""
    return f"seller {seller.pk}"


def find(upload: UUID, *, seller: Seller, environment: str) -> Import | None:
    """The upload of this seller and environment; None if there is none, or not any more."""
    found = uploaded_rows.find(upload, owner=_owner(seller), kind=_KIND, environment=environment)
    return Import(**{**found, "rows": [Row(**row) for row in found["rows"]], "id": upload}) if found else None


def read(raw: bytes, name: str, *, seller: Seller, environment: str) -> Import:
    """A new upload from the content of a file. Raises UnreadableFile."""
    made = Import(environment, name[: uploaded_rows.LONGEST_NAME], TABLE.read(raw, Row))
    made.keep(owner=_owner(seller), kind=_KIND)
    return made


def advance(upload: UUID, *, seller: Seller, environment: str, by: str) -> Import | None:
    """See `uploaded_rows.advance`."""
    return uploaded_rows.advance(
        upload,
        owner=_owner(seller),
        find=partial(find, seller=seller, environment=environment),
        work=lambda found: Work(found, seller, list(seller.companies.order_by("pk")), by),
    )


@dataclass(frozen=True)
class Work(uploaded_rows.Work):
    """Who works on an upload."""

    upload: Import
    seller: Seller
    companies: Sequence[Company]
    by: str

    def check(self, row: Row, at: datetime) -> None:
        form = self._form(row)
        if form is None:
            return
        if holder := self._holder(form):
            self._repeat(row, holder, form)
            return
        found = order_forms.priced(form)
        row.state, row.agreed = "ready", found.agreed
        row.value = "" if found.price is None else str(Decimal(found.price.amount) / 100)
        notes = [(str(COLUMNS.get(key, "")), text) for key, text in form.doubts()]
        row.notes = uploaded_rows.some([*notes, *([("", found.why_none)] if found.why_none else [])])

    def act(self, row: Row, at: datetime) -> None:
        """Create the order of a row at the freight that was shown; another one is shown first."""
        form = self._form(row, wrong="failed")
        if form is None:
            return
        try:
            made, is_earlier = order_forms.create(form, seller=self.seller, agreed=row.agreed, by=self.by, at=at)
        except DuplicateOrder:
            if holder := self._holder(form):
                self._repeat(row, holder, form)
        except IntegrationError as error:
            row.state, row.faults = "failed", [("", order_forms.refusal(error))]
        else:
            row.state, row.key = "repeated" if is_earlier else "done", made.pk

    def _holder(self, form: OrderForm) -> Order | None:
        return orders.holder_of_codes(seller=self.seller, environment=self.upload.environment, payload=form.payload)

    def _repeat(self, row: Row, holder: Order, form: OrderForm) -> None:
        row.state, row.key = "repeated", holder.pk
        if not order_forms.says(holder, form.payload):
            form.refuse_taken(holder)
            row.faults = self._faults(form, row)

    def _form(self, row: Row, *, wrong: str = "wrong") -> OrderForm | None:
        """The form of a row if it is valid; else None, and the row says why."""
        values, others = self._read(row)
        form = OrderForm(values, companies=self.companies, environment=self.upload.environment, most_items=1)
        if not others and form.is_valid():
            return form
        found = (fault for fault in self._all_faults(form, row) if fault[0] not in others)
        row.state, row.faults = wrong, uploaded_rows.some([*others.items(), *found])
        return None

    def _faults(self, form: OrderForm, row: Row) -> list[tuple[str, str]]:
        return uploaded_rows.some(self._all_faults(form, row))

    def _all_faults(self, form: OrderForm, row: Row) -> Iterator[tuple[str, str]]:
        for key, text in form.faults():
            yield str(COLUMNS.get(key, "")), with_value(row.data.get(key, ""), text)

    def _read(self, row: Row) -> tuple[Mapping[str, str], dict[str, str]]:
        """The values of the form, and by its heading each column whose cell names none of its choices, with these."""
        cells = {**row.data}
        wrong: dict[str, str] = {}
        if text := cells.get("order-company"):
            names = {each.document: f"{each.name} {document(each.document)}".strip() for each in self.companies}
            known = {
                comparable(name): key for each in self.companies if (key := each.document) for name in (key, each.name)
            }
            compact = _whole(compact_document(text))
            cells["order-company"] = compact if compact in names else known.get(comparable(text), "")
            if not cells["order-company"]:
                wrong |= [TABLE.not_one_of("order-company", text, names.values())]
        elif len(self.companies) == 1:
            cells["order-company"] = self.companies[0].document
        if text := cells.get("order-service"):
            named = uploaded_rows.values(words.ORDER_SERVICES.items())
            cells["order-service"] = text if text in words.ORDER_SERVICES else named.get(comparable(text), "")
            if not cells["order-service"]:
                wrong |= [TABLE.not_one_of("order-service", text, words.ORDER_SERVICES.values())]
        if text := cells.get("to-document"):
            cells["to-document"] = _whole(text)
        return {"order-service": "base", "item1-quantity": "1", **cells}, wrong


def _whole(text: str) -> str:
    """A CPF or CNPJ without its first zeros, which spreadsheets take from a number, has them again if it is one."""
    if text.isascii() and text.isdigit() and len(text) >= _SHORTEST_DOCUMENT:
        for length in _LENGTHS_OF_DOCUMENTS:
            if len(text) < length and is_document(whole := text.zfill(length)):
                return whole
    return text

"""What a label says, and where.

An order has one label for each volume, which is a box. What an order says of its items does not tell what is in which,
so that the boxes share the order's weight.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from common.accounts import Environment
from common.brazil import formats
from common.brazil.states import postcode_of
from integration.errors import (
    IntegrationError,
    OrderCancelled,
    OrderForgotten,
    OrderNotFound,
    TooManyLabels,
    by_path,
    refuse,
)
from integration.invoices import nfe
from integration.invoices.models import InvoiceStatus
from integration.lifecycle import Status
from integration.models import Order
from integration.papers.marks import Bars, Block, Mark, Square, Text, has_bars
from integration.papers.text import LINE, POINT, Fitted, clean, fitted, width_of

MOST_LABELS = 200  # in one file

_MARGIN = 4.0
_STRIP = 17.0  # for the invoice key, along the long side
_QR = 26.0
_RULE = 0.3
_CAPTION = 6.0  # points
_GAP = 1.5
# Heights of the sections; the receiver has the rest.
_HEAD, _BAND, _FACTS, _TRACKING, _SENDER = 9.0, 8.0, 28.0, 29.0, 15.0
_CEP_BARS, _CEP_HEIGHT = 32.0, 12.0
_VOLUME = 14.0  # points
_EDGE = 5.5  # where printers may print nothing
TEST = "SANDBOX / TESTE"
# State, month and number of an access key. Its letters are those of the issuer's CNPJ.
_KEY = re.compile(r"[0-9]{6}[0-9A-Z]{12}[0-9]{26}")


@dataclass(frozen=True)
class Label:
    """Of one volume. `weight`: of the volume in kilograms. `deadline`: in words. Empty texts are not known."""

    order: str
    tracking_code: str
    service: str
    number: int
    of: int
    weight: Decimal
    sender: tuple[str, ...]
    receiver: str
    address: tuple[str, str, str]
    postcode: str
    deadline: str
    carrier: str
    invoice_key: str
    tracking_url: str
    is_test: bool

    @property
    def has_key(self) -> bool:
        """Whether the invoice key is one. An order may name anything."""
        return _KEY.fullmatch(self.invoice_key) is not None


def of_orders(orders: Iterable[Order]) -> list[Label]:
    """The labels of orders with their company, its seller, their carrier, and `invoice_links` with their invoices.

    Raises OrderCancelled, OrderForgotten or TooManyLabels.
    """
    labels: list[Label] = []
    for order in orders:
        if fault := _fault(order, before=len(labels)):
            raise fault
        labels += _of_order(order)
    return labels


def check(orders: Sequence[Order | str]) -> list[Order]:
    """The orders of a call, each once. A text is an `orderId` that no order has, see `by_codes`.

    Raises by `refuse` OrderNotFound, and what `of_orders` raises, for each that is at fault: TooManyLabels for each
    that the file has no room for.
    """
    checked: dict[int, Order] = {}
    faults: dict[str, IntegrationError] = {}
    labels = 0
    for path, order in by_path(orders):
        if isinstance(order, str):
            faults[path] = OrderNotFound.named(order)
        elif order.pk not in checked:
            checked[order.pk] = order
            if fault := _fault(order, before=labels):
                faults[path] = fault
            if not isinstance(fault, OrderCancelled | OrderForgotten):
                labels += order.volumes
    refuse(faults)
    return [*checked.values()]


def _fault(order: Order, *, before: int) -> IntegrationError | None:
    """Why an order gets no labels in a file that has so many before."""
    if order.status == Status.CANCELLED:
        return OrderCancelled(order=order.code)
    if order.forgotten_at:
        return OrderForgotten(order=order.code)
    if before + order.volumes > MOST_LABELS:
        return TooManyLabels(most=MOST_LABELS)
    return None


def _of_order(order: Order) -> Iterator[Label]:
    address = {name: clean(text) for name, text in order.receiver["address"].items()}
    company = order.company
    for number, weight in enumerate(order.weights, start=1):
        yield Label(
            order=clean(order.code),
            tracking_code=clean(order.tracking_code),
            service=order.service.upper(),
            number=number,
            of=order.volumes,
            weight=weight,
            sender=(
                clean(company.name or company.seller.name),
                formats.document(company.document),
                f"CEP {formats.postcode(company.postcode)}" if company.postcode else "",
            ),
            receiver=clean(order.receiver_name),
            address=(
                f"{address['street']}, {address['streetNumber']}",
                " - ".join(filter(None, (address.get("complement"), address["neighborhood"]))),
                f"{address['city']}/{address['state']}",
            ),
            postcode=address["zipCode"],
            deadline=_deadline(order),
            carrier=clean(order.carrier.name) if order.carrier else "",
            invoice_key=_invoice_key(order),
            tracking_url=order.tracking_url,
            is_test=order.environment != Environment.LIVE,
        )


def _deadline(order: Order) -> str:
    if order.promised_on:
        return f"Entrega prevista até {order.promised_on:%d/%m/%Y}"
    if order.freight_days is None:
        return ""
    return f"Prazo: {order.freight_days} {'dia útil' if order.freight_days == 1 else 'dias úteis'} após a coleta"


def _invoice_key(order: Order) -> str:
    """That of a linked note: of a valid one, then of the one that the order names, then of the newest.

    Without one, what the order names, unless that is known not to be printed, or is the key of another model than notes
    of goods have, or has a wrong check digit. Reads `names_unprintable`, see `with_labels`.
    """
    printable = [link.invoice for link in order.invoice_links.all() if link.invoice.is_printable]
    if printable:
        valid, own = InvoiceStatus.VALID, order.invoice_key
        return max(printable, key=lambda note: (note.status == valid, note.access_key == own, note.pk)).access_key
    key = order.invoice_key
    is_wrong = nfe.ACCESS_KEY.fullmatch(key) is not None and not nfe.may_accompany_goods(key)
    return "" if is_wrong or order.names_unprintable else clean(key)  # type: ignore[attr-defined]  # annotated


def kilograms(weight: Decimal) -> str:
    """`1,5 kg`; a part of an order's weight is rounded up to the gram, as for the freight."""
    rounded = Decimal(math.ceil(weight * 1000)) / 1000
    return f"{rounded.normalize():f} kg".replace(".", ",")


@dataclass(frozen=True)
class _Row:
    """A text of a section: its sizes in points, and in how many lines it stands unless there is room for more."""

    text: str
    size: float
    smallest: float
    lines: int = 1
    bold: bool = False

    def fitted(self, width: float) -> Fitted:
        return fitted(self.text, width=width, size=self.size, smallest=self.smallest, lines=self.lines, bold=self.bold)


def marks(label: Label, *, width: float, height: float) -> Iterator[Mark]:
    """The label on a paper of this size, which is at least 100 by 148 mm."""
    yield from shared_marks(label, width=width, height=height)
    yield volume_mark(label, width=width)


def shared(label: Label) -> Label:
    """What is equal of the labels of an order, unless their weights differ."""
    return replace(label, number=0)


def volume_mark(label: Label, *, width: float) -> Text:
    """The volume's number."""
    text = f"VOL {label.number}/{label.of}"
    x = _MARGIN + _inner(label, width) - width_of(text, size=_VOLUME, bold=True)
    return Text(x, _MARGIN + 1.5, _VOLUME, text, bold=True)


def shared_marks(label: Label, *, width: float, height: float) -> Iterator[Mark]:
    """Everything but the volume's number."""
    inner = _inner(label, width)
    yield from _head(label, inner, volume_mark(replace(label, number=label.of), width=width).x)
    top = _MARGIN + _HEAD
    if label.is_test:
        yield Block(_MARGIN, top, inner, _BAND)
        found = fitted(TEST, width=inner - 2, size=16, smallest=8, lines=1, bold=True)
        yield Text(_MARGIN + 2, top + 1, found.size, found.lines[0], bold=True, white=True)
        top += _BAND
    bottom = height - _MARGIN
    tracking = bottom - _SENDER - _TRACKING
    receiver, end = _receiver(label, top + _GAP, inner, tracking - _FACTS)
    facts, begin = _facts(label, end, inner, tracking)
    yield from [*receiver, *facts]
    for y in (begin, tracking, bottom - _SENDER):
        yield Block(_MARGIN, y, inner, _RULE)
    yield from _tracking(label, tracking + _GAP, inner, bottom - _SENDER)
    yield from _sender(label, bottom - _SENDER + _GAP, inner, bottom)
    if label.has_key:
        yield from _key(label.invoice_key, x=width - _MARGIN - _STRIP + 3, height=height)


def _inner(label: Label, width: float) -> float:
    """The width beside the strip with the invoice key."""
    return width - 2 * _MARGIN - (_STRIP if label.has_key else 0)


def _fit(rows: Sequence[_Row], *, width: float, height: float) -> list[Fitted]:
    """The lines of texts below each other. Those that would be cut get more lines while the height has room."""
    found = [row.fitted(width) for row in rows]
    while True:
        free = height - _height(found)
        cut = next((n for n, each in enumerate(found) if each.is_cut and each.size * LINE * POINT <= free), None)
        if cut is None:
            return found
        lines = len(found[cut].lines) + 1
        found[cut] = replace(rows[cut], size=rows[cut].smallest, lines=lines).fitted(width)


def _height(found: Iterable[Fitted]) -> float:
    return sum(each.height for each in found)


def _written(rows: Sequence[_Row], found: Sequence[Fitted], *, x: float, y: float) -> Iterator[Text]:
    for row, each in zip(rows, found, strict=True):
        for line in each.lines:
            yield Text(x, y, each.size, line, bold=row.bold)
            y += each.size * LINE * POINT


def _section(rows: Sequence[_Row], *, y: float, width: float, bottom: float, x: float = _MARGIN) -> Iterator[Text]:
    """Texts from y downwards, above `bottom`."""
    yield from _written(rows, _fit(rows, width=width, height=bottom - y), x=x, y=y)


def _head(label: Label, inner: float, right: float) -> Iterator[Mark]:
    """`right`: where the volume's number may begin."""
    yield Text(_MARGIN, _MARGIN, 20, label.service, bold=True)
    yield Block(_MARGIN, _MARGIN + _HEAD, inner, _RULE)
    if not label.carrier:
        return
    left = _MARGIN + width_of(label.service, size=20, bold=True) + 3
    carrier = _Row(label.carrier, 9, 6, 2)
    yield from _section([carrier], x=left, y=_MARGIN + 1, width=right - left - 2, bottom=_MARGIN + _HEAD)


def _receiver(label: Label, y: float, inner: float, bottom: float) -> tuple[list[Mark], float]:
    """The marks between y and `bottom`, and the y below them."""
    street, quarter, city = label.address
    above = [
        _Row("DESTINATÁRIO", _CAPTION, _CAPTION),
        _Row(label.receiver, 12, 7, 2, bold=True),
        _Row(street, 10.5, 6.5, 3),
        _Row(quarter, 9, 6, 2),
    ]
    below = [
        _Row(f"CEP {formats.postcode(label.postcode)}", 14, 6, bold=True),
        _Row(city, 10, 6.5, 2, bold=True),
    ]
    digits = postcode_of(label.postcode)
    width, bars = (inner - _CEP_BARS - 1, _CEP_HEIGHT) if digits else (inner, 0.0)
    least = max(_height(row.fitted(width) for row in below), bars)
    found = _fit(above, width=inner, height=bottom - y - least - _GAP / 2)
    marks: list[Mark] = [*_written(above, found, x=_MARGIN, y=y)]
    y += _height(found) + _GAP / 2
    if digits:
        marks.append(Bars(_MARGIN + inner - _CEP_BARS, y, _CEP_BARS, _CEP_HEIGHT, digits))
    found = _fit(below, width=width, height=bottom - y)
    marks += _written(below, found, x=_MARGIN, y=y)
    return marks, y + max(_height(found), bars)


def _facts(label: Label, top: float, inner: float, bottom: float) -> tuple[list[Mark], float]:
    """The marks above `bottom`, and the y at which they begin: as high as they need, below `top`."""
    x, width = _MARGIN + _QR + 1, inner - _QR - 1
    key = "" if label.has_key else label.invoice_key
    rows = [
        _Row(f"Pedido {label.order}", 9, 6, 2, bold=True),
        _Row(f"Peso {kilograms(label.weight)}", 8, 6),
        _Row(label.deadline, 8, 6, 2),
        _Row(key and f"{nfe.name_of(key)} {key}", 7, 6),
        _Row("Acompanhe a entrega pelo QR code", 7, 6),
    ]
    found = _fit(rows, width=width, height=bottom - top - 2 * _GAP)
    begin = bottom - max(_FACTS, _height(found) + 2 * _GAP)
    square = Square(_MARGIN, begin + 1, _QR, label.tracking_url)
    return [square, *_written(rows, found, x=x, y=begin + _GAP)], begin


def _tracking(label: Label, y: float, inner: float, bottom: float) -> Iterator[Mark]:
    code = label.tracking_code
    rows = [_Row(code, 13, 6, 3, bold=True)]
    if has_bars(code, length=inner):
        yield Bars(_MARGIN, y, inner, 18, code)
        y += 18.5
    else:
        note = "Código de rastreio sem barras: é longo demais ou tem letras que o Code 128 não tem"
        rows.insert(0, _Row(note, _CAPTION, _CAPTION, 2))
    yield from _section(rows, y=y, width=inner, bottom=bottom)


def _sender(label: Label, y: float, inner: float, bottom: float) -> Iterator[Mark]:
    name, *others = label.sender
    rows = [
        _Row("REMETENTE", _CAPTION, _CAPTION),
        _Row(name, 8, 6, 2),
        _Row(" · ".join(filter(None, others)), 8, 6),
    ]
    yield from _section(rows, y=y, width=inner, bottom=bottom)


def _key(key: str, *, x: float, height: float) -> Iterator[Mark]:
    """Along the long side, where its bars are at least 11.5 cm long, as the rules for the DANFE ask.

    A key with letters takes more modules than one of digits, so that its bars would reach where printers print nothing.
    """
    fours = " ".join(key[start : start + 4] for start in range(0, len(key), 4))
    yield Bars(x, 0, height, 9, key, turned=True, blank=_EDGE)
    yield Text(x + 9.5, 0, 7, f"{nfe.name_of(key)} {fours}", turned=True, width=height)

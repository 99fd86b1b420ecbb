"""What a label says, and where.

An order has one label for each volume, which is a box. What an order says of its items does not tell what is in which,
so that the boxes share the order's weight.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from common import formats
from common.accounts import Environment
from integration import nfe
from integration.errors import OrderCancelled, OrderForgotten, TooManyLabels
from integration.lifecycle import Status
from integration.models import Order
from integration.models.invoice import InvoiceStatus
from integration.papers.marks import Bars, Block, Mark, Square, Text, has_bars
from integration.papers.text import LINE, POINT, clean, fitted, width_of

MOST_LABELS = 200  # in one file

_MARGIN = 4.0
_STRIP = 17.0  # for the invoice key, along the long side
_QR = 26.0
_RULE = 0.3
_CAPTION = 6.0  # points
_GAP = 1.5
# Heights of the sections; the receiver has the rest.
_HEAD, _BAND, _FACTS, _TRACKING, _SENDER = 9.0, 8.0, 28.0, 29.0, 15.0
_CEP_BARS = 32.0
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
        if order.status == Status.CANCELLED:
            raise OrderCancelled(order=order.code)
        if order.forgotten_at:
            raise OrderForgotten(order=order.code)
        if len(labels) + order.volumes > MOST_LABELS:
            raise TooManyLabels(most=MOST_LABELS)
        labels += _of_order(order)
    return labels


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
            postcode=address["zipCode"].replace("-", "", 1),
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

    Without one, what the order names, unless that is known not to be printed. Reads `names_unprintable`, see
    `tracking.with_labels`.
    """
    printable = [link.invoice for link in order.invoice_links.all() if link.invoice.is_printable]
    if printable:
        valid, own = InvoiceStatus.VALID, order.invoice_key
        return max(printable, key=lambda note: (note.status == valid, note.access_key == own, note.pk)).access_key
    return "" if order.names_unprintable else clean(order.invoice_key)  # type: ignore[attr-defined]  # annotated


def kilograms(weight: Decimal) -> str:
    """`1,5 kg`; a part of an order's weight is rounded up to the gram, as for the freight."""
    rounded = Decimal(math.ceil(weight * 1000)) / 1000
    return f"{rounded.normalize():f} kg".replace(".", ",")


def marks(label: Label, *, width: float, height: float) -> Iterator[Mark]:
    """The label on a paper of this size, which is at least 100 by 148 mm."""
    inner = width - 2 * _MARGIN - (_STRIP if label.has_key else 0)
    yield from _head(label, inner)
    top = _MARGIN + _HEAD
    if label.is_test:
        yield Block(_MARGIN, top, inner, _BAND)
        size, lines = fitted(TEST, width=inner - 2, size=16, smallest=8, lines=1, bold=True)
        yield Text(_MARGIN + 2, top + 1, size, lines[0], bold=True, white=True)
        top += _BAND
    yield from _receiver(label, top + _GAP, inner)
    bottom = height - _MARGIN
    facts = bottom - _SENDER - _TRACKING - _FACTS
    for y in (facts, facts + _FACTS, bottom - _SENDER):
        yield Block(_MARGIN, y, inner, _RULE)
    yield from _facts(label, facts + _GAP, inner)
    yield from _tracking(label, facts + _FACTS + _GAP, inner)
    yield from _sender(label, bottom - _SENDER + _GAP, inner)
    if label.has_key:
        yield from _key(label.invoice_key, x=width - _MARGIN - _STRIP + 3, height=height)


def _lines(
    text: str, *, x: float, y: float, width: float, size: float, smallest: float, lines: int = 1, bold: bool = False
) -> tuple[list[Mark], float]:
    """The lines of a text, and the y below them."""
    size, found = fitted(text, width=width, size=size, smallest=smallest, lines=lines, bold=bold)
    height = size * LINE * POINT
    return [Text(x, y + n * height, size, line, bold=bold) for n, line in enumerate(found)], y + len(found) * height


def _head(label: Label, inner: float) -> Iterator[Mark]:
    yield Text(_MARGIN, _MARGIN, 20, label.service, bold=True)
    volume = f"VOL {label.number}/{label.of}"
    x = _MARGIN + inner - width_of(volume, size=14, bold=True)
    yield Text(x, _MARGIN + 1.5, 14, volume, bold=True)
    yield Block(_MARGIN, _MARGIN + _HEAD, inner, _RULE)
    if not label.carrier:
        return
    left = _MARGIN + width_of(label.service, size=20, bold=True) + 3
    yield from _lines(label.carrier, x=left, y=_MARGIN + 1, width=x - left - 2, size=9, smallest=6, lines=2)[0]


def _receiver(label: Label, y: float, inner: float) -> Iterator[Mark]:
    street, quarter, city = label.address
    found, y = _lines("DESTINATÁRIO", x=_MARGIN, y=y, width=inner, size=_CAPTION, smallest=_CAPTION)
    yield from found
    for text, size, smallest, lines, bold in (
        (label.receiver, 12, 7, 2, True), (street, 10.5, 6.5, 3, False), (quarter, 9, 6, 2, False),
    ):  # fmt: skip  # a table
        found, y = _lines(text, x=_MARGIN, y=y, width=inner, size=size, smallest=smallest, lines=lines, bold=bold)
        yield from found
    y += _GAP / 2
    has_code = len(label.postcode) == len("01310100") and has_bars(label.postcode, length=_CEP_BARS)
    width = inner - _CEP_BARS - 1 if has_code else inner
    if has_code:
        yield Bars(_MARGIN + inner - _CEP_BARS, y, _CEP_BARS, 12, label.postcode)
    written = f"CEP {formats.postcode(label.postcode)}"
    found, y = _lines(written, x=_MARGIN, y=y, width=width, size=14, smallest=6, bold=True)
    yield from found
    found, y = _lines(city, x=_MARGIN, y=y, width=width, size=10, smallest=6.5, lines=2, bold=True)
    yield from found


def _facts(label: Label, y: float, inner: float) -> Iterator[Mark]:
    yield Square(_MARGIN, y - _GAP + 1, _QR, label.tracking_url)
    x, width = _MARGIN + _QR + 1, inner - _QR - 1
    facts = [
        (f"Pedido {label.order}", 9.0, 2, True),
        (f"Peso {kilograms(label.weight)}", 8.0, 1, False),
        (label.deadline, 8.0, 2, False),
        (
            "" if label.has_key else label.invoice_key and f"{nfe.name_of(label.invoice_key)} {label.invoice_key}",
            7.0,
            1,
            False,
        ),
    ]
    for text, size, lines, bold in facts:
        found, y = _lines(text, x=x, y=y, width=width, size=size, smallest=6, lines=lines, bold=bold)
        yield from found
    found, _y = _lines("Acompanhe a entrega pelo código QR", x=x, y=y, width=width, size=7, smallest=6)
    yield from found


def _tracking(label: Label, y: float, inner: float) -> Iterator[Mark]:
    code = label.tracking_code
    if has_bars(code, length=inner):
        yield Bars(_MARGIN, y, inner, 18, code)
        y += 18.5
    else:
        note = "Código de rastreio sem barras: é longo demais ou tem letras que o Code 128 não tem"
        found, y = _lines(note, x=_MARGIN, y=y, width=inner, size=_CAPTION, smallest=_CAPTION, lines=2)
        yield from found
    found, _y = _lines(code, x=_MARGIN, y=y, width=inner, size=13, smallest=6, lines=3, bold=True)
    yield from found


def _sender(label: Label, y: float, inner: float) -> Iterator[Mark]:
    name, *others = label.sender
    caption = "REMETENTE"
    for text, size, smallest, lines in (
        (caption, _CAPTION, _CAPTION, 1), (name, 8, 6, 2), (" · ".join(filter(None, others)), 8, 6, 1),
    ):  # fmt: skip  # a table
        found, y = _lines(text, x=_MARGIN, y=y, width=inner, size=size, smallest=smallest, lines=lines)
        yield from found


def _key(key: str, *, x: float, height: float) -> Iterator[Mark]:
    """Along the long side, where its bars are at least 11.5 cm long, as the rules for the DANFE ask."""
    fours = " ".join(key[start : start + 4] for start in range(0, len(key), 4))
    yield Bars(x, 0, height, 9, key, turned=True)
    yield Text(x + 9.5, 0, 7, f"{nfe.name_of(key)} {fours}", turned=True, width=height)

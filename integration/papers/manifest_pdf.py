"""A manifest as PDF: pages of A4 with its orders and totals, and lines for signatures on the last one."""

from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from django.utils import translation
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from common.accounts import Environment
from common.brazil import formats
from integration.models import Manifest, Order
from integration.papers.label import TEST, kilograms
from integration.papers.text import BOLD, LINE, POINT, REGULAR, clean, fitted, width_of

_WIDTH, _HEIGHT = (side / mm for side in A4)
_MARGIN = 12.0
_INNER = _WIDTH - 2 * _MARGIN
_BOTTOM = _HEIGHT - 14
_ROW = 8.5
_SMALLEST = 6.0  # points
_SIGNATURES = 62.0  # with the totals above them


class _Column(NamedTuple):
    """`width` in millimetres."""

    title: str
    width: float
    is_number: bool = False


_COLUMNS = (
    _Column("Nº", 8, is_number=True), _Column("Pedido", 34), _Column("Código de rastreio", 38),
    _Column("Destinatário", 42), _Column("Vol.", 10, is_number=True), _Column("Peso", 18, is_number=True),
    _Column("Valor", 19, is_number=True), _Column("Frete", 17, is_number=True),
)  # fmt: skip  # a table


class _Paper:
    """A canvas whose y grows downwards, in millimetres. It begins a page where the one before has no room."""

    def __init__(self, *, footer: str) -> None:
        self._file = BytesIO()
        self._canvas = Canvas(self._file, pagesize=A4, invariant=True)  # as of labels
        self._canvas.setTitle(footer)
        self._footer = footer
        self._page = 1
        self.y = _MARGIN

    def text(
        self,
        text: str,
        *,
        x: float = _MARGIN,
        width: float = _INNER,
        size: float = 9,
        lines: int = 1,
        bold: bool = False,
        right: bool = False,
    ) -> float:
        """Write at `y`, which stays. Returns the height."""
        size, found, _is_cut = fitted(clean(text), width=width, size=size, smallest=_SMALLEST, lines=lines, bold=bold)
        self._canvas.setFont(BOLD if bold else REGULAR, size)
        for number, line in enumerate(found, start=1):
            left = x + width - width_of(line, size=size, bold=bold) if right else x
            self._canvas.drawString(left * mm, (_HEIGHT - self.y - number * size * POINT) * mm, line)
        return len(found) * size * POINT * LINE

    def rule(self, *, x: float = _MARGIN, width: float = _INNER) -> None:
        self._canvas.setLineWidth(0.5)
        self._canvas.line(x * mm, (_HEIGHT - self.y) * mm, (x + width) * mm, (_HEIGHT - self.y) * mm)

    def has_room(self, height: float) -> bool:
        return self.y + height <= _BOTTOM

    def turn(self) -> None:
        """Begin another page."""
        self._end()
        self._canvas.showPage()
        self._page, self.y = self._page + 1, _MARGIN

    def content(self) -> bytes:
        self._end()
        self._canvas.save()
        return self._file.getvalue()

    def _end(self) -> None:
        self.y = _BOTTOM + 4
        self.text(self._footer, size=7)
        self.text(f"Página {self._page}", size=7, right=True)


def write(manifest: Manifest) -> bytes:
    """A manifest with its seller, and `entries` with their orders, companies and carriers."""
    with translation.override("pt-br"):
        return _written(manifest)


def _written(manifest: Manifest) -> bytes:
    paper = _Paper(footer=f"Romaneio {manifest.pk} · {manifest.seller.name}")
    _head(paper, manifest)
    _titles(paper)
    for number, order in enumerate(manifest.in_order, start=1):
        if not paper.has_room(_ROW):
            paper.turn()
            _titles(paper)
        _row(paper, list(_cells(number, order)))
    if not paper.has_room(_SIGNATURES):
        paper.turn()
    _totals(paper, manifest)
    _signatures(paper)
    return paper.content()


def _head(paper: _Paper, manifest: Manifest) -> None:
    paper.y += paper.text(f"Romaneio {manifest.pk}", size=20, bold=True) + 1
    if manifest.environment != Environment.LIVE:
        paper.y += paper.text(TEST, size=14, bold=True) + 1
    companies = {order.company_id: str(order.company) for order in manifest.in_order}
    carriers = sorted({order.carrier.name for order in manifest.in_order if order.carrier})
    facts = [
        ("Vendedor", f"{manifest.seller.name} ({manifest.seller.reference})"),
        ("Empresa", ", ".join(companies.values())),
        *([("Transportadora", ", ".join(carriers))] if carriers else []),
        ("Aberto em", formats.moment_in(manifest.created_at, manifest)),
        ("Fechado em", formats.moment_in(manifest.closed_at, manifest) or "ainda aberto: os pedidos podem mudar"),
    ]
    for name, value in facts:
        paper.text(name, width=26, bold=True)
        paper.y += paper.text(value, x=_MARGIN + 28, width=_INNER - 28, lines=3)
    paper.y += 4


def _titles(paper: _Paper) -> None:
    _row(paper, [column.title for column in _COLUMNS], bold=True)


def _row(paper: _Paper, cells: list[str], *, bold: bool = False) -> None:
    paper.rule()
    paper.y += 1
    x = _MARGIN
    for column, cell in zip(_COLUMNS, cells, strict=True):
        paper.text(cell, x=x, width=column.width - 1.5, size=8, lines=2, bold=bold, right=column.is_number)
        x += column.width
    paper.y += _ROW - 1


def _cells(number: int, order: Order) -> Iterator[str]:
    address = order.receiver["address"]
    yield str(number)
    yield order.code
    yield f"{order.tracking_code} {order.carrier.name if order.carrier else ''}".strip()
    yield " ".join(filter(None, (order.receiver_name, "/".join(filter(None, map(address.get, ("city", "state")))))))
    yield str(order.volumes)
    yield kilograms(order.weight)
    yield formats.money(order.cost)
    yield formats.money(order.freight_reais) if order.freight_reais is not None else "-"


def _totals(paper: _Paper, manifest: Manifest) -> None:
    totals = manifest.totals
    paper.rule()
    paper.y += 3
    facts = (
        ("Pedidos", str(totals.orders)), ("Volumes", str(totals.volumes)), ("Peso", kilograms(totals.weight)),
        ("Valor", formats.money(totals.cost)), ("Frete", formats.centavos(totals.freight)),
    )  # fmt: skip  # a table
    width = _INNER / len(facts)
    for number, (name, _value) in enumerate(facts):
        paper.text(name, x=_MARGIN + number * width, width=width, size=8)
    paper.y += 4
    for number, (_name, value) in enumerate(facts):
        paper.text(value, x=_MARGIN + number * width, width=width - 2, size=12, bold=True)
    paper.y += 9


def _signatures(paper: _Paper) -> None:
    paper.text("Declaramos a entrega e o recebimento dos volumes acima.", size=9)
    width = _INNER / 2 - 6
    for line in ("Assinatura", "Nome e documento", "Data e hora"):
        paper.y += 12
        for who, x in (("Entregue por (vendedor)", _MARGIN), ("Recebido por (transportadora)", _MARGIN + width + 12)):
            paper.rule(x=x, width=width)
            paper.y += 0.7
            paper.text(f"{who}: {line.lower()}", x=x, width=width, size=7)
            paper.y -= 0.7

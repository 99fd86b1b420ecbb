"""Safe reading of an invoice XML (NF-e, layouts 2.00 to 4.00). Pure: bytes in, an `Nfe` or InvalidInvoice out.

The bytes go straight to libxml2, after the checks that keep a hostile file small and dull: size, encoding, no
DOCTYPE (so no entity but XML's own five), number of tags. libxml2 itself refuses nesting deeper than 256.
"""

import codecs
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from lxml import etree

from integration.errors import BodyTooLarge, InvalidInvoice

MAX_BYTES = 2 * 1024 * 1024
_MAX_ITEMS = 1000
# A thousand items of a hundred elements each have fewer; a tree of them stays under 50 MB.
_MAX_TAGS = 250_000
_LONGEST_REFERENCE = 255
_NAMESPACES = ("http://www.portalfiscal.inf.br/nfe", None)
_ENCODINGS = {"utf-8", "iso8859-1", "cp1252", "ascii"}
_DECLARED = re.compile(rb"""^<\?xml[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_DOCTYPE = "<!DOCTYPE"
_ACCESS_KEY = re.compile(r"[0-9A-Z]{44}")
_LAYOUT = re.compile(r"(2\.0[0-9]|3\.[01][0-9]|4\.00)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_SERIES = re.compile(r"[0-9]{1,3}")
_VALUE = re.compile(r"[0-9]{1,13}(\.[0-9]{1,2})?")
_DOCUMENT = re.compile(r"[0-9A-Z]{11,14}")
# Layout 2.00 gives a date without an offset; Brasília's is meant.
_BRASILIA = timezone(timedelta(hours=-3))
_YEARS = range(1990, 2200)


@dataclass(frozen=True)
class Nfe:
    """What is read from an invoice. Empty or None: the file does not say. `references` in the file's order."""

    access_key: str
    references: tuple[str, ...]
    issuer_document: str = ""
    number: str = ""
    series: str = ""
    value: Decimal | None = None
    issued_at: datetime | None = None
    layout: str = ""


def read(raw: bytes) -> Nfe:
    """Read an invoice. Raises BodyTooLarge over 2 MiB, InvalidInvoice with the reason for anything else unfit."""
    if len(raw) > MAX_BYTES:
        raise BodyTooLarge("O arquivo é maior que 2 MiB")
    _refuse_encoding(raw)
    if any(_DOCTYPE.encode(encoding) in raw for encoding in ("ascii", "utf-16-le", "utf-16-be")):
        raise InvalidInvoice("O XML contém DOCTYPE, que não é aceito")
    if raw.count(b"<") > _MAX_TAGS:
        raise InvalidInvoice("O XML tem elementos demais")
    return _extract(_invoice_of(_parse(raw)))


def _refuse_encoding(raw: bytes) -> None:
    """Only UTF-8, UTF-16, ISO-8859-1, windows-1252 and US-ASCII, and the declaration must fit the bytes."""
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # the former begins as UTF-16's does
        raise InvalidInvoice("Codificação UTF-32 não é aceita")
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0?\0", b"\0<\0?", b"<\0n\0", b"\0<\0n")):
        return  # libxml2 goes by these bytes, whatever the declaration says
    declared = _DECLARED.match(raw.removeprefix(codecs.BOM_UTF8).lstrip())
    name = declared[1].decode() if declared else "utf-8"
    try:
        known = codecs.lookup(name).name in _ENCODINGS
    except LookupError:
        known = False
    if not known:
        raise InvalidInvoice(f"Codificação {name} não é aceita; use UTF-8, UTF-16, ISO-8859-1 ou windows-1252")


def _parse(raw: bytes) -> etree._Element:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(raw, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise InvalidInvoice("O arquivo não é um XML bem-formado") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise InvalidInvoice("O XML contém DOCTYPE, que não é aceito")
    return root


def _invoice_of(root: etree._Element) -> etree._Element:
    """The infNFe of an nfeProc or NFe root, whatever prefix the namespace has."""
    name = etree.QName(root)
    nfe = root if name.localname == "NFe" else _child(root, "NFe")
    invoice = None if nfe is None else _child(nfe, "infNFe")
    if name.localname not in ("nfeProc", "NFe") or name.namespace not in _NAMESPACES or invoice is None:
        raise InvalidInvoice
    return invoice


def _extract(invoice: etree._Element) -> Nfe:
    items = _children(invoice, "det")
    if len(items) > _MAX_ITEMS:
        raise InvalidInvoice(f"A nota fiscal tem mais de {_MAX_ITEMS} itens")
    layout = _fitting(_LAYOUT, invoice.get("versao", "").strip(), "versao")
    return Nfe(
        access_key=_access_key(invoice),
        references=_references(invoice, items),
        issuer_document=_fitting(_DOCUMENT, _text(invoice, "emit", "CNPJ") or _text(invoice, "emit", "CPF"), "emit"),
        number=_fitting(_NUMBER, _text(invoice, "ide", "nNF"), "nNF"),
        series=_fitting(_SERIES, _text(invoice, "ide", "serie"), "serie"),
        value=_value(_text(invoice, "total", "ICMSTot", "vNF")),
        issued_at=_moment(_text(invoice, "ide", "dhEmi") or _text(invoice, "ide", "dEmi")),
        layout=layout,
    )


def _access_key(invoice: etree._Element) -> str:
    """From infNFe's Id, or from the protocol where the Id is unusable."""
    own = invoice.get("Id", "").strip().removeprefix("NFe")
    root = invoice.getroottree().getroot()
    for key in (own, _text(root, "protNFe", "infProt", "chNFe")):
        if _ACCESS_KEY.fullmatch(key):
            return key
    raise InvalidInvoice("A nota fiscal não traz uma chave de acesso de 44 caracteres")


def _references(invoice: etree._Element, items: list[etree._Element]) -> tuple[str, ...]:
    found = [_text(invoice, "compra", "xPed"), *(_text(item, "prod", "xPed") for item in items)]
    if any(len(reference) > _LONGEST_REFERENCE for reference in found):
        raise InvalidInvoice(f"xPed tem mais de {_LONGEST_REFERENCE} caracteres")
    return tuple(dict.fromkeys(reference for reference in found if reference))


def _fitting(pattern: re.Pattern[str], text: str, name: str) -> str:
    if text and not pattern.fullmatch(text):
        raise InvalidInvoice(f"Valor inválido em {name}")
    return text


def _value(text: str) -> Decimal | None:
    return Decimal(_fitting(_VALUE, text, "vNF")) if text else None


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInvoice("Valor inválido em dhEmi") from error
    if moment.year not in _YEARS:
        raise InvalidInvoice("Valor inválido em dhEmi")
    return moment if moment.tzinfo else moment.replace(tzinfo=_BRASILIA)


def _children(parent: etree._Element, name: str) -> list[etree._Element]:
    return [child for child in parent if isinstance(child.tag, str) and etree.QName(child).localname == name]


def _child(parent: etree._Element, name: str) -> etree._Element | None:
    return next(iter(_children(parent, name)), None)


def _text(parent: etree._Element, *path: str) -> str:
    """Stripped text of the first element at `path`, empty when there is none."""
    node: etree._Element | None = parent
    for name in path:
        node = None if node is None else _child(node, name)
    return "" if node is None else (node.text or "").strip()

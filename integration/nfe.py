"""Parser of invoices (NF-e, layouts 2.00 to 4.00) from untrusted bytes. Pure.

The encoding is determined here and passed to libxml2, so that the checked text is the parsed text. Checked before
parsing: size, encoding, no DOCTYPE (therefore no entities but XML's five), number of tags; libxml2 refuses nesting
deeper than 256. Elements are found by lxml's `iterchildren`, which compares names in C: `tag` and `QName` build
"{namespace}name" for each element, and a namespace may be as long as the file.
"""

import codecs
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from itertools import islice
from typing import NoReturn

from lxml import etree

from integration.errors import InvalidInvoice, InvoiceTooLarge

MAX_BYTES = 2 * 1024 * 1024
_MAX_ITEMS = 1000
# 1,000 items of 100 elements have 200,000 tags. The tree of 250,000 tags takes less than 50 MB.
_MAX_TAGS = 250_000
_LONGEST_REFERENCE = 255
_LONGEST_SHOWN = 60
_ROOTS = ("nfeProc", "NFe")
_NAMESPACES = ("http://www.portalfiscal.inf.br/nfe", None)
# Supported supersets of ASCII: name in an XML declaration to Python's name.
_ENCODINGS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "iso-8859-1": "iso-8859-1",
    "iso8859-1": "iso-8859-1",
    "latin1": "iso-8859-1",
    "windows-1252": "windows-1252",
    "cp1252": "windows-1252",
    "us-ascii": "ascii",
    "ascii": "ascii",
}
# First bytes that no superset of ASCII has, with Python's name; empty: refused. UTF-32 first, because its mark begins
# with that of UTF-16.
_FIRST_BYTES = (
    (codecs.BOM_UTF32_LE, ""),
    (b"<\0\0\0", ""),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_LONGEST_DECLARATION = 200
_DECLARATION = re.compile(
    rb"""<\?xml\s+version\s*=\s*["']1\.[0-9]["'](\s+encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["'])?"""
    rb"""(\s+standalone\s*=\s*["'](yes|no)["'])?\s*\?>"""
)
_DOCTYPE = "<!DOCTYPE"
ACCESS_KEY = re.compile(r"[0-9A-Z]{44}")
# cStat of a protocol, in Anexo I of the Manual de Orientação do Contribuinte (github.com/nfephp-org/sped-nfe lists them
# in docs/cStat.md): the note was denied, or cancelled. Both are final for an access key.
_VOID = {"110", "205", "301", "302", "303"} | {"101", "151", "155", "218"}
# A cancellation is an event. Some programs keep the note with the event's answer (retEvento) beside its protocol, which
# still says that the note is authorised (`Complements::cancelRegister` of sped-nfe). tpEvento, and cStat of the answer:
_CANCELLATIONS = {"110111", "110112"}
_REGISTERED = {"135", "136", "155"}
_CONSUMER_INVOICE = "65"
_MODEL = slice(20, 22)  # of an access key
_LONGEST_MODEL = 2
_LAYOUT = re.compile(r"(2\.0[0-9]|3\.[01][0-9]|4\.00)")
_EVENTS = ("procEventoNFe", "envEvento", "evento", "retEvento", "retEnvEvento", "procCancNFe", "resEvento")
_WHAT_TO_SEND = "Envie o XML da NF-e (modelo 55), com a raiz nfeProc ou NFe"
_IMAGE, _ARCHIVE = "uma imagem", "um arquivo compactado"
# First bytes of what is sent instead of XML.
_OTHER_FILES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "um PDF, como o DANFE"),
    (b"PK\x03\x04", f"{_ARCHIVE} (zip)"),
    (b"PK\x05\x06", f"{_ARCHIVE} (zip)"),
    (b"\x1f\x8b", f"{_ARCHIVE} (gzip)"),
    (b"Rar!", f"{_ARCHIVE} (rar)"),
    (b"7z\xbc\xaf", f"{_ARCHIVE} (7z)"),
    (b"\x89PNG", f"{_IMAGE} (PNG)"),
    (b"\xff\xd8\xff", f"{_IMAGE} (JPEG)"),
    (b"GIF8", f"{_IMAGE} (GIF)"),
    (b"RIFF", f"{_IMAGE} (WebP)"),
    (b"II*\0", f"{_IMAGE} (TIFF)"),
    (b"MM\0*", f"{_IMAGE} (TIFF)"),
)
_HEIF = b"ftyp"  # at the fifth byte
# Fiscal documents that are no NF-e, by a part of the root's name in lower case. The first that fits holds.
_OTHER_DOCUMENTS = {
    "cte": "um CT-e (conhecimento de transporte)",
    "mdfe": "um MDF-e (manifesto)",
    "nfse": "uma NFS-e (nota de serviço)",
    "rps": "um RPS (nota de serviço)",
    "cfe": "um CF-e (cupom do SAT)",
    "resnfe": "um resumo de NF-e (resNFe)",
    "envinfe": "um lote de NF-e (enviNFe)",
    "inutnfe": "uma inutilização de numeração (inutNFe)",
}
_NUMBER = re.compile(r"[0-9]{1,9}")
_SERIES = re.compile(r"[0-9]{1,3}")
_VALUE = re.compile(r"[0-9]{1,13}(\.[0-9]{1,2})?")
_DOCUMENT = re.compile(r"[0-9A-Z]{11,14}")
# Layout 2.00 has dates without an offset, which are Brasília's.
_BRASILIA = timezone(timedelta(hours=-3))
_YEARS = range(1990, 2200)


@dataclass(frozen=True)
class Nfe:
    """Data of an invoice. Empty or None: not in the file. `references` (xPed) in the file's order, `value` in BRL.

    `model`: `55`, or `65` of an NFC-e. `items`: how many it has. `is_void`: its protocol (protNFe) or an event's answer
    (retEvento) beside it says that the tax office has denied or cancelled it.
    """

    access_key: str
    references: tuple[str, ...]
    issuer_document: str = ""
    number: str = ""
    series: str = ""
    value: Decimal | None = None
    issued_at: datetime | None = None
    layout: str = ""
    model: str = ""
    items: int = 0
    is_void: bool = False

    @property
    def is_consumer_invoice(self) -> bool:
        """Whether it is an NFC-e."""
        return _CONSUMER_INVOICE in (self.model, model_of(self.access_key))


def model_of(access_key: str) -> str:
    """The model that an access key names: `55` of an NF-e, `65` of an NFC-e."""
    return access_key[_MODEL]


def read(raw: bytes) -> Nfe:
    """Parse an invoice. Raises InvoiceTooLarge over MAX_BYTES, InvalidInvoice with the reason for any other fault."""
    if len(raw) > MAX_BYTES:
        raise InvoiceTooLarge
    _refuse_other_files(raw)
    text = _decoded(raw)
    if _DOCTYPE in text:
        raise InvalidInvoice("O XML contém DOCTYPE, que não é aceito")
    if text.count("<") > _MAX_TAGS:
        raise InvalidInvoice("O XML tem elementos demais")
    return _extract(_invoice_of(_parse(text)))


def _refuse_other_files(raw: bytes) -> None:
    if not raw.strip():
        raise InvalidInvoice(f"O arquivo está vazio. {_WHAT_TO_SEND}")
    if raw[4:].startswith(_HEIF):
        raise InvalidInvoice(f"O arquivo é {_IMAGE} (HEIC ou AVIF). {_WHAT_TO_SEND}")
    for first_bytes, what in _OTHER_FILES:
        if raw.startswith(first_bytes):
            how = ", sem compressão, um arquivo por chamada" if what.startswith(_ARCHIVE) else ""
            raise InvalidInvoice(f"O arquivo é {what}. {_WHAT_TO_SEND}{how}")


def _decoded(raw: bytes) -> str:
    """The file's text. NUL is refused: after a "<" libxml2 would assume UTF-16 whatever encoding it is given."""
    encoding = _encoding(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidInvoice(f"O arquivo não é um texto em {encoding.removesuffix('-sig').upper()}") from error
    if "\0" in text:
        raise InvalidInvoice("O XML contém o caractere NUL, que não é aceito")
    return text


def _encoding(raw: bytes) -> str:
    """Python's name of the file's encoding: UTF-8, UTF-16, ISO-8859-1, windows-1252 or US-ASCII.

    The first bytes distinguish UTF-16 from supersets of ASCII. Among those the XML declaration decides; without one it
    is UTF-8. A declaration that does not match _DECLARATION is refused, because libxml2 might read it differently.
    """
    for first_bytes, encoding in _FIRST_BYTES:
        if raw.startswith(first_bytes):
            return encoding or _refuse_encoding("UTF-32")
    start = raw.removeprefix(codecs.BOM_UTF8)
    if not start.startswith(b"<?xml") or not start[5:6].isspace():
        return "utf-8-sig"
    declaration = _DECLARATION.match(start[:_LONGEST_DECLARATION])
    if declaration is None:
        raise InvalidInvoice("A declaração XML não é válida ou é longa demais")
    name = (declaration[2] or b"utf-8").decode()
    encoding = _ENCODINGS.get(name.lower(), "") or _refuse_encoding(name)
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _refuse_encoding(name: str) -> NoReturn:
    raise InvalidInvoice(f"Codificação {name} não é aceita; use UTF-8, UTF-16, ISO-8859-1 ou windows-1252")


def _parse(text: str) -> etree._Element:
    # `collect_ids` keeps its default: without it libxml2 loads external DTDs although `load_dtd` is False.
    parser = etree.XMLParser(
        encoding="utf-8",  # overrides the declaration
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        raise InvalidInvoice(f"O arquivo não é um XML bem-formado. {_WHAT_TO_SEND}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise InvalidInvoice("O XML contém DOCTYPE, que não é aceito")
    return root


def _invoice_of(root: etree._Element) -> etree._Element:
    """The element infNFe below a root nfeProc or NFe, with any namespace prefix."""
    name = etree.QName(root)
    _refuse_other_documents(name.localname)
    nfe = root if name.localname == "NFe" else _child(root, "NFe")
    invoice = None if nfe is None else _child(nfe, "infNFe")
    if name.namespace not in _NAMESPACES or invoice is None:
        raise InvalidInvoice("O arquivo não é um XML de NF-e válido: falta NFe ou infNFe, ou o namespace é outro")
    return invoice


def _refuse_other_documents(root: str) -> None:
    """Raise InvalidInvoice, which says what the file is, unless its root is one of an NF-e."""
    if root in _EVENTS:
        raise InvalidInvoice(
            "O arquivo é um evento de NF-e (procEventoNFe), como um cancelamento, e não a própria nota. "
            f"{_WHAT_TO_SEND}"
        )
    if root not in _ROOTS:
        name = root[:_LONGEST_SHOWN]
        what = next((what for part, what in _OTHER_DOCUMENTS.items() if part in root.lower()), "um XML de outro tipo")
        raise InvalidInvoice(f"O arquivo é {what}: a raiz é {name}. {_WHAT_TO_SEND}")


def _extract(invoice: etree._Element) -> Nfe:
    items = list(islice(invoice.iterchildren("{*}det"), _MAX_ITEMS + 1))
    if len(items) > _MAX_ITEMS:
        raise InvalidInvoice(f"A nota fiscal tem mais de {_MAX_ITEMS} itens")
    root = invoice.getroottree().getroot()
    return Nfe(
        layout=_checked(_LAYOUT, invoice.get("versao", "").strip(), "versao"),
        access_key=_access_key(invoice, root),
        references=_references(invoice, items),
        issuer_document=_checked(_DOCUMENT, _text(invoice, "emit", "CNPJ") or _text(invoice, "emit", "CPF"), "emit"),
        number=_checked(_NUMBER, _text(invoice, "ide", "nNF"), "nNF"),
        series=_checked(_SERIES, _text(invoice, "ide", "serie"), "serie"),
        value=_value(_text(invoice, "total", "ICMSTot", "vNF")),
        issued_at=_moment(_text(invoice, "ide", "dhEmi") or _text(invoice, "ide", "dEmi")),
        model=_text(invoice, "ide", "mod")[:_LONGEST_MODEL],
        items=len(items),
        is_void=_is_void(root),
    )


def _is_void(root: etree._Element) -> bool:
    if _text(root, "protNFe", "infProt", "cStat") in _VOID:
        return True
    return any(
        _text(answer, "infEvento", "tpEvento") in _CANCELLATIONS and _text(answer, "infEvento", "cStat") in _REGISTERED
        for answer in root.iterchildren("{*}retEvento")
    )


def _access_key(invoice: etree._Element, root: etree._Element) -> str:
    """The access key from the Id of infNFe, or else from the protocol (protNFe)."""
    own = invoice.get("Id", "").strip().removeprefix("NFe")
    for key in (own, _text(root, "protNFe", "infProt", "chNFe")):
        if ACCESS_KEY.fullmatch(key):
            return key
    raise InvalidInvoice("A nota fiscal não traz uma chave de acesso de 44 caracteres")


def _references(invoice: etree._Element, items: list[etree._Element]) -> tuple[str, ...]:
    found = [_text(invoice, "compra", "xPed"), *(_text(item, "prod", "xPed") for item in items)]
    if any(len(reference) > _LONGEST_REFERENCE for reference in found):
        raise InvalidInvoice(f"xPed tem mais de {_LONGEST_REFERENCE} caracteres")
    return tuple(dict.fromkeys(reference for reference in found if reference))


def _checked(pattern: re.Pattern[str], text: str, name: str) -> str:
    if text and not pattern.fullmatch(text):
        raise InvalidInvoice(f"Valor inválido em {name}")
    return text


def _value(text: str) -> Decimal | None:
    return Decimal(_checked(_VALUE, text, "vNF")) if text else None


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


def _child(parent: etree._Element, name: str) -> etree._Element | None:
    """The first child with this local name, in any namespace."""
    return next(parent.iterchildren(f"{{*}}{name}"), None)


def _text(parent: etree._Element, *path: str) -> str:
    """Stripped text of the first element at `path`, or an empty string."""
    node: etree._Element | None = parent
    for name in path:
        node = None if node is None else _child(node, name)
    return "" if node is None else (node.text or "").strip()

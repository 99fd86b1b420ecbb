"""Parser of invoices (NF-e, layouts 2.00 to 4.00, and DC-e) from untrusted bytes. Pure.

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
from itertools import cycle, islice
from operator import mul
from typing import NoReturn

from lxml import etree

from integration.errors import InvalidInvoice, InvoiceTooLarge, refuse

MAX_BYTES = 2 * 1024 * 1024
_MAX_ITEMS = 1000
# 1,000 items of 100 elements have 200,000 tags. The tree of 250,000 tags takes less than 50 MB.
_MAX_TAGS = 250_000
_LONGEST_REFERENCE = 255
_LONGEST_SHOWN = 60
MOST_NOTES = 20  # in one file
_ROOTS = ("nfeProc", "NFe", "enviNFe", "dceProc", "procDCe", "DCe")
_NAMESPACES = ("http://www.portalfiscal.inf.br/nfe", "http://www.portalfiscal.inf.br/dce", None)
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
# Programs of .NET declare UTF-16, which their texts have in memory, also in files that are UTF-8.
_DECLARED_UTF_16 = "utf-16"
_LONGEST_DECLARATION = 200
_DECLARATION = re.compile(
    rb"""<\?xml\s+version\s*=\s*["']1\.[0-9]["'](\s+encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["'])?"""
    rb"""(\s+standalone\s*=\s*["'](yes|no)["'])?\s*\?>"""
)
_DOCTYPE = "<!DOCTYPE"
ACCESS_KEY = re.compile(r"[0-9A-Z]{44}")
_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9)  # of the check digit of an access key, from its right
_ZERO = ord("0")
# cStat of a protocol, in Anexo I of the Manual de Orientação do Contribuinte (github.com/nfephp-org/sped-nfe lists them
# in docs/cStat.md): the note is authorised; it was denied; it is cancelled. The last two are final for an access key.
AUTHORISED = ("100", "150")
_CANCELLED = ("101", "151", "155", "218")
_VOID = {"110", "205", "301", "302", "303", *_CANCELLED}
_LONGEST_STATUS = 3
# A cancellation is an event. Some programs keep the note with the event's answer (retEvento), or with the whole event,
# beside its protocol, which still says that the note is authorised (`Complements::cancelRegister` of sped-nfe).
# tpEvento, and cStat of the answer:
_CANCELLATIONS = {"110111", "110112"}
_REGISTERED = {"135", "136", "155"}
# Answers of the tax office about events, and to cancellations before there were events.
_ANSWERS_TO_EVENTS = ("{*}retEvento", "{*}retEventoDCe")
_ANSWER_TO_CANCELLATION = "{*}retCancNFe"
_TEST = "2"  # tpAmb
_RETURN, _INWARDS = "4", "0"  # finNFe, tpNF
CONSUMER_INVOICE, DCE = "65", "99"
# Of notes that accompany goods on their way.
MODELS = ("55", DCE)
_NAMES = {CONSUMER_INVOICE: "NFC-e", "57": "CT-e", DCE: "DC-e"}
_MODEL = slice(20, 22)  # of an access key
_LONGEST_MODEL = 2
_EVENTS = (
    "procEventoNFe", "envEvento", "evento", "retEvento", "retEnvEvento", "procCancNFe", "retCancNFe", "resEvento",
    "retConsSitNFe", "procEventoDCe", "eventoDCe", "retEventoDCe",
)  # fmt: skip  # a list of names
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
    "inutnfe": "uma inutilização de numeração (inutNFe)",
}
_NUMBER = re.compile(r"[0-9]{1,9}")
_SERIES = re.compile(r"[0-9]{1,3}")
_VALUE = re.compile(r"[0-9]{1,13}(\.[0-9]{1,2})?")
_ACCEPTED_DATE = "É aceita uma data de 1990 a 2199, como 2026-11-20T10:00:00-03:00"
_DOCUMENT = re.compile(r"[0-9A-Z]{11,14}")
# Layout 2.00 has dates without an offset, which are Brasília's.
_BRASILIA = timezone(timedelta(hours=-3))
_YEARS = range(1990, 2200)
# What is wrong with a file that is not well-formed, by libxml2's number of the error.
_FAULTS = {
    etree.ErrorTypes.ERR_DOCUMENT_EMPTY: "o texto não começa com <",
    etree.ErrorTypes.ERR_DOCUMENT_END: "há algo depois do fim do elemento raiz, ou o arquivo está cortado",
    etree.ErrorTypes.ERR_NAME_REQUIRED: "há um & ou um < sozinho; escreva &amp; ou &lt;",
    etree.ErrorTypes.ERR_ENTITYREF_SEMICOL_MISSING: "há um & sozinho; escreva &amp;",
    etree.ErrorTypes.ERR_UNDECLARED_ENTITY: "há uma entidade que o XML não conhece; escreva & como &amp;",
    etree.ErrorTypes.ERR_INVALID_CHAR: "há um caractere que o XML não aceita",
    etree.ErrorTypes.ERR_TAG_NAME_MISMATCH: "o elemento fechado não é o que foi aberto",
    etree.ErrorTypes.ERR_TAG_NOT_FINISHED: "um elemento não é fechado, ou o arquivo está cortado",
}


@dataclass(frozen=True)
class _Form:
    """What the elements of one kind of note are called. `value`: the path below infNFe or infDCe."""

    name: str
    layout: re.Pattern[str]
    layouts: str
    number: str
    value: tuple[str, ...]


_FORMS = (
    _Form("NFe", re.compile(r"(2\.0[0-9]|3\.[01][0-9]|4\.00)"), "2.00 a 4.00", "nNF", ("total", "ICMSTot", "vNF")),
    _Form("DCe", re.compile(r"1\.[0-9]{2}"), "1.00", "nDC", ("total", "vDC")),
)


@dataclass(frozen=True)
class Nfe:
    """Data of an invoice. Empty or None: not in the file. `references` (xPed) in the file's order, `value` in BRL.

    `model`: `55`, or `65` of an NFC-e, `99` of a DC-e. `items`: how many it has. `protocol`: the cStat of its protocol.
    `is_cancelled`: an event in the file says so. `is_test`: not of the tax office's live environment. `is_return`: of
    goods that come back or in.
    """

    access_key: str
    references: tuple[str, ...]
    issuer_document: str = ""
    recipient_document: str = ""
    number: str = ""
    series: str = ""
    value: Decimal | None = None
    issued_at: datetime | None = None
    layout: str = ""
    model: str = ""
    items: int = 0
    protocol: str = ""
    is_cancelled: bool = False
    is_test: bool = False
    is_return: bool = False

    @property
    def is_void(self) -> bool:
        """Whether the tax office has denied or cancelled it."""
        return self.is_cancelled or self.protocol in _VOID

    @property
    def is_rejected(self) -> bool:
        """Whether its protocol is neither an authorisation nor final."""
        return bool(self.protocol) and self.protocol not in (*AUTHORISED, *_VOID)

    @property
    def models(self) -> set[str]:
        """The models that the file and the access key name; more than one if they differ."""
        return {self.model, model_of(self.access_key)} - {""}


@dataclass(frozen=True)
class NfeFile:
    """What a file holds: notes, or else access keys of notes that it says are cancelled.

    `is_test`: the cancellation is of the tax office's test environment.
    """

    notes: tuple[Nfe, ...]
    cancelled: tuple[str, ...] = ()
    is_test: bool = False


def model_of(access_key: str) -> str:
    """The model that an access key names: `55` of an NF-e, `65` of an NFC-e, `99` of a DC-e."""
    return access_key[_MODEL]


def name_of(access_key: str) -> str:
    """What the note of an access key is called."""
    return _NAMES.get(model_of(access_key), "NF-e")


def is_access_key(text: str) -> bool:
    """Whether it has the form of an access key, and the check digit: modulo 11, letters as their ASCII code less 48."""
    if not ACCESS_KEY.fullmatch(text):
        return False
    digits = (code - _ZERO for code in reversed(text[:-1].encode()))
    rest = sum(map(mul, digits, cycle(_WEIGHTS))) % 11
    return text[-1] == str(0 if rest < 2 else 11 - rest)  # noqa: PLR2004  # 10 and 11 have one digit too many


def may_accompany_goods(access_key: str) -> bool:
    """Whether it is the access key of a note that accompanies goods on their way, and its check digit is right."""
    return is_access_key(access_key) and model_of(access_key) in MODELS


def read(raw: bytes, *, access_key: str = "") -> Nfe:
    """The note of a file: that with the access key if it has several. Raises as `read_file`, and without a note."""
    notes = read_file(raw).notes
    found = next((note for note in notes if note.access_key == access_key), notes[0] if notes else None)
    if found is None:
        raise InvalidInvoice(f"O arquivo não tem uma nota. {_WHAT_TO_SEND}")
    return found


def read_file(raw: bytes) -> NfeFile:
    """Parse a file. Raises InvoiceTooLarge over MAX_BYTES, InvalidInvoice with the reason for any other fault."""
    if len(raw) > MAX_BYTES:
        raise InvoiceTooLarge
    _refuse_other_files(raw)
    text = _decoded(raw)
    if _DOCTYPE in text:
        raise InvalidInvoice("O XML contém DOCTYPE, que não é aceito")
    if text.count("<") > _MAX_TAGS:
        raise InvalidInvoice("O XML tem elementos demais")
    root = _parse(_without_late_declaration(text))
    name = etree.QName(root)
    _refuse_other_documents(name.localname)
    if name.namespace not in _NAMESPACES:
        raise InvalidInvoice(
            f"O namespace da raiz é '{(name.namespace or '')[:_LONGEST_SHOWN]}'; o da NF-e é '{_NAMESPACES[0]}'"
        )
    cancellations = _cancellations(root)
    if name.localname in _EVENTS:
        return _cancelled(root, cancellations)
    return NfeFile(_notes(root, cancellations))


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

    The first bytes distinguish UTF-16 from supersets of ASCII. Among those the XML declaration decides; without one,
    and where it declares UTF-16, it is UTF-8. A declaration that does not match _DECLARATION is refused, because
    libxml2 might read it differently.
    """
    for first_bytes, encoding in _FIRST_BYTES:
        if raw.startswith(first_bytes):
            return encoding or _refuse_encoding("UTF-32")
    start = raw.removeprefix(codecs.BOM_UTF8).lstrip()
    if not start.startswith(b"<?xml") or not start[5:6].isspace():
        return "utf-8-sig"
    declaration = _DECLARATION.match(start[:_LONGEST_DECLARATION])
    if declaration is None:
        raise InvalidInvoice("A declaração XML não é válida ou é longa demais")
    name = (declaration[2] or b"utf-8").decode()
    if name.lower() == _DECLARED_UTF_16:
        return "utf-8-sig"
    encoding = _ENCODINGS.get(name.lower(), "") or _refuse_encoding(name)
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _refuse_encoding(name: str) -> NoReturn:
    raise InvalidInvoice(f"Codificação {name} não é aceita; use UTF-8, UTF-16, ISO-8859-1 ou windows-1252")


def _without_late_declaration(text: str) -> str:
    """The text without an XML declaration behind white space, where XML allows none. Lines keep their numbers."""
    start = len(text) - len(text.lstrip())
    end = text.find("?>", start, start + _LONGEST_DECLARATION) if start else -1
    if end < 0 or not text.startswith("<?xml", start) or not text[start + 5].isspace():
        return text
    return text[:start] + text[end + 2 :]


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
    except etree.XMLSyntaxError as error:
        line, column = error.position
        fault = _FAULTS.get(error.code, "")  # type: ignore[attr-defined]  # the stubs lack it
        message = f"O arquivo não é um XML bem-formado (linha {line}, coluna {column})"
        message += f": {fault}. {_WHAT_TO_SEND}" if fault else f". {_WHAT_TO_SEND}"
        raise InvalidInvoice(message) from error
    except (ValueError, LookupError) as error:
        raise InvalidInvoice(f"O arquivo não é um XML bem-formado. {_WHAT_TO_SEND}") from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise InvalidInvoice("O XML contém DOCTYPE, que não é aceito")
    return root


def _refuse_other_documents(root: str) -> None:
    """Raise InvalidInvoice, which says what the file is, unless its root is one of a note or of an event."""
    if root not in (*_ROOTS, *_EVENTS):
        name = root[:_LONGEST_SHOWN]
        what = next((what for part, what in _OTHER_DOCUMENTS.items() if part in root.lower()), "um XML de outro tipo")
        raise InvalidInvoice(f"O arquivo é {what}: a raiz é {name}. {_WHAT_TO_SEND}")


@dataclass(frozen=True)
class _Cancellation:
    """An access key that is cancelled, empty where the answer does not name it."""

    access_key: str
    is_test: bool


def _cancellations(root: etree._Element) -> list[_Cancellation]:
    """The cancellations that the tax office has registered, wherever they stand in the file."""
    found = []
    for answer in root.iter(*_ANSWERS_TO_EVENTS):
        event = _node(answer, "infEvento")
        if event is not None and _text(event, "tpEvento") in _CANCELLATIONS and _text(event, "cStat") in _REGISTERED:
            found.append(_Cancellation(_named_key(event), _text(event, "tpAmb") == _TEST))
    for answer in root.iter(_ANSWER_TO_CANCELLATION):
        event = _node(answer, "infCanc")
        if event is not None and _text(event, "cStat") in _CANCELLED:
            found.append(_Cancellation(_named_key(event), _text(event, "tpAmb") == _TEST))
    return found


def _named_key(parent: etree._Element) -> str:
    return _text(parent, "chNFe") or _text(parent, "chDCe")


def _cancelled(root: etree._Element, cancellations: list[_Cancellation]) -> NfeFile:
    """A file that is an event. Raises InvalidInvoice unless it is a registered cancellation."""
    keys = tuple(dict.fromkeys(each.access_key for each in cancellations if ACCESS_KEY.fullmatch(each.access_key)))
    if len(keys) > MOST_NOTES:
        raise InvalidInvoice(f"O arquivo cancela mais de {MOST_NOTES} notas; envie menos de cada vez")
    if not keys:
        name = etree.QName(root).localname
        event = next(root.iter("{*}tpEvento"), None)
        answer = next((_text(each, "infEvento", "cStat") for each in root.iter(*_ANSWERS_TO_EVENTS)), "")
        facts = ", ".join(
            f"{what} {text[:_LONGEST_SHOWN]}"
            for what, text in (("tpEvento", _content(event)), ("cStat", answer))
            if text
        )
        raise InvalidInvoice(
            f"O arquivo é um evento de NF-e ({name}{f', {facts}' if facts else ''}), e não a própria nota nem o "
            f"cancelamento dela registrado pela SEFAZ (tpEvento 110111 ou 110112, cStat 135, 136 ou 155). "
            f"{_WHAT_TO_SEND}, ou o procEventoNFe do cancelamento"
        )
    return NfeFile((), keys, is_test=any(each.is_test for each in cancellations))


def _notes(root: etree._Element, cancellations: list[_Cancellation]) -> tuple[Nfe, ...]:
    """The notes below a root, or the root that is one, with any namespace prefix."""
    found = [
        (form, invoice)
        for form in _FORMS
        for note in ([root] if etree.QName(root).localname == form.name else root.iterchildren(f"{{*}}{form.name}"))
        if (invoice := _child(note, f"inf{form.name}")) is not None
    ]
    if not found:
        raise InvalidInvoice(f"Falta o elemento NFe, ou infNFe dentro dele. {_WHAT_TO_SEND}")
    if len(found) > MOST_NOTES:
        raise InvalidInvoice(f"O arquivo tem mais de {MOST_NOTES} notas; envie menos de cada vez")
    is_only = len(found) == 1
    notes: list[Nfe] = []
    faults: dict[str, InvalidInvoice] = {}
    for place, (form, invoice) in enumerate(found):
        try:
            notes.append(_extract(form, invoice, root, cancellations, is_only=is_only))
        except InvalidInvoice as error:
            faults["nfe" if is_only else f"nfe.{place}"] = error
    refuse(faults)
    return tuple({note.access_key: note for note in notes}.values())


def _extract(
    form: _Form, invoice: etree._Element, root: etree._Element, cancellations: list[_Cancellation], *, is_only: bool
) -> Nfe:
    items = list(islice(invoice.iterchildren("{*}det"), _MAX_ITEMS + 1))
    if len(items) > _MAX_ITEMS:
        raise InvalidInvoice(f"A nota fiscal tem mais de {_MAX_ITEMS} itens")
    protocols = [
        inner for each in root.iterchildren(f"{{*}}prot{form.name}") if (inner := _child(each, "infProt")) is not None
    ]
    key = _access_key(form, invoice, protocols if is_only else [])
    names = (key, "") if is_only else (key,)  # what names no key is about the only note
    own = next((each for each in protocols if _named_key(each) in names), None)
    layout = invoice.get("versao", "").strip()
    if layout and not form.layout.fullmatch(layout):
        _refuse_value("versao", layout, invoice, f"É aceito o layout {form.layouts}")
    value = _checked(_VALUE, invoice, form.value, "Use ponto e no máximo duas casas, sem separador de milhar: 150.50")
    return Nfe(
        layout=layout,
        access_key=key,
        references=_references(invoice, items),
        issuer_document=_issuer(invoice),
        recipient_document=_recipient(invoice),
        number=_checked(_NUMBER, invoice, ("ide", form.number), "São 1 a 9 dígitos"),
        series=_checked(_SERIES, invoice, ("ide", "serie"), "São 1 a 3 dígitos"),
        value=Decimal(value) if value else None,
        issued_at=_moment(invoice),
        model=_text(invoice, "ide", "mod")[:_LONGEST_MODEL],
        items=len(items),
        protocol="" if own is None else _text(own, "cStat")[:_LONGEST_STATUS],
        is_cancelled=any(each.access_key in names for each in cancellations),
        is_test=_text(invoice, "ide", "tpAmb") == _TEST,
        is_return=_text(invoice, "ide", "finNFe") == _RETURN or _text(invoice, "ide", "tpNF") == _INWARDS,
    )


def _access_key(form: _Form, invoice: etree._Element, protocols: list[etree._Element]) -> str:
    """The access key from the Id of infNFe, or else from the protocol (protNFe)."""
    own = invoice.get("Id", "").strip()
    for key in (own.removeprefix(form.name), *(_named_key(each) for each in protocols)):
        if ACCESS_KEY.fullmatch(key):
            return key
    raise InvalidInvoice(
        f"A nota fiscal não traz uma chave de acesso de 44 caracteres: o Id de inf{form.name} "
        f"(linha {invoice.sourceline}) é '{own[:_LONGEST_SHOWN]}', e deve ser {form.name} seguido da chave"
    )


def _references(invoice: etree._Element, items: list[etree._Element]) -> tuple[str, ...]:
    nodes = [_node(invoice, "compra", "xPed"), *(_node(item, "prod", "xPed") for item in items)]
    for node in nodes:
        if node is not None and len(_content(node)) > _LONGEST_REFERENCE:
            raise InvalidInvoice(
                f"xPed tem mais de {_LONGEST_REFERENCE} caracteres (linha {node.sourceline}); o layout permite 15"
            )
    return tuple(dict.fromkeys(filter(None, map(_content, nodes))))


def _issuer(invoice: etree._Element) -> str:
    document = _text(invoice, "emit", "CNPJ") or _text(invoice, "emit", "CPF")
    if document and not _DOCUMENT.fullmatch(document):  # which the message does not repeat: a CPF is a person's
        line = getattr(_node(invoice, "emit"), "sourceline", None)
        raise InvalidInvoice(
            f"Valor inválido em emit (linha {line}): tem {len(document)} caracteres. "
            "Um CNPJ tem 14 dígitos ou letras maiúsculas e um CPF 11 dígitos, sem máscara"
        )
    return document


def _recipient(invoice: etree._Element) -> str:
    """The document of `dest`, or an empty text: it only confirms what is found by other means."""
    document = _text(invoice, "dest", "CNPJ") or _text(invoice, "dest", "CPF")
    return document if _DOCUMENT.fullmatch(document) else ""


def _checked(pattern: re.Pattern[str], invoice: etree._Element, path: tuple[str, ...], accepted: str) -> str:
    """The text at `path`. Raises InvalidInvoice with `accepted` unless it is empty or fits the pattern."""
    node = _node(invoice, *path)
    text = _content(node)
    if node is not None and text and not pattern.fullmatch(text):
        _refuse_value(path[-1], text, node, accepted)
    return text


def _refuse_value(name: str, text: str, node: etree._Element, accepted: str) -> NoReturn:
    raise InvalidInvoice(f"Valor inválido em {name} (linha {node.sourceline}): '{text[:_LONGEST_SHOWN]}'. {accepted}")


def _moment(invoice: etree._Element) -> datetime | None:
    for name in ("dhEmi", "dEmi"):
        node = _node(invoice, "ide", name)
        text = _content(node)
        if node is None or not text:
            continue
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            _refuse_value(name, text, node, _ACCEPTED_DATE)
        if moment.year not in _YEARS:
            _refuse_value(name, text, node, _ACCEPTED_DATE)
        return moment if moment.tzinfo else moment.replace(tzinfo=_BRASILIA)
    return None


def _child(parent: etree._Element, name: str) -> etree._Element | None:
    """The first child with this local name, in any namespace."""
    return next(parent.iterchildren(f"{{*}}{name}"), None)


def _node(parent: etree._Element, *path: str) -> etree._Element | None:
    """The first element at `path`."""
    node: etree._Element | None = parent
    for name in path:
        node = None if node is None else _child(node, name)
    return node


def _content(node: etree._Element | None) -> str:
    """The stripped text of an element, or an empty string."""
    return "" if node is None else (node.text or "").strip()


def _text(parent: etree._Element, *path: str) -> str:
    """Stripped text of the first element at `path`, or an empty string."""
    return _content(_node(parent, *path))

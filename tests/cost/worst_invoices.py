"""Invoices of the largest size that is taken, each the worst for some part of an XML reader."""

from collections.abc import Callable

from integration.invoices.nfe import MAX_BYTES
from tests.integration.factories import nfe_xml

# Room for the invoice around it.
_SIZE = MAX_BYTES - 2048
# Below the limit of tags.
_TAGS = 249_000


def _before_items(extra: str) -> str:
    return nfe_xml().replace("<det ", f"{extra}<det ", 1)


def _filled(unit: str, most: int = _TAGS) -> str:
    return _before_items(unit * min(most, _SIZE // len(unit.encode())))


def _reference(text: str) -> str:
    return nfe_xml(items=(text,))


def _attributes(name: Callable[[int], str]) -> str:
    return " ".join(f'{name(number)}=""' for number in range(_SIZE // 16))


def _with_namespace(length: int) -> str:
    """Elements whose "{namespace}name" together would be thousands of times as long as the file."""
    elements = "<x:a/>" * ((_SIZE - length) // 6)
    return nfe_xml().replace("<ide>", f"{elements}<ide>", 1).replace("<NFe>", f'<NFe xmlns:x="{"n" * length}">')


def _attributes_with_namespace(length: int) -> str:
    attributes = " ".join(f'x:a{number}=""' for number in range((_SIZE - length) // 14))
    return nfe_xml().replace("<NFe>", f'<NFe xmlns:x="{"n" * length}" {attributes}>')


def _namespaces() -> str:
    count = _SIZE // 45
    declared = " ".join(f'xmlns:p{number}="u{number}"' for number in range(count))
    used = "".join(f"<p{number}:a/>" for number in range(count))
    return nfe_xml().replace("<NFe>", f"<NFe {declared}>").replace("<ide>", f"{used}<ide>", 1)


TEXTS = {
    "many children": lambda: _filled("<a/>"),
    "children with text": lambda: _filled("<a>1</a>", _TAGS // 2),
    "children with attributes": lambda: _filled('<a b="1" c="2"/>'),
    "children with a namespace each": lambda: _filled('<a xmlns="u"/>'),
    "children with an undeclared prefix": lambda: _filled("<p:a/>"),
    "siblings around an undeclared prefix": lambda: _filled("<a><p:b/></a>", _TAGS // 3),
    "children with the same id": lambda: _filled('<a xml:id="a"/>'),
    "children with a wrong language": lambda: _filled('<a xml:lang="-"/>'),
    "many ide": lambda: nfe_xml().replace("<ide>", "<ide/>" * 200_000 + "<ide>"),
    "many prod": lambda: nfe_xml().replace("<prod>", "<prod/>" * 200_000 + "<prod>"),
    "many det": lambda: _filled("<det/>"),
    "many compra": lambda: _filled("<compra/>", 200_000),
    "many xPed": lambda: nfe_xml().replace("<xPed>", "<xPed/>" * 200_000 + "<xPed>"),
    "a long namespace on many elements": lambda: _with_namespace(_SIZE // 2),
    "a shorter namespace on more elements": lambda: _with_namespace(50_000),
    "a long namespace on many attributes": lambda: _attributes_with_namespace(_SIZE // 2),
    "a long namespace of the root": lambda: nfe_xml().replace("portalfiscal", "n" * _SIZE),
    "many namespaces": _namespaces,
    "many attributes": lambda: nfe_xml().replace("<infNFe ", f"<infNFe {_attributes(lambda number: f'a{number}')} "),
    "many attributes of one hash prefix": lambda: nfe_xml().replace(
        "<infNFe ", f"<infNFe {_attributes(lambda number: f'a{number:010}')} "
    ),
    "long names": lambda: _filled(f"<{'n' * 49_000}/>"),
    "a name too long": lambda: _filled(f"<{'n' * 60_000}/>"),
    "a name as long as the file": lambda: _filled(f"<{'n' * (_SIZE - 10)}/>"),
    "an attribute as long as the file": lambda: _filled(f'<a b="{"1" * (_SIZE - 10)}"/>'),
    "an attribute of references": lambda: _filled(f'<a b="{"&#65;" * (_SIZE // 5 - 10)}"/>'),
    "deep": lambda: _before_items("<a>" * 100_000),
    "deep and closed": lambda: _filled("<a>" * 200 + "</a>" * 200, 600),
    "deep with a namespace on each level": lambda: _before_items(
        "".join(f'<a xmlns:p{level}="u">' for level in range(200)) + "<p0:b/>" * 200_000 + "</a>" * 200
    ),
    "a long text": lambda: _reference("x" * _SIZE),
    "a text of spaces": lambda: _reference(" " * _SIZE),
    "a text of references": lambda: _reference("&#65;" * (_SIZE // 5)),
    "a text in pieces of CDATA": lambda: _reference("<![CDATA[x]]>" * (_SIZE // 13)),
    "a text in pieces of both kinds": lambda: _reference("&#65;<![CDATA[x]]>" * (_SIZE // 18)),
    "a text between comments": lambda: _reference("1<!---->" * (_SIZE // 8)),
    "a long CDATA": lambda: _before_items(f"<![CDATA[{']]' * (_SIZE // 2 - 20)}]]>"),
    "many comments": lambda: _filled("<!---->"),
    "a long comment": lambda: _before_items(f"<!--{'- ' * (_SIZE // 2 - 20)}-->"),
    "many processing instructions": lambda: _filled("<?a?>"),
    "a long processing instruction": lambda: _before_items(f"<?a {'? ' * (_SIZE // 2 - 20)}?>"),
    "a long value": lambda: nfe_xml().replace("150.50", "1" * _SIZE),
    "a long date": lambda: nfe_xml().replace("2026-11-20T", "1" * _SIZE),
    "a long key": lambda: nfe_xml(key="1" * _SIZE, status=""),
    "a long layout": lambda: nfe_xml().replace('versao="4.00"', f'versao="{"4" * (_SIZE // 2)}"'),
    "a long number": lambda: nfe_xml().replace("<nNF>123", f"<nNF>{'1' * _SIZE}"),
    "a long document": lambda: nfe_xml().replace("<CNPJ>", f"<CNPJ>{'1' * _SIZE}"),
    "a declaration of spaces": lambda: f'<?xml version="1.0"{" " * _SIZE}?>',
    "a declaration of spaces before its encoding": lambda: f'<?xml version="1.0"{" " * _SIZE}encoding="UTF-8"?>',
    "spaces before the root": lambda: " " * _SIZE + "<a/>",
    "tags beyond the limit": lambda: "<" * _SIZE,
    "ampersands": lambda: _before_items("&" * _SIZE),
    "brackets": lambda: _before_items("]]>" * (_SIZE // 3)),
}

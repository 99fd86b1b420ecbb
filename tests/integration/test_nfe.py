import codecs
import resource
import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from integration import nfe
from integration.errors import BodyTooLarge, InvalidInvoice
from tests.integration.factories import ACCESS_KEY, nfe_xml

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{}]><x>&j;</x>'.format(
    "".join(f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in zip("abcdefghi", "bcdefghij", strict=True))
)
PROLOG = '<?xml version="1.0" encoding="{}"?>\n'
# Further from its beginning than anybody writes it.
PADDED = PROLOG.replace(" encoding", " " * 300 + "encoding")


def prefixed():
    """The same invoice with its namespace bound to a prefix."""
    text = nfe_xml().replace("xmlns=", "xmlns:n=").replace("</", "</n:")
    return "<n:".join(text.split("<")).replace("<n:/n:", "</n:").removeprefix("")


class TestRead:
    def test_gives_what_the_invoice_says(self):
        read = nfe.read(nfe_xml(items=("A-1", "", "A-2", "A-1"), compra="C-9").encode())

        assert read == nfe.Nfe(
            access_key=ACCESS_KEY,
            references=("C-9", "A-1", "A-2"),
            issuer_document="11222333000181",
            number="123",
            series="1",
            value=Decimal("150.50"),
            issued_at=datetime(2026, 11, 20, 13, tzinfo=UTC),
            layout="4.00",
        )

    @pytest.mark.parametrize("name", ["UTF-8", "utf-8", "ISO-8859-1", "windows-1252", "UTF-16"])
    def test_takes_an_encoding(self, name):
        raw = (PROLOG.format(name) + nfe_xml()).encode(name)

        assert nfe.read(raw).references == ("A-1",)

    def test_takes_us_ascii(self):
        raw = (PROLOG.format("US-ASCII") + nfe_xml()).encode("ascii", "xmlcharrefreplace")

        assert nfe.read(raw).references == ("A-1",)

    @pytest.mark.parametrize(
        "raw",
        [
            codecs.BOM_UTF8 + nfe_xml().encode(),
            codecs.BOM_UTF8 + (PROLOG.format("UTF-8") + nfe_xml()).encode(),
            codecs.BOM_UTF16_BE + nfe_xml().encode("utf-16-be"),
            (PROLOG.format("UTF-16") + nfe_xml()).encode("utf-16-le"),
            prefixed().encode(),
            nfe_xml().replace("<NFe>", "<!-- xPed --><NFe>").encode(),
            nfe_xml().replace("A-1", "<![CDATA[A-1]]>").encode(),
        ],
    )
    def test_takes_a_form(self, raw):
        assert nfe.read(raw).references == ("A-1",)

    @pytest.mark.parametrize("layout", ["2.00", "3.10", "4.00"])
    def test_takes_a_layout(self, layout):
        assert nfe.read(nfe_xml(layout=layout).encode()).issued_at is not None

    def test_takes_an_nfe_without_its_protocol(self):
        text = nfe_xml()
        bare = text[text.index("<NFe>") : text.index("</nfeProc>")].replace(
            "<NFe>", '<NFe xmlns="http://www.portalfiscal.inf.br/nfe">'
        )

        assert nfe.read(bare.encode()).access_key == ACCESS_KEY

    def test_takes_a_key_with_letters_and_one_from_the_protocol(self):
        key = ACCESS_KEY[:6] + "12ABC34501DE35" + ACCESS_KEY[20:]
        protocol = f"<protNFe><infProt><chNFe>{key}</chNFe></infProt></protNFe></nfeProc>"

        assert nfe.read(nfe_xml(key=key).encode()).access_key == key
        assert nfe.read(nfe_xml(key="").replace("</nfeProc>", protocol).encode()).access_key == key

    def test_takes_a_thousand_items(self):
        assert len(nfe.read(nfe_xml(items=tuple(f"A-{n}" for n in range(1000))).encode()).references) == 1000


HOSTILE = {
    "empty": b"",
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
    "html": b"<html><body>NF-e</body></html>",
    "truncated": nfe_xml().encode()[:-20],
    "nul": nfe_xml().encode().replace(b"A-1", b"A\0"),
    "not utf-8": nfe_xml().encode("latin-1"),
    "file entity": b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>',
    "http entity": b'<!DOCTYPE x [<!ENTITY e SYSTEM "http://127.0.0.1:1/">]><x>&e;</x>',
    "parameter entity": b'<!DOCTYPE x [<!ENTITY % e SYSTEM "http://127.0.0.1:1/x.dtd"> %e;]><x/>',
    "doctype in utf-16": ('<!DOCTYPE x SYSTEM "x.dtd">' + nfe_xml()).encode("utf-16"),
    "billion laughs": BOMB.encode(),
    "quadratic blow-up": f'<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]><x>{"&a;" * 50_000}</x>'.encode(),
    "undefined entity": nfe_xml().replace("A-1", "&e;").encode(),
    "deep": b"<a>" * 100_000 + b"</a>" * 100_000,
    "deep inside": nfe_xml().replace("<xPed>A-1", "<a>" * 100_000 + "<xPed>A-1").encode(),
    "many elements": b"<a>" + b"<b/>" * 500_000 + b"</a>",
    "many attributes": b"<a " + b" ".join(b'a%d=""' % n for n in range(150_000)) + b"/>",
    "utf-7": (PROLOG.format("UTF-7") + nfe_xml()).encode("utf-7"),
    "utf-32": nfe_xml().encode("utf-32"),
    "utf-32 without its mark": nfe_xml().encode("utf-32-be"),
    "utf-32 without its mark, little-endian": nfe_xml().encode("utf-32-le"),
    "declared utf-32 behind spaces": (PADDED.format("UTF-32") + nfe_xml()).encode("utf-32-le"),
    "declared utf-7 behind spaces": (PADDED.format("UTF-7") + nfe_xml()).encode("utf-7"),
    "declared utf-7 before its version": b'<?xml encoding="UTF-7" version="1.0"?>' + nfe_xml().encode("utf-7"),
    "declared utf-7 without a version": b'<?xml encoding="UTF-7"?>' + nfe_xml().encode("utf-7"),
    "declared twice": PROLOG.format("UTF-8").replace("?>", ' encoding="UTF-7"?>').encode() + nfe_xml().encode("utf-7"),
    "declared by an alias": (PROLOG.format("unicode-1-1-utf-7") + nfe_xml()).encode("utf-7"),
    "utf-16 within utf-16": f"<!DOCTYPE x>{nfe_xml()}".encode("utf-16-le").decode("latin-1").encode("utf-16"),
    "utf-16 within utf-8": nfe_xml().encode("utf-16-le").decode("latin-1").encode(),
    "half a utf-16 character": nfe_xml().encode("utf-16") + b"a",
    "lone surrogate": nfe_xml().replace("A-1", "\ud800").encode("utf-16", "surrogatepass"),
    "cp1252 without a meaning": PROLOG.format("windows-1252").encode() + nfe_xml().encode("cp1252") + b"\x81",
    "ebcdic": (PROLOG.format("cp037") + nfe_xml()).encode("cp037", "replace"),
    "declared utf-16, is utf-8": (PROLOG.format("UTF-16") + nfe_xml()).encode(),
    "1001 items": nfe_xml(items=("A",) * 1001).encode(),
    "another layout": nfe_xml(layout="5.00").encode(),
    "no key": nfe_xml(key="").encode(),
    "short key": nfe_xml(key="123").encode(),
    "another namespace": nfe_xml().replace("portalfiscal", "elsewhere").encode(),
    "no invoice": b'<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe"/>',
    "value": nfe_xml().replace("150.50", "NaN").encode(),
    "full-width number": nfe_xml().replace("<nNF>123", "<nNF>１２３").encode(),
    "date": nfe_xml().replace("2026-11-20T10", "0001-01-01T10").encode(),
    "long reference": nfe_xml(items=("x" * 256,)).encode(),
}


class TestRefuse:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be", "utf-32-be"])
    @pytest.mark.parametrize("prolog", ["", PROLOG, PADDED])
    def test_a_doctype_in_any_encoding(self, encoding, prolog):
        text = prolog.format(encoding) + "<!DOCTYPE nfeProc>" + nfe_xml()

        with pytest.raises(InvalidInvoice):
            nfe.read(text.encode(encoding))

    @pytest.mark.parametrize("name", HOSTILE)
    def test_a_file_in_under_a_second_and_bounded_memory(self, name):
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        with pytest.raises(InvalidInvoice):
            nfe.read(HOSTILE[name])

        assert time.monotonic() - started < 1
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # KiB

    def test_a_file_beyond_two_mebibytes(self):
        with pytest.raises(BodyTooLarge):
            nfe.read(b" " * (nfe.MAX_BYTES + 1))

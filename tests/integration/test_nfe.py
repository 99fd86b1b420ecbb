"""How the XML of an invoice is read, and what is refused."""

import codecs
import gzip
import io
import re
import zipfile
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from integration import nfe
from integration.errors import InvalidInvoice, InvoiceTooLarge
from tests.integration.factories import ACCESS_KEY, nfe_xml

BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{}]><x>&j;</x>'.format(
    "".join(f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in zip("abcdefghi", "bcdefghij", strict=True))
)
PROLOG = '<?xml version="1.0" encoding="{}"?>\n'
# With the encoding beyond the first 200 bytes.
PADDED = PROLOG.replace(" encoding", " " * 300 + "encoding")
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
    "a layout between two": nfe_xml(layout="3.20").encode(),
    "long number": nfe_xml().replace("<nNF>123", "<nNF>" + "1" * 10).encode(),
    "long series": nfe_xml().replace("<serie>1<", "<serie>1000<").encode(),
    "three decimal places": nfe_xml().replace("150.50", "150.505").encode(),
    "issuer": nfe_xml().replace("<CNPJ>1", "<CNPJ>11").encode(),
    "no key": nfe_xml(key="").encode(),
    "short key": nfe_xml(key="123").encode(),
    "another namespace": nfe_xml().replace("portalfiscal", "elsewhere").encode(),
    "another root": nfe_xml().replace("nfeProc", "enviNFe").encode(),
    "no invoice": b'<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe"/>',
    "value": nfe_xml().replace("150.50", "NaN").encode(),
    "full-width number": nfe_xml().replace("<nNF>123", "<nNF>１２３").encode(),
    "date": nfe_xml().replace("2026-11-20T10", "0001-01-01T10").encode(),
    "not a date": nfe_xml().replace("2026-11-20T10", "2026-13-20T10").encode(),
    "early year": nfe_xml().replace("2026-11-20T10", "1989-12-31T23").encode(),
    "late year": nfe_xml().replace("2026-11-20T10", "2200-01-01T00").encode(),
    "long reference": nfe_xml(items=("x" * 256,)).encode(),
}


def prefixed():
    """The same invoice with its namespace bound to a prefix."""
    text = nfe_xml().replace("xmlns=", "xmlns:n=").replace("</", "</n:")
    return "<n:".join(text.split("<")).replace("<n:/n:", "</n:")


class TestRead:
    def test_returns_the_data_of_the_invoice(self):
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
            model="55",
            items=4,
        )

    @pytest.mark.parametrize("name", ["UTF-8", "utf-8", "ISO-8859-1", "windows-1252", "UTF-16"])
    def test_takes_an_encoding(self, name):
        raw = (PROLOG.format(name) + nfe_xml(items=("Ç-1",))).encode(name)

        assert nfe.read(raw).references == ("Ç-1",)

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

    @pytest.mark.parametrize("layout", ["", "2.00", "2.09", "3.00", "3.10", "3.19", "4.00"])
    def test_takes_a_layout(self, layout):
        assert nfe.read(nfe_xml(layout=layout).encode()).layout == layout

    def test_takes_a_date_without_an_offset_for_midnight_in_brasilia(self):
        assert nfe.read(nfe_xml(layout="2.00").encode()).issued_at == datetime(2012, 3, 4, 3, tzinfo=UTC)

    def test_takes_the_offset_that_a_time_has(self):
        raw = nfe_xml().replace("10:00:00-03:00", "10:00:00-04:00").encode()

        assert nfe.read(raw).issued_at == datetime(2026, 11, 20, 14, tzinfo=UTC)

    def test_takes_an_invoice_without_a_namespace(self):
        raw = nfe_xml().replace(' xmlns="http://www.portalfiscal.inf.br/nfe"', "").encode()

        assert nfe.read(raw).access_key == ACCESS_KEY

    @pytest.mark.parametrize(("written", "year"), [("1990-01-01T00:00:00-03:00", 1990), ("2199-12-31T23:59:59Z", 2199)])
    def test_takes_the_first_and_the_last_year(self, written, year):
        raw = nfe_xml().replace("2026-11-20T10:00:00-03:00", written).encode()

        issued_at = nfe.read(raw).issued_at
        assert issued_at is not None
        assert issued_at.year == year

    @pytest.mark.parametrize(
        ("tag", "value"),
        [("nNF", "9" * 9), ("serie", "999"), ("vNF", "9" * 13 + ".99"), ("vNF", "1"), ("CNPJ", "1" * 14)],
    )
    def test_takes_the_longest_value(self, tag, value):
        raw = re.sub(f"<{tag}>[^<]*", f"<{tag}>{value}", nfe_xml()).encode()

        assert value in map(str, vars(nfe.read(raw)).values())

    def test_takes_the_issuers_cpf(self):
        raw = nfe_xml().replace("<CNPJ>11222333000181</CNPJ>", "<CPF>52998224725</CPF>").encode()

        assert nfe.read(raw).issuer_document == "52998224725"

    def test_takes_a_reference_of_the_greatest_length_without_the_space_around_it(self):
        assert nfe.read(nfe_xml(items=(f" {'x' * 255}\n",)).encode()).references == ("x" * 255,)

    def test_takes_an_nfe_without_its_protocol(self):
        assert nfe.read(bare("<NFe ").encode()).access_key == ACCESS_KEY

    def test_takes_a_key_with_letters_and_one_from_the_protocol(self):
        key = ACCESS_KEY[:6] + "12ABC34501DE35" + ACCESS_KEY[20:]
        protocol = f"<protNFe><infProt><chNFe>{key}</chNFe></infProt></protNFe></nfeProc>"

        assert nfe.read(nfe_xml(key=key).encode()).access_key == key
        assert nfe.read(nfe_xml(key="").replace("</nfeProc>", protocol).encode()).access_key == key


def zipped(raw):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("nota.xml", raw)
    return file.getvalue()


def peak():
    """The most memory that this process has occupied since `new_peak`, in KiB."""
    (found,) = re.findall(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found)


def new_peak():
    """Begin with the present size. What getrusage() tells is the peak of the process's whole life."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


class TestConsumerInvoice:
    @pytest.mark.parametrize(
        ("written", "key", "is_one"),
        [
            ("55", ACCESS_KEY, False),
            ("65", ACCESS_KEY, True),
            ("55", f"{ACCESS_KEY[:20]}65{ACCESS_KEY[22:]}", True),
            ("x" * 9999, ACCESS_KEY, False),
        ],
    )
    def test_is_one_of_model_65(self, written, key, is_one):
        read = nfe.read(nfe_xml(key=key).replace("<mod>55", f"<mod>{written}").encode())

        assert read.is_consumer_invoice == is_one


class TestVoid:
    """Whether the tax office has denied or cancelled the note."""

    @pytest.mark.parametrize(
        "status",
        # Anexo I of the Manual de Orientação do Contribuinte: denied, and cancelled.
        ["110", "205", "301", "302", "303", "101", "151", "155", "218"],
    )
    def test_is_what_the_protocol_says(self, status):
        assert nfe.read(nfe_xml(status=status).encode()).is_void

    @pytest.mark.parametrize("status", ["", "100", "150"])
    def test_is_no_note_that_is_authorised_or_has_no_protocol(self, status):
        assert not nfe.read(nfe_xml(status=status).encode()).is_void

    @pytest.mark.parametrize(
        ("kind", "status", "is_void"),
        [
            *[(kind, status, True) for kind in ("110111", "110112") for status in ("135", "136", "155")],
            ("110111", "573", False),  # refused
            ("110110", "135", False),  # a letter of correction
        ],
    )
    def test_is_what_the_answer_to_a_cancellation_beside_it_says(self, kind, status, is_void):
        answer = f"<retEvento><infEvento><cStat>{status}</cStat><tpEvento>{kind}</tpEvento></infEvento></retEvento>"

        read = nfe.read(nfe_xml(status="100").replace("</nfeProc>", f"{answer}</nfeProc>").encode())

        assert read.is_void == is_void


class TestRefuse:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be", "utf-32-be"])
    @pytest.mark.parametrize("prolog", ["", PROLOG, PADDED])
    def test_a_doctype_in_any_encoding(self, encoding, prolog):
        text = prolog.format(encoding) + "<!DOCTYPE nfeProc>" + nfe_xml()

        with pytest.raises(InvalidInvoice):
            nfe.read(text.encode(encoding))

    @pytest.mark.parametrize("root", ["procEventoNFe", "nfe:procEventoNFe", "envEvento", "procCancNFe"])
    def test_the_file_of_an_event_by_name(self, root):
        event = f"<infEvento><chNFe>{ACCESS_KEY}</chNFe><tpEvento>110111</tpEvento></infEvento>"
        namespace = "http://www.portalfiscal.inf.br/nfe"
        raw = f'<{root} xmlns="{namespace}" xmlns:nfe="{namespace}" versao="1.00"><evento>{event}</evento></{root}>'

        with pytest.raises(InvalidInvoice, match=r"é um evento de NF-e \(procEventoNFe\)"):
            nfe.read(raw.encode())

    @pytest.mark.parametrize(
        ("first_bytes", "what"),
        [
            (b"", "está vazio"), (b" \r\n", "está vazio"), (b"%PDF-1.7\n\xe2\xe3", "é um PDF, como o DANFE"),
            (zipped(b"<NFe/>"), r"compactado \(zip\).*sem compressão"), (b"PK\5\6" + bytes(18), r"\(zip\)"),
            (gzip.compress(b"<NFe/>", mtime=0), r"compactado \(gzip\)"), (b"Rar!\x1a\7\0", r"\(rar\)"),
            (b"7z\xbc\xaf\x27\x1c", r"\(7z\)"), (b"\x89PNG\r\n\x1a\n", r"é uma imagem \(PNG\)"),
            (b"\xff\xd8\xff\xe0", r"\(JPEG\)"), (b"GIF89a", r"\(GIF\)"), (b"RIFF\x10\0\0\0WEBP", r"\(WebP\)"),
            (b"II*\0", r"\(TIFF\)"), (b"MM\0*", r"\(TIFF\)"), (b"\0\0\0\x18ftypheic", r"\(HEIC ou AVIF\)"),
        ],
    )  # fmt: skip  # a table
    def test_another_kind_of_file_by_name(self, first_bytes, what):
        with pytest.raises(InvalidInvoice, match=f"^O arquivo {'' if 'vazio' in what else '.*'}{what}") as refused:
            nfe.read(first_bytes)

        assert "Envie o XML da NF-e (modelo 55), com a raiz nfeProc ou NFe" in str(refused.value)

    @pytest.mark.parametrize(
        ("root", "what"),
        [
            ("cteProc", "um CT-e"), ("CTe", "um CT-e"), ("procEventoCTe", "um CT-e"), ("CTeOS", "um CT-e"),
            ("mdfeProc", "um MDF-e"), ("CompNfse", "uma NFS-e"), ("NFSe", "uma NFS-e"), ("p:NFSe", "uma NFS-e"),
            ("EnviarLoteRpsEnvio", "um RPS"), ("CFe", "um CF-e"), ("resNFe", "um resumo de NF-e"),
            ("enviNFe", "um lote de NF-e"), ("procInutNFe", "uma inutilização"), ("html", "um XML de outro tipo"),
        ],
    )  # fmt: skip  # a table
    def test_another_document_by_name(self, root, what):
        with pytest.raises(InvalidInvoice, match=f"^O arquivo é {what}.*a raiz é {root.rpartition(':')[2]}\\. Envie"):
            nfe.read(f'<{root} xmlns:p="urn:p"/>'.encode())

    def test_a_long_root_with_its_beginning_alone(self):
        with pytest.raises(InvalidInvoice) as refused:
            nfe.read(f"<{'x' * 100_000}/>".encode())

        assert len(str(refused.value)) < 200

    def test_every_file_in_bounded_memory(self):
        taken = {}
        for name, raw in HOSTILE.items():
            before = new_peak()
            with pytest.raises(InvalidInvoice):
                nfe.read(raw)
            taken[name] = peak() - before

        assert {name: kilobytes for name, kilobytes in taken.items() if kilobytes > 100_000} == {}


def of_length(length):
    """An XML declaration of so many bytes that names windows-1252."""
    declaration = '<?xml version="1.0" encoding="windows-1252"?>'
    return declaration.replace(" encoding", " " * (length - len(declaration)) + " encoding").encode()


def bare(start):
    """The invoice without its protocol, whose root begins with `start`."""
    text = nfe_xml()
    nfe_alone = text[text.index("<NFe>") : text.index("</nfeProc>")]
    return nfe_alone.replace("<NFe>", f'{start}xmlns="http://www.portalfiscal.inf.br/nfe">')


class TestDeclaration:
    @pytest.mark.parametrize(
        "declaration",
        [
            "<?xml version='1.0'?>",
            '<?xml version="1.0" standalone="no"?>',
            '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
        ],
    )
    def test_without_another_encoding_is_utf_8(self, declaration):
        raw = (declaration + nfe_xml(items=("Ç-1",))).encode()

        assert nfe.read(raw).references == ("Ç-1",)

    def test_has_at_most_200_bytes(self):
        body = nfe_xml(items=("Ç-1",)).encode("windows-1252")

        assert nfe.read(of_length(200) + body).references == ("Ç-1",)
        with pytest.raises(InvalidInvoice, match="longa demais"):
            nfe.read(of_length(201) + body)

    def test_is_read_after_the_mark_of_utf_8(self):
        with pytest.raises(InvalidInvoice, match="Codificação UTF-7"):
            nfe.read(codecs.BOM_UTF8 + b'<?xml version="1.0" encoding="UTF-7"?>' + nfe_xml().encode())

    @pytest.mark.parametrize("text", [f'<?xml-stylesheet href="nfe.xsl"?>{nfe_xml()}', bare("<NFe  ")])
    def test_is_not_looked_for_in_another_beginning(self, text):
        assert nfe.read(text.encode()).access_key == ACCESS_KEY

    @pytest.mark.parametrize(
        ("raw", "message"),
        [
            (nfe_xml().encode("latin-1"), r"em UTF-8$"),
            (b'<?xml version="1.0" encoding="US-ASCII"?>' + nfe_xml().encode(), r"em ASCII$"),
        ],
    )
    def test_that_does_not_fit_the_text_is_named(self, raw, message):
        with pytest.raises(InvalidInvoice, match=message):
            nfe.read(raw)


class TestLimit:
    def test_of_the_size_is_two_mebibytes(self):
        raw = nfe_xml().encode()
        longest = raw + b" " * (2_097_152 - len(raw))

        assert nfe.read(longest).access_key == ACCESS_KEY
        with pytest.raises(InvoiceTooLarge):
            nfe.read(longest + b" ")

    def test_of_tags_is_250_000(self):
        text = nfe_xml().replace("<total>", f"{'<a/>' * (250_000 - nfe_xml().count('<'))}<total>")

        assert nfe.read(text.encode()).access_key == ACCESS_KEY
        with pytest.raises(InvalidInvoice, match="elementos demais"):
            nfe.read(text.replace("<total>", "<a/><total>").encode())

    def test_of_items_is_1000(self):
        items = tuple(f"A-{number}" for number in range(1001))

        assert len(nfe.read(nfe_xml(items=items[:1000]).encode()).references) == 1000
        with pytest.raises(InvalidInvoice, match="mais de 1000 itens"):
            nfe.read(nfe_xml(items=items).encode())

    def test_of_the_depth_is_256(self):
        def nested(depth):
            inside = depth - 4  # below nfeProc, NFe, infNFe and compra
            return nfe_xml(compra="C-9").replace("<compra>", f"<compra>{'<a>' * inside}{'</a>' * inside}").encode()

        assert nfe.read(nested(256)).references == ("C-9", "A-1")
        with pytest.raises(InvalidInvoice, match="bem-formado"):
            nfe.read(nested(257))


class TestText:
    @pytest.mark.parametrize("inside", ["<!-- x -->", "<?x y?>"])
    def test_goes_on_after_a_comment_and_a_processing_instruction(self, inside):
        raw = nfe_xml(items=(f"A{inside}-1",)).encode()

        assert nfe.read(raw).references == ("A-1",)

    def test_of_an_empty_element_is_as_if_the_element_was_missing(self):
        raw = nfe_xml(items=("A-1", "A-2")).replace("<xPed>A-1</xPed>", "<xPed/>").encode()

        assert nfe.read(raw).references == ("A-2",)

    def test_of_an_attribute_has_no_space_around_it(self):
        text = nfe_xml().replace('Id="NFe', 'Id=" NFe').replace(ACCESS_KEY, f"{ACCESS_KEY} ")
        text = text.replace('versao="4.00"', 'versao=" 4.00 "')

        read = nfe.read(text.encode())

        assert (read.access_key, read.layout) == (ACCESS_KEY, "4.00")


class TestParser:
    """Called without the check of the text for DOCTYPE, which refuses these files before they are parsed."""

    @pytest.fixture
    def broken(self, tmp_path):
        """A file that is neither a DTD nor well-formed, so that the message tells whether it was loaded."""
        path = tmp_path / "broken"
        path.write_text("<!ELEMENT")
        return path

    @pytest.mark.parametrize(
        "form",
        [
            '<!DOCTYPE x SYSTEM "{}"><x/>',
            '<!DOCTYPE x [<!ENTITY % e SYSTEM "{}"> %e;]><x/>',
            '<!DOCTYPE x [<!ENTITY e SYSTEM "{}">]><x>&e;</x>',
        ],
        ids=["dtd", "parameter entity", "entity"],
    )
    def test_loads_no_other_file_and_refuses_the_doctype(self, form, broken):
        with pytest.raises(InvalidInvoice, match="DOCTYPE"):
            nfe._parse(form.format(broken))

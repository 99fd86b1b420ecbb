"""How the XML of an invoice is read, and what is refused."""

import codecs
import gzip
import io
import re
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from integration.errors import InvalidInvoice, InvoiceTooLarge
from integration.invoices import nfe
from tests.cases import in_turn
from tests.integration.factories import ACCESS_KEY, access_key, cancellation, cancellation_file, nfe_xml

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
    "declared utf-16, is windows-1252": (PROLOG.format("UTF-16") + nfe_xml()).encode("cp1252"),
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
    "another root": nfe_xml().replace("nfeProc", "nfes").encode(),
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
            protocol="100",
        )

    @pytest.mark.parametrize("name", ["UTF-8", "utf-8", "ISO-8859-1", "windows-1252", "UTF-16"])
    def test_takes_an_encoding(self, name):
        raw = (PROLOG.format(name) + nfe_xml(items=("Ç-1",))).encode(name)

        assert nfe.read(raw).references == ("Ç-1",)

    def test_takes_us_ascii(self):
        raw = (PROLOG.format("US-ASCII") + nfe_xml()).encode("ascii", "xmlcharrefreplace")

        assert nfe.read(raw).references == ("A-1",)

    @in_turn(
        "raw",
        [
            (PROLOG.format("UTF-16") + nfe_xml()).encode(),  # .NET declares what its texts are in memory
            ("\r\n" + PROLOG.format("UTF-8") + nfe_xml()).encode(),
            ("\n" + PROLOG.format("UTF-16") + nfe_xml()).encode("utf-16"),
            nfe_xml().replace("nfeProc", "enviNFe").encode(),
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
        assert nfe.read(nfe_xml(key="", status="").replace("</nfeProc>", protocol).encode()).access_key == key


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

        assert ("65" in read.models) == is_one


class TestAccessKey:
    @in_turn(
        ("key", "is_one"),
        [
            # Of files of public projects (akretion/nfelib, nfephp-org/sped-nfe), the last one with a wrong digit there.
            ("41170706117473000150550010000463202612756525", True),
            ("43180906929383000163550010000000261000010301", True),
            ("32191107670813000825550010059062251133037938", False),
            (f"{ACCESS_KEY[:15]}{'0' * 29}", False),  # as a spreadsheet keeps a long number
            (f"{ACCESS_KEY[:30]}1{ACCESS_KEY[31:]}", False),
            # Letters count as their ASCII code less 48: the sum of the first 43 is 674, the rest 3.
            (f"{ACCESS_KEY[:6]}12ABC34501DE35{ACCESS_KEY[20:43]}8", True),
            (f"{ACCESS_KEY[:6]}12ABC34501DE35{ACCESS_KEY[20:43]}7", False),
            (ACCESS_KEY[:-1], False), ("", False), (ACCESS_KEY.replace("1", "１"), False),
        ],
    )  # fmt: skip  # a table
    def test_has_a_check_digit(self, key, is_one):
        assert nfe.is_access_key(key) is is_one

    def test_may_be_that_of_the_protocol_of_the_only_note(self):
        read = nfe.read(nfe_xml().replace(f"NFe{ACCESS_KEY}", "").encode())

        assert (read.access_key, read.protocol) == (ACCESS_KEY, "100")


class TestStanding:
    @pytest.mark.parametrize(
        ("status", "expected"),
        [("100", (False, False)), ("150", (False, False)), ("", (False, False)), ("539", (True, False)),
         ("204", (True, False)), ("301", (False, True)), ("101", (False, True))],
    )  # fmt: skip  # a table
    def test_is_rejected_or_void_by_its_protocol(self, status, expected):
        read = nfe.read(nfe_xml(status=status).encode())

        assert (read.protocol, read.is_rejected, read.is_void) == (status, *expected)

    def test_is_not_that_of_the_protocol_of_another_note(self):
        raw = nfe_xml().replace(f"<chNFe>{ACCESS_KEY}", f"<chNFe>{access_key(2)}").encode()

        assert nfe.read(raw).protocol == ""

    @pytest.mark.parametrize(
        ("ide", "is_test", "is_return"),
        [
            ("<tpNF>1</tpNF><tpAmb>1</tpAmb><finNFe>1</finNFe>", False, False), ("<tpAmb>2</tpAmb>", True, False),
            ("<finNFe>4</finNFe>", False, True), ("<tpNF>0</tpNF>", False, True),
        ],
    )  # fmt: skip  # a table
    def test_tells_tests_and_returns(self, ide, is_test, is_return):
        read = nfe.read(nfe_xml(ide=ide).encode())

        assert (read.is_test, read.is_return) == (is_test, is_return)

    def test_has_the_recipient(self):
        assert nfe.read(nfe_xml(recipient="52998224725").encode()).recipient_document == "52998224725"
        assert nfe.read(nfe_xml(recipient="estrangeiro").encode()).recipient_document == ""
        of_company = nfe_xml().replace("<det ", "<dest><CNPJ>12ABC34501DE35</CNPJ></dest><det ", 1)
        assert nfe.read(of_company.encode()).recipient_document == "12ABC34501DE35"  # pragma: allowlist secret


OLD_CANCELLATION = (
    '<procCancNFe xmlns="http://www.portalfiscal.inf.br/nfe"><cancNFe/><retCancNFe><infCanc>'
    f"<cStat>101</cStat><chNFe>{ACCESS_KEY}</chNFe></infCanc></retCancNFe></procCancNFe>"
)


NAMESPACE = "http://www.portalfiscal.inf.br/nfe"
PARTS = re.compile(r"<NFe>.*?</NFe>|<protNFe>.*?</protNFe>")


@dataclass(frozen=True)
class Event:
    """What the tax office has answered to an event of a note."""

    note: int
    kind: str
    status: str
    is_whole: bool  # with the event itself

    @property
    def key(self):
        return access_key(self.note)

    def written(self):
        answer = cancellation(self.key, kind=self.kind, status=self.status)
        return f"<procEventoNFe>{answer}</procEventoNFe>" if self.is_whole else answer

    def cancels(self, key):
        return self.key == key and self.kind in ("110111", "110112") and self.status in ("135", "155")


EVENTS = st.lists(
    st.builds(
        Event,
        st.integers(0, 3),
        st.sampled_from(["110111", "110112", "110110"]),
        st.sampled_from(["135", "155", "573"]),
        st.booleans(),
    ),
    max_size=4,
)


class TestFile:
    @given(
        statuses=st.lists(st.sampled_from(["100", "101", "539", ""]), min_size=1, max_size=3),
        events=EVENTS,
        data=st.data(),
    )
    @example(["100"], [Event(0, "110110", "135", True), Event(0, "110111", "135", True)], None)
    @example(["100", "100"], [Event(1, "110111", "573", False), Event(0, "110112", "155", False)], None)
    def test_tells_the_standing_of_each_note_in_whatever_sequence_its_parts_stand(self, statuses, events, data):
        notes = {access_key(number): nfe_xml(key=access_key(number), status=status)
                 for number, status in enumerate(statuses)}  # fmt: skip  # a comprehension
        parts = [part for text in notes.values() for part in PARTS.findall(text)] + [
            event.written() for event in events
        ]
        shuffled = data.draw(st.permutations(parts)) if data else parts

        read = nfe.read_file(f'<nfeProc xmlns="{NAMESPACE}">{"".join(shuffled)}</nfeProc>'.encode()).notes

        assert {note.access_key: (note.protocol, note.is_void) for note in read} == {
            key: (status, status == "101" or any(event.cancels(key) for event in events))
            for key, status in zip(notes, statuses, strict=True)
        }

    @given(EVENTS)
    @example([Event(0, "110110", "135", False), Event(1, "110111", "135", False), Event(2, "110111", "135", True)])
    def test_of_events_alone_names_each_note_that_one_of_them_cancels(self, events):
        raw = (
            f'<retEnvEvento xmlns="{NAMESPACE}">{"".join(event.written() for event in events)}</retEnvEvento>'.encode()
        )
        expected = tuple(dict.fromkeys(event.key for event in events if event.cancels(event.key)))

        if expected:
            assert nfe.read_file(raw) == nfe.NfeFile((), expected)
        else:
            with pytest.raises(InvalidInvoice):
                nfe.read_file(raw)

    def test_hands_out_the_note_that_is_asked_for(self):
        one, other = (nfe_xml(key=access_key(number), value=f"{number}.00") for number in (1, 2))
        raw = one.replace("</nfeProc>", f"{''.join(PARTS.findall(other))}</nfeProc>").encode()

        assert [nfe.read(raw, access_key=access_key(number)).value for number in (1, 2, 3)] == [1, 2, 1]

    def test_has_a_note_once_that_stands_in_it_twice(self):
        raw = nfe_xml().replace("</nfeProc>", f"{PARTS.findall(nfe_xml())[0]}</nfeProc>").encode()

        assert [note.access_key for note in nfe.read_file(raw).notes] == [ACCESS_KEY]

    def test_may_be_dces(self):
        key, other = (f"{ACCESS_KEY[:20]}99{ACCESS_KEY[22:-1]}{digit}" for digit in (7, 8))
        notes = [
            f'<DCe><infDCe versao="1.00" Id="DCe{each}"><ide><mod>99</mod><serie>1</serie><nDC>7</nDC></ide>'
            "<emit><CPF>52998224725</CPF></emit><total><vDC>20.00</vDC></total></infDCe></DCe>"
            f"<protDCe><infProt><chDCe>{each}</chDCe><cStat>{status}</cStat></infProt></protDCe>"
            for each, status in ((key, "100"), (other, "101"))
        ]

        read, second = nfe.read_file(
            f'<dceProc versao="1.00" xmlns="http://www.portalfiscal.inf.br/dce">{"".join(notes)}</dceProc>'.encode()
        ).notes

        assert (second.access_key, second.protocol) == (other, "101")
        assert (read.access_key, read.models, read.number, read.value) == (key, {"99"}, "7", Decimal("20.00"))
        assert (read.issuer_document, read.protocol, read.layout) == ("52998224725", "100", "1.00")

    @pytest.mark.parametrize(
        "raw",
        [
            cancellation_file(),
            cancellation_file(kind="110112", status="155"),
            f'<retEnvEvento xmlns="http://www.portalfiscal.inf.br/nfe">{cancellation()}</retEnvEvento>',
            OLD_CANCELLATION,
        ],
    )
    def test_may_be_a_cancellation_alone(self, raw):
        assert nfe.read_file(raw.encode()) == nfe.NfeFile((), (ACCESS_KEY,))

    @pytest.mark.parametrize(
        ("raw", "facts"),
        [
            (cancellation_file(kind="110110"), "tpEvento 110111, cStat 135"),  # a letter of correction
            (cancellation_file(status="573"), "tpEvento 110111, cStat 573"),
            (cancellation_file(key="123"), "tpEvento 110111, cStat 135"),
        ],
    )
    def test_of_another_event_is_refused_with_what_it_says(self, raw, facts):
        with pytest.raises(InvalidInvoice, match=rf"\(procEventoNFe, {facts}\).*procEventoNFe do cancelamento"):
            nfe.read_file(raw.encode())


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
        answer = cancellation(kind=kind, status=status)

        for beside in (answer, answer.replace(ACCESS_KEY, ""), f"<procEventoNFe>{answer}</procEventoNFe>"):
            assert nfe.read(nfe_xml(beside=beside).encode()).is_void == is_void

    def test_of_one_of_several_notes_is_said_by_its_own_key_alone(self):
        two = [nfe_xml(key=access_key(number), status="") for number in (1, 2)]
        notes = "".join(text[text.index("<NFe>") : text.index("</nfeProc>")] for text in two)
        without_a_key = (
            OLD_CANCELLATION.replace(f"<chNFe>{ACCESS_KEY}</chNFe>", ""),
            "<protNFe><infProt><cStat>100</cStat></infProt></protNFe>",
        )

        read = nfe.read_file(f"<nfeProc>{notes}{''.join(without_a_key)}</nfeProc>".encode()).notes

        assert [(note.protocol, note.is_void) for note in read] == [("", False)] * 2

    def test_is_not_what_the_cancellation_of_another_note_says(self):
        assert not nfe.read(nfe_xml(beside=cancellation(access_key(2))).encode()).is_void


class TestRefuse:
    @in_turn("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be", "utf-32-be"])
    @in_turn("prolog", ["", PROLOG, PADDED])
    def test_a_doctype_in_any_encoding(self, encoding, prolog):
        text = prolog.format(encoding) + "<!DOCTYPE nfeProc>" + nfe_xml()

        with pytest.raises(InvalidInvoice):
            nfe.read(text.encode(encoding))

    @pytest.mark.parametrize("root", ["procEventoNFe", "nfe:procEventoNFe", "envEvento", "procCancNFe"])
    def test_the_file_of_an_event_by_name(self, root):
        event = f"<infEvento><chNFe>{ACCESS_KEY}</chNFe><tpEvento>110111</tpEvento></infEvento>"
        namespace = "http://www.portalfiscal.inf.br/nfe"
        raw = f'<{root} xmlns="{namespace}" xmlns:nfe="{namespace}" versao="1.00"><evento>{event}</evento></{root}>'

        with pytest.raises(InvalidInvoice, match=rf"é um evento de NF-e \({root.partition(':')[2] or root}, tpEvento"):
            nfe.read(raw.encode())

    @in_turn(
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
            ("procInutNFe", "uma inutilização"), ("html", "um XML de outro tipo"),
        ],
    )  # fmt: skip  # a table
    def test_another_document_by_name(self, root, what):
        with pytest.raises(InvalidInvoice, match=f"^O arquivo é {what}.*a raiz é {root.rpartition(':')[2]}\\. Envie"):
            nfe.read(f'<{root} xmlns:p="urn:p"/>'.encode())

    @in_turn(
        ("written", "sent", "message"),
        [
            ("<prod>", "<prod>\nA & B", r"linha 2, coluna \d+\): há um & .* &amp;"),
            ("</nfeProc>", "", r"linha 1, coluna \d+\): há algo depois do fim|linha 1, coluna \d+\)"),
            ("</prod>", "</produ>", r"linha 1, coluna \d+\): o elemento fechado não é o que foi aberto"),
            ("<vNF>150.50", "\n\n<vNF>150,50", r"vNF \(linha 3\): '150,50'\. Use ponto"),
            ('versao="4.00"', 'versao="1.10"', r"versao \(linha 1\): '1\.10'\. É aceito o layout 2\.00 a 4\.00"),
            ("<nNF>123", "<nNF>12A", r"nNF \(linha 1\): '12A'\. São 1 a 9 dígitos"),
            ("2026-11-20T", "20/11/2026T", r"dhEmi \(linha 1\): '20/11/2026T.*2026-11-20T"),
            ("<CNPJ>1122", "<CNPJ>11.22", r"emit \(linha 1\): tem 15 caracteres\. Um CNPJ tem 14"),
            (f'Id="NFe{ACCESS_KEY}"', 'Id="NFe1"', r"Id de infNFe \(linha 1\) é 'NFe1'"),
            (
                "portalfiscal",
                "elsewhere",
                r"namespace da raiz é 'http://www\.elsewhere.*; o da NF-e é 'http://www\.portal",
            ),
        ],
    )
    def test_says_where_what_is_wrong_and_what_is_accepted(self, written, sent, message):
        text = nfe_xml(status="").replace(written, sent)

        with pytest.raises(InvalidInvoice, match=message):
            nfe.read(text.encode())

    def test_counts_the_lines_from_the_beginning_of_the_file(self):
        raw = f"\n\n{PROLOG.format('UTF-8')}{nfe_xml()}".replace("150.50", "x").encode()

        with pytest.raises(InvalidInvoice, match=r"vNF \(linha 4\)"):
            nfe.read(raw)

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
    text = nfe_xml(status="")
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

    @pytest.mark.parametrize("root", ["enviNFe", "retEnvEvento"])
    def test_of_notes_or_cancellations_is_20(self, root):
        def several(count):
            keys = [access_key(number) for number in range(count)]
            inside = {
                "enviNFe": ["".join(PARTS.findall(nfe_xml(key=key))) for key in keys],
                "retEnvEvento": [cancellation(key) for key in keys],
            }
            return f'<{root} xmlns="{NAMESPACE}">{"".join(inside[root])}</{root}>'.encode()

        read = nfe.read_file(several(20))

        assert len(read.notes + read.cancelled) == 20
        with pytest.raises(InvalidInvoice, match="mais de 20 notas"):
            nfe.read_file(several(21))

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

"""The invoice parser: its CPU time is bounded for any input, and it raises only its own exceptions."""

import codecs
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from integration.errors import BodyTooLarge, InvalidInvoice
from integration.invoices import nfe
from tests.cost.cpu import Child, assert_cheap
from tests.cost.worst_invoices import TEXTS
from tests.cost.wsgi import ask
from tests.integration.factories import key_of, nfe_xml
from tests.integration.invoices.test_nfe import HOSTILE

# CPU seconds. The slowest case needs a fifth of this.
SECONDS = 1
SAMPLES = {path.name: path.read_bytes() for path in sorted((Path(__file__).parent.parent / "corpus/nfe").glob("*.xml"))}


def read(raw):
    try:
        nfe.read(raw)
    except (InvalidInvoice, BodyTooLarge):
        return


@pytest.fixture
def reader():
    with Child(read) as child:
        yield child


def worst():
    for name, make in TEXTS.items():
        text = make()
        assert len(text.encode()) <= nfe.MAX_BYTES
        yield f"{name} in UTF-8", text.encode()
        yield f"{name} in UTF-16", text[: nfe.MAX_BYTES // 2 - 1].encode("utf-16")
        yield f"{name}, half of it in UTF-16", (text[:400_000] + text[-400_000:]).encode("utf-16-be")
    yield from HOSTILE.items()
    attributes = " ".join(f'a{number}="1"' for number in range(60))
    yield "many times the size", nfe_xml().replace("<det ", f"<a {attributes}/>" * 120_000 + "<det ", 1).encode()


def test_the_worst_invoice_is_cheap(reader):
    reader.assert_cheap(worst(), seconds=SECONDS)


@pytest.mark.parametrize(
    ("name", "layout", "references"),
    [
        ("processed_4.00.xml", "4.00", ("LOJA-1001", "LOJA-1002")),
        ("prefixed_3.10.xml", "3.10", ("A-1", "A-2")),
        ("unprocessed_2.00_latin_1.xml", "2.00", ("PED 77",)),
    ],
)
def test_an_invoice_with_everything_around_it_is_read(name, layout, references):
    invoice = nfe.read(SAMPLES[name])

    assert (invoice.layout, invoice.references, invoice.value) == (layout, references, Decimal("313.90"))


def piece(data, raw):
    """A random slice of the file: between two of its tags, or at arbitrary offsets."""
    start = data.draw(st.integers(0, len(raw) - 1))
    return start, data.draw(st.integers(start + 1, min(len(raw), start + 2000)))


NASTY = [
    b"<", b">", b"&", b"&#0;", b"&#x10ffff;", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?xml version='1.0'?>",
    b"<?a ?>", b"<!DOCTYPE a>", b"\0", b"\xff\xfe", b"\xfe\xff", codecs.BOM_UTF8, b'xmlns:x="u" ', b"<x:a/>",
    b"xmlns='' ", b'encoding="UTF-32"', b"\xed\xa0\x80", b"9" * 5000, b" " * 5000,
]  # fmt: skip  # a list of bytes


def mutated(data):
    """A sample invoice after random mutations: slices removed, moved, repeated, or malformed bytes inserted."""
    raw = data.draw(st.sampled_from([*SAMPLES.values(), nfe_xml().encode()]))
    for _change in range(data.draw(st.integers(1, 4))):
        start, end = piece(data, raw)
        match data.draw(st.sampled_from(["drop", "repeat", "insert", "wrap"])):
            case "drop":
                raw = raw[:start] + raw[end:] or b"<"
            case "repeat":
                times = data.draw(st.sampled_from([2, 100, nfe.MAX_BYTES]))
                room = max(nfe.MAX_BYTES - len(raw), 0) // (end - start)
                raw = raw[:start] + raw[start:end] * min(times, room + 1) + raw[end:]
            case "insert":
                raw = raw[:start] + data.draw(st.sampled_from(NASTY)) + raw[start:]
            case "wrap":
                depth = data.draw(st.sampled_from([1, 100, 10_000]))
                raw = raw[:start] + b"<a>" * depth + raw[start:end] + b"</a>" * depth + raw[end:]
    encoding = data.draw(st.sampled_from(["as it is"] * 4 + ["utf-16", "utf-16-be", "utf-32", "utf-7", "cp037"]))
    return raw if encoding == "as it is" else raw.decode(errors="replace").encode(encoding, "replace")


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_mutated_invoice_is_cheap_and_gives_no_other_error(data, reader):
    raw = mutated(data)

    reader.assert_cheap([("mutated", raw)], seconds=SECONDS)


PART = "--b\r\n"
FORM = f"{PART}Content-Disposition: form-data"
BASE64 = f'{FORM}; name="nfe"; filename="n.xml"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
FILE = f'{FORM}; name="nfe"; filename="n.xml"\r\n\r\n'
END = "\r\n--b--"
UPLOADS = {
    "empty parts": PART * 300_000,
    "parts with a long header": f"{FORM};{';' * 900}\r\n\r\n\r\n" * 2000,
    "parts with an open quote": f'{FORM};a="{";" * 900}\r\n\r\n\r\n' * 2000,
    "parts with many headers": (PART + "a:b\r\n" * 180 + "\r\n\r\n") * 1500,
    "base64 of spaces": f"{BASE64}A{' ' * 2_000_000}{END}",
    "base64 between spaces": f"{BASE64}{'A   ' * 500_000}{END}",
    "near boundaries": FILE + "\r\n--a" * 400_000,
    "no end": FILE + "x" * 2_000_000,
    "a long field": f'{FORM}; name="a"\r\n\r\n{"a" * 1_000_000}-{"b" * 1_000_000}{END}',
    "a header without an end": f'{FORM}; name="{"x" * 2_000_000}',
}
TYPES = ["", "; charset=punycode", "; charset=bz2_codec", "; charset*=nosuch'x'y", "; boundary*0=b"]


def test_the_worst_upload_is_cheap(seller):
    authorization = f"Basic {key_of(seller)}"

    def upload(text, more):
        headers = {"Authorization": authorization, "Content-Type": f"multipart/form-data; boundary=b{more}"}
        answer = ask("POST", "/api/integration/invoices/marketplace", headers=headers, body=text.encode())
        assert answer.status == 422, answer

    assert_cheap(
        {f"{name}{more}": partial(upload, text, more) for name, text in UPLOADS.items() for more in TYPES},
        seconds=SECONDS,
    )

"""How the XML of an invoice is read: declarations, limits, comments, and what the parser does not do by itself."""

import codecs

import pytest

from integration import nfe
from integration.errors import InvalidInvoice, InvoiceTooLarge
from tests.integration.factories import ACCESS_KEY, nfe_xml


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

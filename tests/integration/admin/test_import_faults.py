"""The freight table as CSV: what is refused is refused with a sentence and changes nothing."""

import pytest

from common.csv_file import MOST_BYTES, MOST_IMPORTED
from tests.integration.admin.rate_files import LOCAL, NEW, OLD, ROW, upload, url


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            (LOCAL.format("44,90", "abc", 3), "Linha 2, kg adicional: 'abc' não é número"),
            (LOCAL.format("=1+1", "1,90", 3), "Linha 2, até 1 kg: '=1+1' não é número"),
            (LOCAL.format("1.234", "1,90", 3), "Linha 2, até 1 kg: '1.234' pode ser lido de duas formas"),
            (LOCAL.format("-1", "1,90", 3), "Linha 2, até 1 kg: "),
            (LOCAL.format("99999999999", "1,90", 3), "Linha 2, até 1 kg: "),
            (LOCAL.format("44,90", "", 3), "Linha 2, kg adicional: está vazio"),
            (LOCAL.format("44,90", "1,90", "3,5"), "Linha 2, prazo: '3,5' tem mais de 0 casas decimais"),
            (LOCAL.format("1", "1", 1).replace("local", "lua"), "Linha 2, zona: 'lua' não é nenhum de: "),
            ("\n" + LOCAL.format("1", "1", 1) * 2, "Linha 4: repete a linha 3"),
            ("a;b;c;d;e;f;g;h\n", "Linha 2: mais células do que títulos"),
            ("econômico;local\n", "Linha 2, origem: está vazio"),
        ],
    )  # fmt: skip
    def test_name_line_and_column(self, admin_client, rates, text, fault):
        before = rates()

        response = upload(admin_client, NEW + text)

        assert fault in " ".join(map(str, response.context["plan"].faults))
        assert response.context["previewed"] is None
        assert rates() == before

    def test_are_all_named_at_once_up_to_a_bound(self, admin_client, tariff):
        few = upload(admin_client, NEW + LOCAL.format("a", "b", "c")).context["plan"].faults
        many = upload(admin_client, NEW + LOCAL.format("a", "b", "c") * 100).context["plan"].faults

        assert len(few) == 3
        assert len(many) == 51
        assert str(many[-1]) == "Há mais erros: os primeiros 50 estão na lista."

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            (NEW, "O arquivo não tem linhas abaixo dos títulos."),
            ("", "O arquivo não tem linhas abaixo dos títulos."),
            ("zona;serviço\nlocal;econômico\n", "Faltam colunas: origem, destino, até 1 kg (R$), kg adicional (R$)"),
            ("zona;preço\nlocal;1\n", "Coluna desconhecida 'preço'."),
            ("zona;ZONE\nlocal;1\n", "A coluna 'ZONE' aparece duas vezes."),
            ("até 1 kg (R$);base_centavos_up_to_1kg\n1;1\n", "A coluna 'base_centavos_up_to_1kg' aparece duas vezes."),
            (NEW + '"econômico;local\n', "Linha 2: as aspas não fecham."),
        ],
    )
    def test_of_the_file_as_a_whole_are_named(self, admin_client, tariff, text, fault):
        (found,) = upload(admin_client, text).context["plan"].faults

        assert fault in str(found)

    def test_are_shown_with_the_name_of_the_file_and_the_line(self, admin_client, tariff):
        page = " ".join(upload(admin_client, NEW + LOCAL.format("44,90", "abc", 3)).content.decode().split())

        assert "<b>fretes.csv</b>" in page
        assert "econômico; local; capital; capital; 44,90; <mark >abc</mark>; 3" in page

    def test_are_shown_as_text(self, admin_client, tariff):
        page = upload(admin_client, NEW + LOCAL.format("<script>", "1", 1)).content.decode()

        assert "&lt;script&gt;" in page
        assert "<script>&#x27;" not in page


class TestLimits:
    @pytest.mark.parametrize(
        "content",
        [
            b"x" * (MOST_BYTES + 1),
            b"economy,local,capital,capital,1,1,1\n" * 100_000,
            b"\n" * 50_000,
            b"x" * 50_000_000,
        ],
        ids=["bytes", "100,000 lines", "empty lines", "50 MB"],
    )
    def test_refuse_a_file_before_it_is_parsed(self, admin_client, rates, content, monkeypatch):
        before = rates()
        monkeypatch.delattr("csv.reader")

        page = upload(admin_client, content)

        assert "No máximo 500 linhas e 100 kB por vez." in page.content.decode()
        assert rates() == before

    def test_are_named_for_a_file_whose_end_the_server_has_cut_off(self, admin_client, rates):
        before = rates()

        page = admin_client.post(url("import"), {"other": "x" * (MOST_BYTES + 1)})

        assert "At most 500 rows and 100 kB at once." in page.content.decode()
        assert "This field is required" not in page.content.decode()
        assert rates() == before

    def test_allow_as_many_rows_as_they_say(self, admin_client, tariff):
        text = OLD + ROW.decode() * MOST_IMPORTED

        assert upload(admin_client, text).context["plan"].faults[0].message == "Linha 3: repete a linha 2"

    @pytest.mark.parametrize("sent", [{"digest": "x"}, {"digest": "x", "text": ""}, {"digest": "x" * 65, "text": "a"}])
    def test_a_second_step_without_its_preview_does_nothing(self, admin_client, rates, sent):
        before = rates()

        page = admin_client.post(url("import"), sent)

        assert "Upload the file again" in page.content.decode()
        assert rates() == before

    def test_apply_to_the_second_step_too(self, admin_client, rates, previewed):
        before = rates()

        page = admin_client.post(url("import"), {**previewed, "text": previewed["text"] + "\n" * 600})

        assert "At most 500 rows" in page.content.decode()
        assert rates() == before

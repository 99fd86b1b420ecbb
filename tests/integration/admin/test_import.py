"""The freight table as CSV: its preview, the import, what is refused, and who may do it."""

import re

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from common.files import table_files
from common.files.csv_files import MOST_BYTES
from common.models import KeptUpload
from integration.freight.models import FreightRate
from tests.cases import in_turn
from tests.common.workbooks import SHEET, parts, workbook
from tests.integration.admin.rate_files import ENGLISH, LOCAL, NEW, OLD, confirm, upload, url
from tests.integration.factories import DEFAULT_TARIFF


def text_of(page):
    return re.sub(r" ?(</?(ins|del|b)>) ?", r"\1", " ".join(page.content.decode().split()))


class TestImport:
    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            (NEW + LOCAL.format("R$ 44,90", "R$ 1,90", 3), "windows-1252"),
            (NEW.replace(";", ",") + LOCAL.replace(";", ",").format("44.90", "1.90", 3), "utf-8"),
            (OLD + "economy,local,capital,capital,4490,190,3\n", "utf-8"),
            (ENGLISH + LOCAL.format("44,90", "1,90", 3), "utf-8"),
        ],
        ids=["Windows-1252", "commas", "centavos", "English headings"],
    )
    def test_takes_what_spreadsheets_write(self, admin_client, rates, text, encoding):
        before = rates()

        preview = upload(admin_client, text, encoding=encoding)
        during = rates()
        done = confirm(admin_client, preview)

        assert "novas: 0, alteradas: 1, sem mudança: 0" in text_of(preview)
        assert during == before
        assert "Imported: new: 0, changed: 1, unchanged: 0." in done.content.decode()
        changed = FreightRate.objects.get(service="economy", zone="local")
        assert (changed.base_centavos, changed.extra_kg_centavos, changed.deadline_days) == (4490, 190, 3)
        assert len(set(rates()) - set(before)) == 1
        assert [(entry.action_flag, entry.object_id) for entry in LogEntry.objects.all()] == [(CHANGE, str(changed.pk))]

    def test_shows_what_is_new_what_changes_and_what_stays(self, admin_client, tariff):
        FreightRate.objects.filter(zone="far").delete()
        text = NEW + LOCAL.format("22,90", "1,90", 3) + LOCAL.format("44,90", "1,90", 4).replace("local", "distante")
        text += LOCAL.format("31,00", "4,00", 9).replace("econômico;local", "expresso;local")

        response = upload(admin_client, text)

        page, (new, changed) = text_of(response), response.context["result"].changing
        assert "fretes.csv: novas: 1, alteradas: 1, sem mudança: 1" in page
        assert [(row.line, len(row.cells)) for row in (new, changed)] == [(3, 3), (4, 3)]
        assert "<b>Econômico, Distante, Capital → Capital</b>" in page
        assert f"<del>{changed.cells[0].old}</del>→<ins>31,00</ins>" in page

    @in_turn(
        ("price", "days", "told"),
        [
            ("44,90", 3, "Maior aumento: +96%. Confira os preços em vermelho."), ("22,99", 3, None),
            ("29,77", 3, "Maior aumento: +30%."), ("25,00", 9, "Maior aumento: +9%."), ("20,00", 9, None),
        ],
    )  # fmt: skip  # a table
    def test_warns_of_a_price_that_rises_by_more_than_thirty_percent(self, admin_client, tariff, price, days, told):
        page = text_of(upload(admin_client, NEW + LOCAL.format(price, "1,90", days)))

        assert ("Maior aumento" in page) is bool(told)
        assert (told or "") in page
        assert ("rota-rise is-large" in page) is (price == "44,90")

    def test_adds_the_rows_that_are_new(self, admin_client, tariff):
        FreightRate.objects.all().delete()

        confirm(admin_client, upload(admin_client, DEFAULT_TARIFF.RATES.read_bytes()))

        assert FreightRate.objects.count() == 48
        assert LogEntry.objects.filter(action_flag=ADDITION, change_message="By import.").count() == 48

    def test_reads_and_writes_the_table_once_however_many_rows_there_are(self, admin_client, tariff):
        text = DEFAULT_TARIFF.RATES.read_text().replace("0,", "1,")
        with CaptureQueriesContext(connection) as captured:
            preview = upload(admin_client, text)
            confirm(admin_client, preview)

        # Behind who makes the change, which goes before each statement that writes.
        statements = [row["sql"].rpartition(", true); ")[2] for row in captured]
        touching = [each[:6] for each in statements if '"integration_freightrate"' in each]
        assert preview.context["result"].totals["update"] == 48
        assert touching[:3] == ["SELECT", "SELECT", "UPDATE"]

    def test_of_what_the_table_says_already_offers_nothing_to_confirm(self, admin_client, rates):
        export = admin_client.get(url("export"), headers={"Accept-Language": "pt-BR"}).getvalue()

        preview = upload(admin_client, export)

        assert export.count(b"\n") == FreightRate.objects.count() + 1 == 49
        assert preview.context["result"].totals["skip"] == 48
        assert "confirm_form" not in preview.context


class TestConfirmation:
    def test_shows_a_new_preview_if_the_table_has_changed_meanwhile(self, admin_client, rates, previewed):
        FreightRate.objects.filter(service="economy", zone="local").update(base_centavos=1)
        before = rates()

        page = admin_client.post(url("process_import"), previewed)
        assert "has changed since the preview" in page.content.decode()
        assert rates() == before
        assert page.context["result"].changing[0].cells[0].old == "0.01"

        confirm(admin_client, page)
        assert rates() != before

    def test_is_of_the_previewed_file_only(self, admin_client, rates, previewed):
        before = rates()
        other = upload(admin_client, NEW + LOCAL.format("0,01", "1,90", 3)).context["confirm_form"].initial

        page = admin_client.post(url("process_import"), {**previewed, "import_file_name": other["import_file_name"]})

        assert "has changed since the preview" in page.content.decode()
        assert rates() == before

    def test_without_its_preview_does_nothing(self, admin_client, rates, previewed):
        before = rates()

        for sent in ({}, {**previewed, "digest": "x" * 65}, {**previewed, "import_file_name": "x"}):
            page = admin_client.post(url("process_import"), sent, follow=True)

            assert "Upload the file again" in page.content.decode()
        assert rates() == before

    def test_is_of_this_table_only(self, admin_client, previewed):
        page = admin_client.post(reverse("admin:delivery_tariff_process_import"), previewed, follow=True)

        assert "Upload the file again" in page.content.decode()

    def test_happens_once_and_while_the_upload_is_kept(self, admin_client, rates, previewed):
        admin_client.post(url("process_import"), previewed)
        after = rates()
        again = admin_client.post(url("process_import"), previewed, follow=True)
        other = upload(admin_client, NEW + LOCAL.format("1,00", "1,90", 3))
        KeptUpload.objects.all().delete()
        late = confirm(admin_client, other)

        assert ["Upload the file again" in page.content.decode() for page in (again, late)] == [True, True]
        assert rates() == after


class TestFaults:
    def test_name_line_and_column(self, admin_client, rates):
        before = rates()
        cases = [
            (LOCAL.format("44,90", "abc", 3), "Linha 2, kg adicional (R$): 'abc' não é número"),
            (LOCAL.format("=1+1", "1,90", 3), "Linha 2, até 1 kg (R$): '=1+1' não é número"),
            (LOCAL.format("1.234", "1,90", 3), "Linha 2, até 1 kg (R$): '1.234' pode ser lido de duas formas"),
            (LOCAL.format("-1", "1,90", 3), "Linha 2, até 1 kg (R$): '-1': De 0 a 21.474.836,47."),
            (LOCAL.format("99999999999", "1,90", 3), "Linha 2, até 1 kg (R$): '99999999999': De 0 a 21.474.836,47."),
            (LOCAL.format("44,90", "", 3), "Linha 2, kg adicional (R$): Este campo não pode ser nulo."),
            (LOCAL.format("44,90", "1,90", "3,5"), "Linha 2, prazo (dias úteis): '3,5': Informe um número inteiro."),
            (LOCAL.format("1", "1", 1).replace("local", "lua"), "Linha 2, zona: 'lua' não é nenhum de: "),
            ("\n" + LOCAL.format("1", "1", 1) * 2, "Linha 4: repete a linha 3"),
            ("econômico;local\n", "Linha 2, origem: Este campo não pode ser nulo."),
        ]  # fmt: skip  # a table

        for text, fault in cases:
            response = upload(admin_client, NEW + text)

            assert fault in re.sub(r"\s*</?b>\s*", "", text_of(response)).replace("&#x27;", "'")
            assert "confirm_form" not in response.context
        assert rates() == before

    def test_are_all_named_at_once_up_to_a_bound(self, admin_client, tariff):
        few = text_of(upload(admin_client, NEW + LOCAL.format("a", "b", "c")))
        many = text_of(upload(admin_client, NEW + LOCAL.format("a", "b", "c") * 100))

        assert few.count("Linha 2, ") == 3
        assert len(re.findall(r"Linha \d", many)) == 52  # three of the first line, one of each other
        assert "as primeiras 50 estão na lista." in many

    def test_of_the_file_as_a_whole_are_named(self, admin_client, tariff):
        cases = [
            (NEW, "O arquivo não tem linhas abaixo dos títulos."),
            ("zona;serviço\nlocal;econômico\n", "Faltam colunas: origem, destino, até 1 kg (R$), kg adicional (R$)"),
            ("zona;preço\nlocal;1\n", "Coluna desconhecida 'preço'."),
            ("zona;ZONE\nlocal;1\n", "A coluna 'ZONE' aparece duas vezes."),
            ("até 1 kg (R$);base_centavos_up_to_1kg\n1;1\n", "A coluna 'base_centavos_up_to_1kg' aparece duas vezes."),
            (NEW + "a;b;c;d;e;f;g;h\n", "Linha 2: mais células do que títulos"),
        ]

        for text, fault in cases:
            (found,) = upload(admin_client, text).context["form"].errors["import_file"]
            assert fault in found

    def test_are_shown_as_text(self, admin_client, tariff):
        page = upload(admin_client, NEW + LOCAL.format("<script>", "1", 1)).content.decode()

        assert "&lt;script&gt;" in page
        assert "<script>&#x27;" not in page


class TestLimits:
    @pytest.mark.parametrize("content", [b"x" * (MOST_BYTES + 1), b"\n" * 50_000], ids=["bytes", "empty lines"])
    def test_refuse_a_file_before_it_is_parsed(self, admin_client, rates, content, monkeypatch):
        before = rates()
        monkeypatch.delattr("csv.reader")

        page = upload(admin_client, content)

        assert "No máximo 500 linhas e 100 kB por vez." in page.content.decode()
        assert rates() == before

    def test_are_named_for_a_file_whose_end_the_server_has_cut_off(self, admin_client, rates):
        page = admin_client.post(url("import"), {"other": "x" * (table_files.MOST_BYTES + 1)})

        assert "At most 500 rows and 1000 kB at once." in page.content.decode()
        assert "This field is required" not in page.content.decode()


def browser_with(*codenames):
    user = User.objects.create(username="clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    browser = Client()
    browser.force_login(user)
    return browser


class TestRights:
    @pytest.mark.parametrize("permissions", [(), ("change_freightrate",), ("view_freightrate", "add_freightrate")])
    def test_an_import_needs_both_permissions(self, rates, previewed, permissions):
        browser, before = browser_with(*permissions), rates()

        answers = [
            browser.get(url("import")), browser.get(url("template")), upload(browser, NEW + LOCAL.format("1", "1", 1)),
            browser.post(url("process_import"), previewed),
        ]  # fmt: skip  # a list

        assert [answer.status_code for answer in answers] == [403] * 4
        assert rates() == before

    def test_an_import_with_both_permissions_changes_the_rates(self, rates, tariff):
        browser, before = browser_with("change_freightrate", "add_freightrate"), rates()

        response = confirm(browser, upload(browser, NEW + LOCAL.format("44,90", "1,90", 3)))

        assert response.redirect_chain
        assert rates() != before

    def test_an_import_is_of_who_has_seen_its_preview(self, rates, previewed):
        browser, before = browser_with("change_freightrate", "add_freightrate"), rates()

        page = browser.post(url("process_import"), previewed, follow=True)

        assert "Upload the file again" in page.content.decode()
        assert rates() == before

    @pytest.mark.parametrize(("permissions", "status"), [((), 403), (("view_freightrate",), 200)])
    def test_an_export_needs_the_permission_to_view(self, tariff, permissions, status):
        assert browser_with(*permissions).get(url("export")).status_code == status


def test_the_template_has_the_headings_and_a_row_as_an_example(admin_client, tariff):
    response = admin_client.get(url("template"), headers={"Accept-Language": "pt-BR"})

    lines = response.getvalue().decode("utf-8-sig").splitlines()
    assert lines == [
        '"serviço";"zona";"origem";"destino";"até 1 kg (R$)";"kg adicional (R$)";"prazo (dias úteis)"',
        '"Econômico";"Local";"Capital";"Capital";"22,90";"1,90";"3"',
    ]


def test_a_workbook_of_the_table_has_numbers_and_imports_to_the_same(admin_client, tariff):
    raw = b"".join(admin_client.get(url("export"), {"format": "xlsx"}, headers={"Accept-Language": "pt-BR"}))

    assert re.search(rb'<c r="E[0-9]+" s="[0-9]+"><v>22.90</v></c>', parts(raw)[SHEET])
    page = upload(admin_client, raw)
    result = page.context["result"]
    assert (result.changing, len(result.unchanged)) == ([], FreightRate.objects.count())


def test_a_price_of_a_workbook_is_imported(admin_client, rates):
    headings = NEW.strip().split(";")

    confirm(
        admin_client,
        upload(admin_client, workbook([headings, ["econômico", "local", "capital", "capital", 44.9, "1,90", 3]])),
    )

    assert (
        FreightRate.objects.get(
            service="economy", zone="local", origin_kind="capital", destination_kind="capital"
        ).base_centavos
        == 4490
    )

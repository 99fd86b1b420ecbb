"""The freight table as CSV: its preview, the import, and who may do it."""

import re

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from integration.models import FreightRate
from tests.integration.admin.rate_files import LOCAL, NEW, OLD, confirm, upload, url
from tests.integration.factories import DEFAULT_TARIFF


class TestImport:
    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            (NEW + LOCAL.format("44,90", "1,90", 3), "utf-8"),
            (NEW + LOCAL.format("44,90", "1,90", 3), "utf-8-sig"),
            (NEW + LOCAL.format("R$ 44,90", "R$ 1,90", 3), "windows-1252"),
            (NEW.replace(";", ",") + LOCAL.replace(";", ",").format("44.90", "1.90", 3), "utf-8"),
            (OLD + "economy,local,capital,capital,4490,190,3\n", "utf-8"),
            (
                "service;zone;origin;destination;up to 1 kg;further kg;deadline\n" + LOCAL.format("44,90", "1,90", 3),
                "utf-8",
            ),
        ],
        ids=["Brazilian Excel", "with a mark", "Windows-1252", "commas", "centavos", "English headings"],
    )
    def test_takes_what_spreadsheets_write(self, admin_client, rates, text, encoding):
        before = rates()

        preview = upload(admin_client, text, encoding=encoding)
        during = rates()
        done = confirm(admin_client, preview)

        assert preview.context["plan"].counts == {"new": 0, "changed": 1, "unchanged": 0}
        assert during == before
        assert "Imported: 1 changed." in done.content.decode()
        changed = FreightRate.objects.get(service="economy", zone="local")
        assert (changed.base_centavos, changed.extra_kg_centavos, changed.deadline_days) == (4490, 190, 3)
        assert len(set(rates()) - set(before)) == 1

    def test_shows_what_is_new_what_changes_and_what_stays(self, admin_client, tariff):
        FreightRate.objects.filter(zone="far").delete()
        text = NEW + LOCAL.format("22,90", "1,90", 3) + LOCAL.format("44,90", "1,90", 4).replace("local", "distante")
        text += LOCAL.format("31,00", "4,00", 9).replace("econômico;local", "expresso;local")

        response = upload(admin_client, text)

        page = " ".join(response.content.decode().split())
        plan = response.context["plan"]
        base = plan.changes[2].cells[4]
        assert "fretes.csv: 1 nova, 1 alterada, 1 sem mudança" in page
        assert [change.number for change in plan.changing] == [3, 4]
        assert "<b>Econômico, Distante, Capital → Capital</b>" in page
        assert (base.new, base.is_changed) == ("31,00", True)
        assert re.search(rf"<del ?> ?R\$ {base.old} ?</del> → <ins ?> ?R\$ 31,00 ?</ins>", page)

    @pytest.mark.parametrize(
        ("price", "told"),
        [
            ("44,90", "Maior aumento: +96%. Confira os preços em vermelho."), ("22,99", None),
            ("25,00", "Maior aumento: +9%."), ("20,00", None),
        ],
    )  # fmt: skip  # a table
    def test_warns_of_a_price_that_rises_by_more_than_thirty_percent(self, admin_client, tariff, price, told):
        page = " ".join(upload(admin_client, NEW + LOCAL.format(price, "1,90", 3)).content.decode().split())

        assert ("Maior aumento" in page) is bool(told)
        assert (told or "") in page
        assert ("rota-rise is-large" in page) is (price == "44,90")

    def test_adds_the_rows_that_are_new(self, admin_client, tariff):
        FreightRate.objects.all().delete()

        confirm(admin_client, upload(admin_client, DEFAULT_TARIFF.RATES.read_bytes()))

        assert FreightRate.objects.count() == 48
        assert LogEntry.objects.filter(action_flag=ADDITION).count() == 48

    def test_reads_and_writes_the_table_once_however_many_rows_there_are(self, admin_client, tariff):
        text = DEFAULT_TARIFF.RATES.read_text().replace("0,", "1,")
        with CaptureQueriesContext(connection) as captured:
            preview = upload(admin_client, text)
            confirm(admin_client, preview)

        touching = [row["sql"][:6] for row in captured if '"integration_freightrate"' in row["sql"]]
        assert preview.context["plan"].counts["changed"] == 48
        assert touching[:3] == ["SELECT", "SELECT", "UPDATE"]

    def test_of_what_the_table_says_already_offers_nothing_to_confirm(self, admin_client, rates):
        export = admin_client.get(url("export"), headers={"Accept-Language": "pt-BR"}).getvalue()

        preview = upload(admin_client, export)

        assert export.count(b"\n") == FreightRate.objects.count() + 1 == 49
        assert preview.context["plan"].counts == {"new": 0, "changed": 0, "unchanged": 48}
        assert preview.context["previewed"] is None

    def test_shows_a_new_preview_if_the_table_has_changed_meanwhile(self, admin_client, rates, previewed):
        FreightRate.objects.filter(service="economy", zone="local").update(base_centavos=1)
        before = rates()

        page = admin_client.post(url("import"), previewed)

        assert "has changed since the preview" in page.content.decode()
        assert rates() == before
        assert page.context["plan"].changes[0].cells[4].old == "0.01"

    def test_shows_a_new_preview_if_the_text_is_not_the_previewed_one(self, admin_client, rates, previewed):
        before = rates()

        admin_client.post(url("import"), {**previewed, "text": previewed["text"].replace("44,90", "0,01")})

        assert rates() == before


def browser_with(*codenames):
    user = User.objects.create(username="clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    browser = Client()
    browser.force_login(user)
    return browser


class TestRights:
    @pytest.mark.parametrize(
        "permissions",
        [
            (),
            ("view_freightrate",),
            ("view_freightrate", "change_freightrate"),
            ("view_freightrate", "add_freightrate"),
        ],
    )
    def test_an_import_needs_both_permissions(self, rates, previewed, permissions):
        browser, before = browser_with(*permissions), rates()

        answers = [browser.get(url("import")), browser.get(url("template")), browser.post(url("import"), previewed)]

        assert [answer.status_code for answer in answers] == [403, 403, 403]
        assert rates() == before

    def test_an_import_with_both_permissions_changes_the_rates(self, rates, previewed):
        browser, before = browser_with("change_freightrate", "add_freightrate"), rates()

        response = browser.post(url("import"), previewed)

        assert response.status_code == 302
        assert rates() != before

    @pytest.mark.parametrize(
        ("permissions", "status"), [((), 403), (("view_order",), 403), (("view_freightrate",), 200)]
    )
    def test_an_export_needs_the_permission_to_view(self, tariff, permissions, status):
        assert browser_with(*permissions).get(url("export")).status_code == status


def test_the_template_has_the_headings_and_a_row_as_an_example(admin_client, tariff):
    response = admin_client.get(url("template"), headers={"Accept-Language": "pt-BR"})

    lines = response.getvalue().decode("utf-8-sig").splitlines()
    assert lines == [
        '"serviço";"zona";"origem";"destino";"até 1 kg (R$)";"kg adicional (R$)";"prazo (dias úteis)"',
        '"Econômico";"Local";"Capital";"Capital";"22,90";"1,90";"3"',
    ]

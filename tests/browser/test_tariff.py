"""Staff import a tariff that Excel has saved. The clicks are counted, from the list of rates to the changed price."""

import pytest

from integration.models import FreightRate
from tests.integration.factories import load_tariff

pytestmark = pytest.mark.django_db(transaction=True)

HEADINGS = "serviço;zona;origem;destino;até 1 kg (R$);kg adicional (R$);prazo (dias úteis)\r\n"


def file(text):
    return {"name": "tarifas.csv", "mimeType": "text/csv", "buffer": text.encode("windows-1252")}


def test_staff_import_a_tariff_from_excel(tab, people, clicks, locale, say):
    load_tariff()
    people("paula", group="Account staff")
    browser = tab(locale)
    browser.log_in("paula")
    page = browser.go("/admin/integration/freightrate/")
    counted = clicks(page)

    page.get_by_role("link", name=say("Import")).click()
    page.set_input_files("#id_import_file", file(f"{HEADINGS}econômico;local;capital;capital;44,90;abc;3\r\n"))
    page.get_by_role("button", name=say("Show the changes")).click()
    fault = page.locator("#faults li b").inner_text()
    browser.keep(f"import-faults-{locale}")
    problems = browser.findings(f"import-faults-{locale}")
    page.set_input_files(
        "#id_import_file",
        file(
            f"{HEADINGS}econômico;local;capital;capital;44,90;1,90;3\r\n"
            "econômico;estadual;capital;interior;24,90;2,40;5\r\n"
        ),
    )
    page.get_by_role("button", name=say("Show the changes")).click()
    page.locator("#preview").wait_for()
    page.wait_for_load_state()  # the element exists before its table is read
    preview = page.locator("#preview").inner_text()
    browser.keep(f"import-preview-{locale}")
    problems += browser.findings(f"import-preview-{locale}")
    page.get_by_role("button", name=say("Import these changes")).click()
    page.wait_for_url("**/admin/integration/freightrate/")

    assert (
        fault
        == {
            "pt-BR": "Linha 2, kg adicional: 'abc' não é número",
            "en-US": "Line 2, each extra kg: 'abc' is not a number",
        }[locale]
    )
    assert {"pt-BR": "R$ 22,90 → R$ 44,90 (+96%)", "en-US": "R$ 22.90 → R$ 44.90 (+96%)"}[locale] in preview
    assert FreightRate.objects.get(service="economy", zone="local").base_centavos == 4490
    assert counted() == 4
    assert problems == []
    assert browser.complaints == []

"""A seller's orders from an uploaded table."""

import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections

from integration.freight.models import FreightRate
from integration.models import Order, Simulation
from panel import uploaded_rows
from tests.common.workbooks import SHEET, archived, parts, workbook
from tests.integration.factories import COMPANY, OTHER_COMPANY, create_order, load_tariff
from tests.panel.sellers.pages import url

CELLS = {
    "Order number": "P-1", "Recipient": "Ana", "CEP": "40020-000", "Street": "Rua Chile", "Number": "5",
    "District": "Centro", "City": "Salvador", "State": "BA", "Contents": "Cafeteira", "Price each (R$)": "150,50",
    "Weight each (kg)": "1,5", "Length (cm)": "30", "Width (cm)": "10", "Height (cm)": "20",
}  # fmt: skip  # a table


def row(**changes):
    return {**CELLS, **{name.replace("_", " "): value for name, value in changes.items()}}


def file_of(*rows):
    headings = list(rows[0])
    return "\n".join(
        ";".join(str(each.get(name, "")) for name in headings)
        for each in [dict(zip(headings, headings, strict=True)), *rows]
    ).encode()


CUT = "A spreadsheet has cut the digits of this number. Format its column as text, and type it again."


@pytest.fixture(autouse=True)
def origin(seller):
    load_tariff()
    seller.companies.update(postcode="01310100")


@pytest.fixture
def upload(member, seller):
    """Upload a file, and return the address of its page, or the page that refuses it."""

    def send(*rows, content=b"", environment="live"):
        address = url("seller_import", seller).replace("/live/", f"/{environment}/")
        answer = member.post(address, {"file": SimpleUploadedFile("orders.csv", content or file_of(*rows))})
        return answer.url if answer.status_code == 302 else answer.content.decode()

    return send


@pytest.fixture
def advance(member):
    """Work on an upload until its present step is over, and return the text of its page."""

    def go_on(page):
        while "advance/" in (text := member.get(page).content.decode()):
            member.post(f"{page}advance/")
        return re.sub(r"\s+", " ", unescape(text))

    return go_on


@pytest.fixture
def create(member, upload, advance):
    """Upload, look, confirm, and return the text of the result."""

    def go(*rows, **options):
        page = upload(*rows, **options)
        advance(page)
        member.post(f"{page}confirm/")
        return advance(page)

    return go


def faults_of(text):
    found = re.findall(r"<b>([^<]+):</b> ([^<]+)</span>|bad-text\"> ?([^<]+)</span>", text)
    return [(column, fault or other) for column, fault, other in found]


class TestPreview:
    def test_has_the_freight_of_each_row_and_creates_nothing(self, upload, advance):
        text = advance(upload(row(), row(Order_number="P-2", Service="Next (express)")))

        assert "2 orders can be created, with a freight of R$" in text
        assert not Order.objects.exists()

    def test_names_line_and_cell_of_each_fault(self, upload, advance):
        rows = [
            row(),
            {**dict.fromkeys(CELLS, "")},
            row(Order_number="P-2", **{"Price each (R$)": "1.234", "CEP": "123"}),
            row(Street="Rua Outra"),
            row(Order_number=""),
            row(Order_number="5,2E+13"),
        ]

        text = advance(upload(*rows))

        lines = re.findall(r"Line</span> (\d+)</td>", text)
        assert lines == ["4", "5", "6", "7", "2"]
        assert faults_of(text) == [
            ("CEP", "'123': A CEP has eight digits."),
            ("Price each (R$)", "'1.234' can be read in two ways: write thousands without a separator, as 1234"),
            ("", "repeats line 2"),
            ("Order number", "This field is required."),
            ("Order number", f"'5,2E+13': {CUT}"),
        ]

    def test_names_the_orders_that_exist(self, seller, upload, advance):
        create_order(seller, orderId="P-1")

        text = advance(upload(row(), row(Order_number="P-2")))

        assert "1 row has the number of an order that exists" in text
        assert faults_of(text) == [("Order number", "'P-1': You have an order with this number already.")]
        assert "1 order can be created" in text

    def test_names_what_is_probably_a_mistake(self, upload, advance):
        text = advance(upload(row(**{"State": "SP", "CPF or CNPJ": "52998224700"})))

        assert "1 order can be created" in text
        assert "<b>CEP:</b> The CEP is of another state." in text
        assert "<b>CPF or CNPJ:</b> The check digits of the CPF or CNPJ are wrong." in text

    @pytest.mark.parametrize("language", ["en", "pt-BR"])
    @pytest.mark.parametrize("form", ["csv", "xlsx"])
    def test_has_the_template_as_an_example(self, member, seller, create, form, language):
        address = url("seller_import_template", seller)
        content = b"".join(member.get(address, {"format": form}, headers={"Accept-Language": language}))

        create(content=content)

        made = Order.objects.get()
        assert (made.code, made.receiver_document, made.cost) == ("A-1001", "52998224725", Decimal("150.5"))

    def test_takes_headings_in_portuguese_and_those_of_the_api(self, create):
        names = {
            "orderId": "P-1", "Destinatário": "Ana", "zipCode": "40020000", "Rua": "Rua Chile", "streetNumber": "5",
            "bairro": "Centro", "CIDADE": "Salvador", "UF": "BA", "Conteúdo": "Cafeteira",
            "Preço de cada (R$)": "150,5", "Peso de cada (kg)": "1,5", "Comprimento (cm)": "30", "Largura (cm)": "10",
            "Altura (cm)": "20", "Serviço": "Next (expresso)", "Empresa": "11.222.333/0001-81",
        }  # fmt: skip  # a table

        create(names)

        made = Order.objects.get()
        assert (made.code, made.service, made.company.document) == ("P-1", "next", COMPANY)

    def test_names_the_choices_where_a_cell_is_none_of_them(self, upload, advance):
        text = advance(upload(row(Service="Drone", Company="Nobody")))

        assert "'Nobody' is none of: 11.222.333/0001-81" in text
        assert "'Drone' is none of: Base (economy), Next (express), Turbo" in text

    def test_needs_the_company_where_there_are_several(self, seller, upload, advance):
        seller.companies.create(document=OTHER_COMPANY, name="Filial")

        assert faults_of(advance(upload(row()))) == [("Company", "This field is required.")]
        assert "1 order can be created" in advance(upload(row(Company="filial")))

    def test_reads_numbers_of_a_workbook_and_what_formulas_have_given(self, create):
        cells = {
            **row(), "CEP": 1310200, "State": "SP", "Order number": 12, "CPF or CNPJ": 1234567890,
            "Price each (R$)": 150.5, "Invoice number": 123,
        }  # fmt: skip  # a table
        sheet = workbook([list(cells), list(cells.values())])
        content = parts(sheet)
        priced = content[SHEET].replace(b"<v>150.5</v>", b"<f>100+50.5</f><v>150.5</v>")
        assert priced != content[SHEET]

        create(content=archived({**content, SHEET: priced}))

        made = Order.objects.get()
        assert (made.code, made.cost, made.invoice_data) == ("12", Decimal("150.5"), {"number": "123"})
        assert made.receiver["address"]["zipCode"] == "01310200"
        assert made.receiver["document"] == "01234567890"

    def test_takes_no_formula_of_a_text_for_a_number(self, upload, advance):
        text = advance(upload(row(**{"Price each (R$)": "=100+50"})))

        assert faults_of(text) == [("Price each (R$)", "'=100+50' is not a number")]

    @pytest.mark.parametrize("digits", ["5,2998E+10", "1.2E+13"])
    def test_refuses_documents_and_keys_of_which_a_spreadsheet_has_left_a_few_digits(self, upload, advance, digits):
        text = advance(upload(row(**{"CPF or CNPJ": digits, "Access key": digits})))

        cut = f"'{digits}': {CUT}"
        assert faults_of(text) == [("CPF or CNPJ", cut), ("Access key", cut)]

    @pytest.mark.parametrize("number", [500, 501])
    def test_has_500_rows_at_most(self, upload, number):
        page = upload(*(row(Order_number=f"P-{each}", Complement="") for each in range(number)))

        assert page.startswith("/panel/") is (number == 500)
        assert number == 500 or "At most 500 rows" in page

    def test_of_a_file_without_the_columns_is_refused(self, upload):
        assert "Unknown column" in upload({"Colour": "red"})
        assert "The file has no rows below its headings." in upload(content=workbook([list(CELLS)]))
        assert "no XLSX workbook that can be read" in upload(content=b"PK\x03\x04 not an archive")

    def test_of_a_hostile_workbook_is_refused(self, upload):
        content = parts(workbook([list(CELLS), list(CELLS.values())]))
        large = {**content, SHEET: content[SHEET] + b" " * 6_000_000}

        assert "The workbook is too large inside." in upload(content=archived(large))
        assert not Order.objects.exists()

    def test_of_another_seller_or_environment_is_not_found(self, member, upload, foreign_seller, seller):
        page = upload(row())

        assert member.get(page.replace("/live/", "/sandbox/")).status_code == 302
        assert member.post(f"{page.replace('/live/', '/sandbox/')}advance/").status_code == 404
        assert member.get(page.replace(f"/{seller.pk}/", f"/{foreign_seller.pk}/")).status_code == 404

    def test_is_not_gone_past_without_a_confirmation(self, member, upload, advance):
        page = upload(row())
        member.post(f"{page}confirm/")  # before its rows are checked
        advance(page)

        member.post(f"{page}advance/")

        assert not Order.objects.exists()


class TestConfirmation:
    @pytest.mark.parametrize("seconds", [1, 0], ids=["at once", "one row at a time"])
    def test_creates_each_row_once_and_prints_their_labels(self, member, create, monkeypatch, seconds):
        monkeypatch.setattr(uploaded_rows, "PORTION_SECONDS", seconds)

        text = create(row(), row(Order_number="P-2", CEP="123"), row(Order_number="P-3", Volumes="2"))

        assert "2 orders created" in text
        made = Order.objects.order_by("pk")
        assert [each.code for each in made] == ["P-1", "P-3"]
        assert all(each.freight for each in made)
        (address,) = re.findall(r'action="([^"]+labels/)"', text)
        fields = dict(re.findall(r'name="(size|position|format)" value="([^"]+)"', text))
        keys = re.findall(r'name="order" value="(\d+)"', text)
        labels = member.post(address, {**fields, "order": keys})
        assert (labels.status_code, labels["Content-Type"]) == (200, "application/pdf")
        assert keys == [str(each.pk) for each in made]

    def test_of_many_orders_has_a_file_of_labels_for_each_hundred(self, create):
        text = create(*(row(Order_number=f"P-{number}") for number in range(1, 103)))

        assert "Print the labels of P-1 to P-100" in text
        assert "Print the labels of P-101 to P-102" in text

    def test_of_the_same_file_again_doubles_nothing(self, create, upload, advance):
        create(row(), row(Order_number="P-2"))

        text = advance(upload(row(), row(Order_number="P-2")))

        assert "2 rows have numbers of orders that exist" in text
        assert faults_of(text) == []
        assert "No order can be created" in text
        assert Order.objects.count() == 2

    def test_leaves_out_an_order_that_was_created_meanwhile(self, member, seller, upload, advance):
        page = upload(row(), row(Order_number="P-2"))
        advance(page)
        create_order(seller, orderId="P-1")

        member.post(f"{page}confirm/")
        text = advance(page)

        assert "1 order created" in text
        assert faults_of(text) == [("Order number", "'P-1': You have an order with this number already.")]
        assert Order.objects.count() == 2

    def test_creates_no_order_at_another_freight_than_was_shown(self, member, upload, advance):
        page = upload(row())
        advance(page)
        FreightRate.objects.update(base_centavos=99_900)

        member.post(f"{page}confirm/")

        assert "The freight has changed meanwhile." in advance(page)
        assert not Order.objects.exists()

    def test_refuses_rows_of_a_company_that_left_the_seller(self, member, seller, foreign_seller, upload, advance):
        page = upload(row())
        advance(page)
        seller.companies.update(seller=foreign_seller)
        seller.companies.create(document="12345678000195", name="Other")

        member.post(f"{page}confirm/")

        assert "1 row was refused meanwhile." in advance(page)
        assert not Order.objects.exists()

    def test_has_the_simulated_carrier_come_in_the_sandbox_alone(self, create):
        create(row())
        create(row(), environment="sandbox")

        assert [each.order.environment for each in Simulation.objects.select_related("order")] == ["sandbox"]

    def test_is_refused_of_a_seller_that_is_suspended_meanwhile(self, member, upload, advance, request):
        page = upload(row())
        advance(page)
        request.getfixturevalue("suspended_seller")

        member.post(f"{page}confirm/")
        member.post(f"{page}advance/")

        assert not Order.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_confirmations_at_once_create_each_order_once(member, seller, upload, advance):
    page = upload(row(), row(Order_number="P-2"))
    advance(page)

    def press(step):
        try:
            return member.post(f"{page}{step}/").status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(press, ["confirm"] * 4))
        answers += pool.map(press, ["advance"] * 4)
    advance(page)

    assert set(answers) == {302}
    assert sorted(Order.objects.values_list("code", flat=True)) == ["P-1", "P-2"]

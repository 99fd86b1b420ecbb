"""Files of events in the admin: what they say, their preview, and that nothing is written before it is confirmed."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from common.files.csv_files import MOST_BYTES, MOST_IMPORTED
from integration.actions import orders
from integration.carriers import movements
from integration.carriers.movement_files import read
from integration.lifecycle import Status
from integration.models import StatusLog
from tests.cases import in_turn
from tests.common.workbooks import workbook
from tests.integration.factories import BY, COMPANY, OTHER_COMPANY, create_order

PAGE = reverse("admin:integration_order_movements")
PORTUGUESE = "código de rastreio;status;ocorrido em;código do motivo;motivo por extenso;lugar;vendedor\n"
API = "trackingCode,status,occurredAt,code,reason,place,seller\n"


def upload(client, text, *, encoding="utf-8"):
    raw = text if isinstance(text, bytes) else text.encode(encoding)
    return client.post(PAGE, {"file": File("eventos.csv", raw)}, headers={"Accept-Language": "pt-BR"})


def confirm(client, page):
    fields = dict(re.findall(r'name="(upload|digest)" value="([\w-]+)"', page.content.decode()))
    return client.post(PAGE, fields, follow=True)


def text_of(page):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.content.decode())).split())


def entries():
    return list(StatusLog.objects.exclude(status="pending").values_list("order__tracking_code", "status"))


@pytest.fixture
def order(seller):
    return create_order(seller, trackingCode="AA1")


class TestFile:
    @pytest.mark.parametrize(
        ("text", "encoding"),
        [
            (PORTUGUESE + "aa-1;não entregue;;Ninguém no local;;Campinas;\n", "windows-1252"),
            (PORTUGUESE + "AA1;delivery_failed;;absent;;Campinas;\n", "utf-8"),
            (API + 'AA1,"delivery_failed",,ABSENT,,Campinas,\n', "utf-8"),
        ],
        ids=["labels", "codes", "the API's keys"],
    )
    def test_is_what_spreadsheets_write(self, admin_client, order, text, encoding):
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        preview = upload(admin_client, text, encoding=encoding)
        during = entries()
        done = confirm(admin_client, preview)

        assert during == [("AA1", "collected")]
        assert "Events recorded: 1" in done.content.decode()
        entry = StatusLog.objects.latest("pk")
        assert (entry.status, entry.reason_code, entry.place) == ("delivery_failed", "ABSENT", "Campinas")
        assert entry.by == "user admin"
        assert LogEntry.objects.get().object_id == str(order.pk)

    def test_moves_an_order_through_several_statuses_and_counts_the_new_ones(self, admin_client, order):
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())
        lines = "AA1,collected,,,,,\nAA1,in_transit,,,,,\nAA1,delivered,,,,,\n"

        page = text_of(confirm(admin_client, upload(admin_client, API + lines)))

        assert [status for _code, status in entries()] == ["collected", "in_transit", "delivered"]
        assert "Events recorded: 2" in page
        assert LogEntry.objects.filter(object_id=order.pk).count() == 2

    def test_does_nothing_when_it_is_sent_again(self, admin_client, order):
        text = API + "AA1,collected,,,,,\nAA1,in_transit,,,,,\n"
        first = upload(admin_client, text)
        confirm(admin_client, first)

        again = upload(admin_client, text)
        confirm(admin_client, first)  # pressed twice

        assert "Tudo já está registrado" in text_of(again)
        assert 'name="upload"' not in again.content.decode()
        assert [status for _code, status in entries()] == ["collected", "in_transit"]

    def test_has_its_faults_named_by_line_and_column(self, admin_client, seller, other_seller, order):
        for owner, document in ((seller, COMPANY), (other_seller, OTHER_COMPANY)):
            create_order(owner, trackingCode="BB1", orderId="B-1", company_document=document)
        text = PORTUGUESE + (
            "AA1;collected;;;;;\n"
            "AA1;returned;ontem;;;;\n"
            "AA1;cancelled;;;;;\n"
            ";collected;;;;;\n"
            "AA1;delivered;;;;;\n"
            "AA1;in_transit;;;;;\n"
            "XX;collected;;;;;\n"
            "BB1;collected;;;;;\n"
            "AA1;delivered;;;;;;x\n"
        )

        preview = upload(admin_client, text)

        page = text_of(preview)
        for fault in (
            "Linha 3, ocorrido em: 'ontem': escreva como 28/11/2026 14:30 ou 2026-11-28 14:30, horário de Brasília",
            "Linha 4, status: 'cancelled' não é nenhum de:",
            "Linha 5, código de rastreio: Este campo é obrigatório",
            "Linha 7, status: De “Entregue” um pedido não passa a “Em trânsito”",
            "Linha 8, código de rastreio: Nenhum pedido tem o código de rastreio XX",
            "Linha 9, vendedor: Mais de um pedido tem o código de rastreio BB1",
            "Linha 10: mais células do que títulos",
        ):
            assert fault in page
        may_confirm = 'name="upload"' in preview.content.decode()
        assert (seller.reference in page, may_confirm, entries()) == (True, False, [])

    @pytest.mark.parametrize("to", [Status.DELIVERED, Status.COLLECTED])  # the file is refused, or moves nothing
    def test_is_previewed_anew_when_an_order_has_moved(self, admin_client, order, to):
        preview = upload(admin_client, API + "AA1,collected,,,,,\n")
        orders.move(order=order, to=to, by=BY, at=timezone.now())

        page = text_of(confirm(admin_client, preview))

        assert "Orders have changed since the preview" in page
        assert entries() == [("AA1", to)]

    @pytest.mark.parametrize("is_of_another", [True, False])
    def test_is_previewed_anew_when_it_means_another_order(self, admin_client, seller, other_seller, is_of_another):
        """Another seller's order may have the same orderId."""
        first = create_order(seller, trackingCode="AA-1")
        preview = upload(admin_client, API + "AA1,collected,,,,,\n")
        if is_of_another:
            create_order(other_seller, orderId=first.code, trackingCode="AA1", company_document=OTHER_COMPANY)
        else:
            create_order(seller, orderId="B-2", trackingCode="AA1")

        page = text_of(confirm(admin_client, preview))

        assert "Orders have changed since the preview" in page
        assert entries() == []

    def test_names_the_lines_whose_orders_moved_in_this_moment(self, admin_client, order, monkeypatch):
        preview, record = upload(admin_client, API + "AA1,collected,,,,,\n"), movements.record

        def after_another_move(*events, **arguments):
            orders.move(order=order, to=Status.DELIVERED, by=BY, at=timezone.now())
            return record(*events, **arguments)

        monkeypatch.setattr(movements, "record", after_another_move)
        page = text_of(confirm(admin_client, preview))

        assert "Events recorded: 0" in page
        assert "Line 2: " in page
        assert entries() == [("AA1", "delivered")]

    def test_is_confirmed_by_nobody_but_who_has_sent_it(self, admin_client, order):
        preview, other = upload(admin_client, API + "AA1,collected,,,,,\n"), Client()
        other.force_login(User.objects.create_superuser("other"))

        page = confirm(other, preview)

        assert (page.status_code, entries()) == (422, [])

    @in_turn(
        ("raw", "told"),
        [
            (b"trackingCode\nAA1\n", "Faltam colunas: status"),
            (b"trackingCode,status,x\nAA1,collected,1\n", "Coluna desconhecida 'x'"),
            (b"trackingCode,status,status\nAA1,collected,1\n", "A coluna 'status' aparece duas vezes"),
            (b"PK\x03\x04", "não é uma planilha XLSX que se possa ler"),
            (b"x" * (MOST_BYTES + 1), "No máximo"),
            (API.encode() + b"AA1,collected,,,,,\n" * (MOST_IMPORTED + 1), "No máximo"),
        ],
    )
    def test_that_cannot_be_read_is_refused(self, admin_client, order, raw, told):
        page = upload(admin_client, raw)

        assert page.status_code == 422
        assert told in text_of(page)

    @in_turn(
        "lines",
        [
            "trackingCode;status;;\r\nAA1;collected;;\r\n",
            "sep=;\r\ntrackingCode;status\r\nAA1;collected\r\n",
            "sep=,\r\ntrackingCode,status\r\nAA1,collected\r\n",
            "trackingCode\tstatus\r\nAA1\tcollected\r\n",
            "trackingCode;status\r\n'AA1;collected\r\n",
            'trackingCode;status\r\n"=""AA1""";collected\r\n',
        ],
    )
    def test_may_be_as_programs_save_it(self, admin_client, order, lines):
        confirm(admin_client, upload(admin_client, lines, encoding="cp1252"))

        assert entries() == [("AA1", "collected")]

    def test_may_be_a_workbook(self, admin_client, order):
        now = timezone.localtime().replace(microsecond=0, tzinfo=None)
        raw = workbook([["código de rastreio", "status", "ocorrido em"], ["AA1", "collected", now]])

        confirm(admin_client, upload(admin_client, raw))

        assert entries() == [("AA1", "collected")]
        assert StatusLog.objects.latest("pk").happened_at == timezone.make_aware(now)

    @pytest.mark.parametrize("form", ["%d/%m/%Y", "%Y-%m-%d"])
    def test_takes_a_day_without_a_time_for_its_last_moment_until_now(self, admin_client, order, form):
        confirm(admin_client, upload(admin_client, f"{API}AA1,collected,{timezone.localtime():{form}},,,,\n"))

        entry = StatusLog.objects.latest("pk")
        assert entries() == [("AA1", "collected")]
        assert entry.happened_at
        assert order.created_at < entry.happened_at <= timezone.now()

    @pytest.mark.parametrize(
        ("text", "time"),
        [
            ("05/11/2026", "23:59:59"),
            ("05/11/2026 14:30", "14:30:00"),
            ("05/11/2026 14:30:15", "14:30:15"),
            ("2026-11-05 14:30", "14:30:00"),
            ("2026-11-05 14:30:15", "14:30:15"),
        ],
    )
    def test_takes_a_past_day_for_its_end_and_a_time_as_it_is_written(self, text, time):
        ((_line, event),), faults = read(f"{API}AA1,collected,{text},,,,\n".encode())

        assert faults == []
        assert str(timezone.localtime(event.happened_at)) == f"2026-11-05 {time}-03:00"

    def test_refuses_a_day_that_has_not_begun(self, admin_client, order):
        day = timezone.localdate() + timedelta(days=2)

        assert "Linha 2, ocorrido em" in text_of(upload(admin_client, f"{API}AA1,collected,{day},,,,\n"))

    def test_moves_no_test_order(self, admin_client, seller):
        create_order(seller, "sandbox", trackingCode="TEST")

        assert "Linha 2, código de rastreio" in text_of(upload(admin_client, API + "TEST,collected,,,,,\n"))

    def test_is_for_who_may_move_orders(self, db, order):
        user = User.objects.create_user("viewer", is_staff=True)
        user.user_permissions.add(Permission.objects.get(codename="view_order"))
        client = Client()
        client.force_login(user)

        assert [client.get(PAGE).status_code, upload(client, API).status_code] == [403, 403]
        assert client.get(reverse("admin:integration_order_movements_template")).status_code == 403


class TestTemplate:
    @pytest.mark.parametrize("form", ["", "xlsx"])
    def test_is_a_file_that_can_be_read(self, admin_client, form):
        file = b"".join(admin_client.get(reverse("admin:integration_order_movements_template"), {"format": form}))

        ((line, event),), faults = read(file)

        assert (line, event.tracking_code, event.status, faults) == (2, "AA123456785BR", "collected", [])

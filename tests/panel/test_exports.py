"""Lists as files: CSV for programs, XLSX for people."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from common.files import csv_files
from common.files.table_files import read
from delivery.actions import deliveries
from delivery.geo.distance import Point
from delivery.models import EventState, WebhookAttempt, WebhookEvent
from delivery.payload import Place
from panel import filters
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, validated_payload
from tests.panel.conftest import table

ADDRESS = {
    "street": "Rua Augusta", "number": "12", "complement": "Apto 42", "district": "Consolação", "city": "São Paulo",
    "state": "SP", "zipcode": "01310200",
}  # fmt: skip  # a table


class TestDeliveries:
    @pytest.fixture
    def delivery(self, shop):
        stop = Place(point=Point(*DROPOFFS[0]), address=ADDRESS, external_id="ped-7", contact_name="=cmd|' /C calc'!A0")
        pickup = Place(point=PICKUP, address={}, contact_name="Padaria", contact_phone="+55 11 3333-0000")
        payload = validated_payload(dropoffs=[stop], pickup=pickup)
        return deliveries.request(token=shop.token, payload=payload, by=BY, at=timezone.now())

    def test_have_a_row_each_with_their_drop_offs(self, member, url, delivery):
        (row,) = table(member.get(url("deliveries_export"), {"q": "ped-7"}))

        assert [*row][-2:] == ["Second attempts", "Way back after a failure"]
        assert None not in row
        assert row["deliveryId"] == str(delivery.pk)
        assert row["Status"] == "Waiting for a driver"
        assert row["Price"] == str(delivery.shipping_value)
        assert row["B: externalId"] == "ped-7"
        assert row["B: Address"] == "Rua Augusta, 12, Apto 42, Consolação, São Paulo, SP"
        assert row["B: CEP"] == "01310-200"
        assert row["A: Phone"] == "'+55 11 3333-0000"
        assert row["B: Name"].startswith("'=cmd")  # no formula

    def test_say_that_a_route_is_scheduled(self, member, url, shop):
        found = scheduled(timedelta(hours=3), at=timezone.now(), token=shop.token)

        rows = table(member.get(url("deliveries_export")))

        row = next(each for each in rows if each["deliveryId"] == str(found.pk))
        assert (row["Status"], row["B: Status"]) == ("Scheduled", "Scheduled")

    def test_are_in_portuguese_with_semicolons_and_decimal_commas(self, member, url, delivery):
        response = member.get(url("deliveries_export"), {"q": "ped-7"}, headers={"Accept-Language": "pt-br"})

        (row,) = table(response, ";")
        assert row["Status"] == "Esperando entregador"
        assert row["Preço"] == str(delivery.shipping_value).replace(".", ",")

    def test_are_those_that_the_filter_selects(self, member, url, shop, delivery):
        assert len(table(member.get(url("deliveries_export")))) == 2
        assert table(member.get(url("deliveries_export"), {"status": "FAILED"})) == []

    def test_say_when_older_ones_were_not_searched(self, member, url, shop, monkeypatch):
        monkeypatch.setattr(filters, "_MOST_PORTIONS", 2)
        monkeypatch.setattr(filters, "_SCANNED", 1)
        for _number in range(4):
            DeliveryFactory.create(token=shop.token, stops=1)

        rows = table(member.get(url("deliveries_export"), {"q": "order"}))

        assert len(rows) == 3
        assert "were not searched" in rows[2]["deliveryId"]

    def test_make_no_more_queries_for_more_rows(self, member, url, shop, django_assert_max_num_queries):
        for _number in range(10):
            DeliveryFactory.create(token=shop.token, accepted=True)
        with django_assert_max_num_queries(14):
            assert len(table(member.get(url("deliveries_export")))) == 11

    def test_end_at_the_bound(self, member, url, shop, monkeypatch):
        monkeypatch.setattr(csv_files, "MOST_EXPORTED", 1)
        DeliveryFactory.create(token=shop.token, stops=1)

        assert "Only the first 1 rows" in table(member.get(url("deliveries_export")))[1]["deliveryId"]


class TestWorkbook:
    def test_has_what_the_list_has_with_identifiers_as_text(self, member, url, shop):
        stop = Place(point=Point(*DROPOFFS[0]), address=ADDRESS, external_id="000123456789012345678")
        payload = validated_payload(dropoffs=[stop])
        made = deliveries.request(token=shop.token, payload=payload, by=BY, at=timezone.now())

        response = member.get(url("deliveries_export"), {"q": "00012345678", "format": "xlsx"})

        heading, row, *others = read(b"".join(response))
        cells = dict(zip(heading.cells, row.cells, strict=False))
        assert others == []
        assert response["Content-Disposition"] == 'attachment; filename="deliveries.xlsx"'
        assert cells["deliveryId"] == str(made.pk)
        assert cells["B: externalId"] == "000123456789012345678"
        assert cells["B: CEP"] == "01310-200"
        assert Decimal(cells["Price"]) == made.shipping_value

    def test_is_offered_before_the_csv_file_and_keeps_the_filter(self, member, url, shop):
        page = member.get(url("deliveries"), {"q": "order"}).content.decode()

        links = re.findall(r'href="([^"]*export/[^"]*)"', page)
        assert [link.partition("?")[2].replace("&amp;", "&") for link in links] == [
            "q=order&format=xlsx", "q=order",
        ]  # fmt: skip  # a list
        assert "CSV is for programs" in page

    def test_says_when_older_ones_were_not_searched(self, member, url, shop, monkeypatch):
        monkeypatch.setattr(filters, "_MOST_PORTIONS", 1)
        monkeypatch.setattr(filters, "_SCANNED", 1)
        for _number in range(2):
            DeliveryFactory.create(token=shop.token, stops=1)

        raw = b"".join(member.get(url("deliveries_export"), {"q": "order", "format": "xlsx"}))

        assert "were not searched" in read(raw)[-1].cells[0]


class TestEvents:
    def test_have_a_row_each_with_the_last_attempt(self, member, url, with_url):
        event = with_url.event
        WebhookAttempt.objects.create(event=event, number=1, at=timezone.now(), milliseconds=47, status_code=503)
        WebhookEvent.objects.filter(pk=event.pk).update(state=EventState.DEAD, attempts_made=1)

        (row,) = table(member.get(url("events_export"), {"state": "dead"}))

        assert (row["webhook-id"], row["State"]) == (str(event.pk), "Failed, no more retries")
        assert (row["Last answer"], row["ms"], row["Attempts"]) == ("503", "47", "1")
        assert table(member.get(url("events_export"), {"state": "sent"})) == []

"""Deliveries found by part of an externalId or by the recipient, among the newest that a page looks at."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.geo.distance import Point
from delivery.payload import Place
from panel import filters
from tests.cases import in_turn
from tests.factories import BY, DROPOFFS, DeliveryFactory, validated_payload


@pytest.fixture
def request_for(shop):
    """Request a delivery for a recipient."""

    def make(name, external_id="", *, token=None):
        stop = Place(point=Point(*DROPOFFS[0]), address={}, external_id=external_id, contact_name=name)
        payload = validated_payload(dropoffs=[stop])
        return deliveries.request(token=token or shop.token, payload=payload, by=BY, at=timezone.now())

    return make


@pytest.fixture
def found(member, url):
    def search(text, **query):
        return [row.pk for row in member.get(url("deliveries"), {"q": text, **query}).context["rows"]]

    return search


class TestSearch:
    @in_turn("text", ["jose", "JOSÉ", "josé da c", " Conceição ", "conceicao"])
    def test_finds_a_recipient_whatever_the_case_and_accents(self, found, request_for, text):
        wanted = request_for("José da Conceição")
        request_for("Maria")

        assert found(text) == [wanted.pk]

    @pytest.mark.parametrize("text", ["ped-77", "77", "PED-7"])
    def test_finds_part_of_an_external_id(self, found, request_for, text):
        wanted = request_for("Maria", "ped-778")
        request_for("Maria", "ped-661")

        assert found(text) == [wanted.pk]

    def test_finds_a_whole_external_id_alone(self, found, request_for):
        wanted = request_for("Maria", "ped-7")
        request_for("Maria", "ped-77")

        assert found("ped-7") == [wanted.pk]

    @in_turn("text", ["%", "_", "\\", "é" * 255, "'"])
    def test_takes_every_character_as_itself(self, found, request_for, text):
        request_for("Maria", "ped-77")

        assert found(text) == []

    def test_finds_nothing_of_another_account(self, found, request_for):
        request_for("Maria Estranha", token=DeliveryFactory.create().token)

        assert found("estranha") == []

    def test_goes_together_with_dates_and_status(self, found, request_for):
        wanted = request_for("José")
        tomorrow = (timezone.localtime() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")

        assert found("jose", until=tomorrow, status="PENDING") == [wanted.pk]
        assert found("jose", since=tomorrow) == []
        assert found("jose", status="FAILED") == []


class TestBound:
    @pytest.fixture(autouse=True)
    def _few(self, monkeypatch):
        monkeypatch.setattr(filters, "_SCANNED", 3)

    def test_is_named_and_the_next_page_goes_on(self, member, url, request_for):
        wanted = request_for("José")
        for _number in range(3):
            request_for("Maria")

        first = member.get(url("deliveries"), {"q": "jose"})
        (older,) = re.findall(r'href="(\?[^"]*before=[^"]+)"[^>]*>Search further', first.content.decode())
        second = member.get(url("deliveries") + older.replace("&amp;", "&"))

        assert list(first.context["rows"]) == []
        assert [row.pk for row in second.context["rows"]] == [wanted.pk]
        assert second.context["searched_until"] is None

    def test_reads_no_more_than_so_many_deliveries(self, member, url, request_for, django_assert_max_num_queries):
        for _number in range(9):
            request_for("José")

        with django_assert_max_num_queries(14):
            rows = member.get(url("deliveries"), {"q": "jose"}).context["rows"]

        assert len(rows) == 3


class TestPeriod:
    @pytest.mark.parametrize(
        ("period", "count"),
        [("hour", 1), ("day", 3), ("week", 5), ("month", 7)],
    )
    def test_selects_what_was_requested_within_it(self, member, url, shop, period, count):
        ages = {
            DeliveryFactory.create(token=shop.token, stops=1, at=timezone.now() - timedelta(hours=age)).pk: age
            for age in (0.5, 1.1, 23.5, 24.1, 167.5, 168.1, 719.5, 720.1)
        }

        rows = member.get(url("deliveries"), {"period": period}).context["rows"]

        assert [ages[row.pk] for row in rows if row.pk in ages] == list(ages.values())[:count]

    def test_replaces_the_moments_that_a_browser_still_sends(self, member, url, shop):
        query = {"period": "day", "since": "2030-01-01T00:00", "until": "2020-01-01T00:00"}

        assert [row.pk for row in member.get(url("deliveries"), query).context["rows"]] == [shop.delivery.pk]

    def test_is_from_until_with_a_moment_alone(self, member, url):
        form = member.get(url("deliveries"), {"since": "2020-01-01T00:00"}).context["filters"]

        assert form["period"].value() == "range"

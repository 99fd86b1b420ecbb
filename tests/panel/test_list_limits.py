"""Lists of the panel with exactly as many rows as a page shows, and with one more."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.models import AuditEntry, Integrator
from integration.models import Seller
from tests.factories import DeliveryFactory

HOME = reverse("panel:home")


@pytest.fixture
def delivery_count(shop):
    """Make so many deliveries of the shop, its first one included."""

    def make(count):
        for _further in range(count - 1):
            DeliveryFactory.create(token=shop.token, stops=1)

    return make


def rows(content):
    return content.split("<tbody>")[1].split("</tbody>")[0].count("<tr>")


class TestDeliveries:
    @pytest.mark.parametrize(("count", "first", "second"), [(50, 50, None), (51, 50, 1)])
    def test_are_fifty_to_a_page(self, member, url, delivery_count, count, first, second):
        delivery_count(count)

        page = member.get(url("deliveries")).content.decode()

        cursor = re.search(r'href="(\?before=[^"]+)"', page)
        assert rows(page) == first
        assert bool(cursor) is bool(second)
        if cursor:
            older = member.get(url("deliveries") + cursor[1]).content.decode()
            assert rows(older) == second
            assert not re.search(r'href="\?before=', older)

    def test_made_in_one_instant_are_each_listed_once(self, member, shop, url):
        now = timezone.now()
        for _further in range(51):
            DeliveryFactory.create(token=shop.token, stops=1, at=now)

        first = member.get(url("deliveries")).content.decode()
        (older,) = re.findall(r'href="(\?before=[^"]+)"', first)
        second = member.get(url("deliveries") + older).content.decode()

        keys = re.findall(r"/deliveries/([0-9a-f-]{36})/", first + second)
        assert len(keys) == len(set(keys)) == 52


class TestActivity:
    @pytest.mark.parametrize(("count", "older"), [(50, False), (51, True)])
    def test_has_fifty_entries_to_a_page(self, member, shop, url, count, older):
        missing = count - AuditEntry.objects.filter(integrator=shop.integrator, environment="live").count()
        entry = AuditEntry.objects.filter(integrator=shop.integrator, environment="live").latest("pk")
        for _further in range(missing):
            entry.pk = None
            entry.save(force_insert=True)

        page = member.get(url("activity")).content.decode()

        assert rows(page) == 50
        assert ("?page=2" in page) is older


class TestHome:
    @pytest.mark.parametrize(("count", "has_search"), [(10, False), (11, True)])
    def test_has_a_search_with_more_than_ten_accounts_and_sellers(self, as_role, count, has_search):
        browser = as_role("superuser")
        existing = Integrator.objects.count() + Seller.objects.count()
        Integrator.objects.bulk_create(Integrator(name=f"Shop {n}") for n in range(count - existing))

        assert ('name="q"' in browser.get(HOME).content.decode()) is has_search

    @pytest.mark.parametrize("model", [Integrator, Seller])
    @pytest.mark.parametrize(("count", "says_more"), [(100, False), (101, True)])
    def test_shows_a_hundred_and_says_when_there_are_more(self, as_role, model, count, says_more):
        browser = as_role("superuser")
        further = range(count - model.objects.count())
        model.objects.bulk_create(
            model(name=f"S {n}", **({"reference": f"SEL-{n}"} if model is Seller else {})) for n in further
        )

        content = browser.get(HOME).content.decode()

        assert ("The first 100 are shown" in content) is says_more
        assert content.count(" 100 ") <= 1
        listed = re.findall(
            r"/panel/accounts/[^/]+/live/" if model is Integrator else r"/panel/sellers/\d+/\"", content
        )
        assert len(set(listed)) == 100

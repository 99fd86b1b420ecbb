"""Lists of the panel with exactly as many rows as a page shows, and with one more."""

import re

import pytest
from django.urls import reverse

from delivery.models import Integrator
from integration.models import Seller

HOME = reverse("panel:home")


class TestHome:
    @pytest.mark.parametrize(("count", "has_search"), [(10, False), (11, True)])
    def test_has_a_search_with_more_than_ten_accounts_and_sellers(self, as_role, count, has_search):
        browser = as_role("superuser")
        existing = Integrator.objects.count() + Seller.objects.count()
        Integrator.objects.bulk_create(Integrator(name=f"Shop {n}") for n in range(count - existing))

        # Otherwise the card has the order only, for a phone, where columns have no heads.
        assert ('filters only-on-phone"' not in browser.get(HOME).content.decode()) is has_search

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
            r"/panel/accounts/[^/]+/live/" if model is Integrator else r"/panel/sellers/\d+/sandbox/\"", content
        )
        assert len(set(listed)) == 100

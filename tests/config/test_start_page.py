"""The admin's first page: what it shows to whom, its links, and the panel's menu and search."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from delivery.models import WebhookEndpoint
from tests.factories import DeliveryFactory, IntegratorFactory, TokenFactory

INDEX = reverse("admin:index")
_OF_ALERTS = [
    "Webhook down", "Without a driver", "Late", "First attempt failed", "Not delivered", "Goods in hand",
]  # fmt: skip  # a list


def work(client):
    return [(each.name, each.count, each.url) for each in client.get(INDEX).context["work"]]


class TestStartPage:
    @pytest.mark.parametrize(
        ("role", "names"),
        [
            ("account staff", _OF_ALERTS),
            ("dispatcher", ["Routes under way", "Late routes"]),
            ("superuser", ["Routes under way", "Late routes", *(name for name in _OF_ALERTS if name != "Late")]),
        ],
    )
    def test_shows_each_role_what_it_can_act_on(self, as_role, role, names):
        assert [name for name, _count, _url in work(as_role(role))] == names

    @pytest.mark.parametrize(
        ("role", "shown", "hidden"),
        [
            (
                "account staff",
                {"Activity", "Events of sellers", "Changes of prices and rules"},
                {"Events", "Movements"},
            ),
            ("dispatcher", {"Events of sellers", "Changes of prices and rules"}, {"Activity", "Events", "Movements"}),
            (
                "superuser",
                {"Activity", "Events", "Events of sellers", "Changes of prices and rules", "Movements"},
                set(),
            ),
        ],
    )
    def test_leads_each_role_to_the_lists_that_no_other_page_leads_to(self, as_role, role, shown, hidden):
        groups = as_role(role).get(INDEX).context["groups"]
        found = {entry["title"] for group in groups for entry in group["entries"]}

        assert {"Events of sellers", "Changes of prices and rules", *shown} <= found
        assert not hidden & found

    def test_counts_the_routes_of_the_live_environment(self, as_role, db):
        dispatcher = as_role("dispatcher")
        before = int(work(dispatcher)[0][1])
        DeliveryFactory.create()
        DeliveryFactory.create(at=timezone.now() - timedelta(minutes=11))
        DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        board = reverse("panel:board")
        assert work(dispatcher) == [
            ("Routes under way", str(before + 2), board),
            ("Late routes", "1", f"{board}?tab=late"),
        ]

    def test_counts_the_open_alerts_by_kind(self, as_role, db):
        endpoints = WebhookEndpoint.objects.filter(integrator=IntegratorFactory.create(), environment="live")
        endpoints.update(url="https://shop.example.com/", failures=7, failing_since=timezone.now())

        assert work(as_role("account staff"))[0] == (
            "Webhook down", "1", f"{reverse('panel:all_alerts')}?kind=webhook",
        )  # fmt: skip  # a row

    def test_names_last_what_there_is_none_of(self, as_role, db):
        DeliveryFactory.create(at=timezone.now() - timedelta(hours=1))

        counts = [count for _name, count, _url in work(as_role("account staff"))]

        assert counts[0] != "0"
        assert counts == sorted(counts, key="0".__eq__)

    def test_makes_the_same_number_of_queries_for_any_number_of_accounts(self, as_role, db, django_assert_num_queries):
        client = as_role("superuser")

        def fill(number):
            for token in TokenFactory.create_batch(number):
                DeliveryFactory.create(token=token, at=timezone.now() - timedelta(hours=1))

        fill(1)
        client.get(INDEX)
        with CaptureQueriesContext(connection) as few:
            client.get(INDEX)
        fill(4)

        with django_assert_num_queries(len(few)):
            client.get(INDEX)


def test_has_the_menu_and_the_search_of_the_panel(admin_client):
    panel, start = (admin_client.get(reverse(name)).content.decode() for name in ("panel:home", "admin:index"))
    menus = [each.partition('<nav aria-label="Rota">')[2].partition("</nav>")[0] for each in (panel, start)]

    assert reverse("panel:board") in menus[0]
    assert re.findall(r'href="([^"]*)"', menus[0]) == re.findall(r'href="([^"]*)"', menus[1])
    assert '<dialog class="search-dialog"' in start
    assert f'href="{reverse("panel:search")}" data-opens-search' in start
    assert re.findall(r'href="([^"]*)"\s+aria-current="page"', start) == [INDEX]

"""Heads of columns that sort a list, what an empty result suggests, and the filters of the audit trail."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from common.webhooks import endpoints
from delivery.models import AuditAction, AuditEntry, Stop, Token
from panel import filters
from panel.views import home
from tests.cases import in_turn
from tests.factories import BY, DeliveryFactory, IntegratorFactory, PickupPointFactory, TokenFactory
from tests.panel.conftest import table


def head(page, field):
    """The direction and the link of a column's head."""
    (found,) = re.findall(rf'<th[^>]*?(?:aria-sort="(\w+)")?\s*>\s*<a[^>]*id="sort-{field}"[^>]*?href="([^"]*)"', page)
    return found


class TestHead:
    def test_have_a_field_on_phones_for_the_order_of_several_rows(self, member, url, shop):
        alone = member.get(url("tokens")).content.decode()
        TokenFactory.create(integrator=shop.integrator)

        assert ['id="filters-sort"' in page for page in (alone, member.get(url("tokens")).content.decode())] == [
            False,
            True,
        ]

    def test_sorts_with_the_filters_and_from_the_first_page(self, member, url, shop):
        DeliveryFactory.create(token=shop.token)

        default = member.get(url("deliveries"), {"status": "PENDING", "before": "x"}).content.decode()
        by_price = member.get(url("deliveries"), {"sort": "-shipping_value"}).content.decode()

        assert default.count('hx-select-oob="#tabs,') > 1  # of the filters, and of each head
        assert head(default, "created_at") == ("descending", "?status=PENDING&amp;sort=created_at")
        assert head(default, "shipping_value") == ("", "?status=PENDING&amp;sort=-shipping_value")
        assert head(by_price, "shipping_value") == ("descending", "?sort=shipping_value")
        assert head(by_price, "created_at") == ("", "?")


class TestLateDeliveries:
    """Their order is by what changes, so their pages begin at a number of rows."""

    @pytest.fixture
    def late(self, shop, monkeypatch):
        """Those that are late, for longest first."""
        ages = (30, 300, 90)
        made = {
            age: DeliveryFactory.create(token=shop.token, at=timezone.now() - timedelta(minutes=age)) for age in ages
        }
        monkeypatch.setattr(filters, "PER_PAGE", 2)
        return [made[age].pk for age in sorted(ages, reverse=True)]

    def test_are_listed_by_lateness_unless_another_order_is_asked_for(self, member, url, late):
        first, second = (member.get(url("deliveries"), {"status": "late", **page}) for page in ({}, {"before": "2"}))
        newest = member.get(url("deliveries"), {"status": "late", "sort": "-created_at"})
        file = member.get(url("deliveries_export"), {"status": "late"})

        assert [row.pk for page in (first, second) for row in page.context["rows"]] == late
        assert (first.context["older"], second.context["older"]) == ("2", None)
        assert [row.pk for row in newest.context["rows"]] == [late[2], late[1]]
        assert [row["deliveryId"] for row in table(file)] == [str(key) for key in late]

    def test_leave_an_order_that_the_list_of_all_takes(self, member, url, late):
        """The order is sent on when the status is changed; there it is the one without a name."""
        page = member.get(url("deliveries"), {"status": "", "sort": "-created_at"})

        assert (page.context["order"], page.context["filters"].errors) == ("-created_at", {})
        assert len(page.context["rows"]) == 2

    def test_are_found_by_a_part_of_the_recipient(self, member, url, late):
        stop = Stop.objects.get(delivery=late[1], index=0)
        Stop.objects.filter(pk=stop.pk).update(contact_name="José")

        rows = member.get(url("deliveries"), {"status": "late", "q": "jose", "before": "x"}).context["rows"]

        assert [row.pk for row in rows] == [late[1]]


class TestHome:
    """Its numbers are no columns, so the view sorts by them."""

    @pytest.fixture
    def names(self, staff, shop):
        """The accounts' names in an order; the shop has one delivery today, and one under way."""
        shop.integrator.name = "Loja M"
        shop.integrator.save()
        DeliveryFactory.create(token__integrator__name="Loja A", at=shop.event.created_at - timedelta(days=3))
        IntegratorFactory.create(name="Loja Z")
        return lambda **query: [row.of.name for row in staff.get(reverse("panel:home"), query).context["shops"]]

    @in_turn(
        ("sort", "expected"),
        [("name", "AMZ"), ("-name", "ZMA"), ("-today", "MAZ"), ("-failed", "AMZ"), ("made-up", "AMZ")],
    )
    def test_is_sorted_by_name_and_by_numbers(self, names, sort, expected):
        assert names(sort=sort) == [f"Loja {each}" for each in expected]

    def test_shows_the_first_of_all_and_not_of_those_first_by_name(self, names, monkeypatch):
        monkeypatch.setattr(home, "_MAX_SHOWN", 1)

        assert (names(), names(sort="-today"), names(q="ja z")) == (["Loja A"], ["Loja M"], ["Loja Z"])


def test_a_team_is_sorted_by_the_names_that_it_shows_and_by_the_last_log_in(member, url, shop):
    for username, first_name, last_login in (("zoe@x.example", "Abel", None), ("bob@x.example", "", timezone.now())):
        user = User.objects.create(username=username, first_name=first_name, last_login=last_login)
        shop.integrator.members.add(user)

    def people(sort):
        return [row.user.username[:3] for row in member.get(url("team"), {"sort": sort}).context["rows"]]

    assert people("called,pk") == ["zoe", "bob", "mem"]
    assert people("-seen_at,pk")[-1] == "zoe"
    assert people("seen_at,pk")[0] == "zoe"


def test_a_token_without_a_use_is_the_longest_unused(member, url, shop):
    now = shop.event.created_at
    for name, used_at in (("before", now - timedelta(days=9)), ("lately", now)):
        Token.objects.filter(pk=TokenFactory.create(integrator=shop.integrator, name=name).pk).update(
            last_used_at=used_at
        )
    Token.objects.filter(pk=shop.token.pk).update(name="never")

    def names(sort):
        return [row.name for row in member.get(url("tokens"), {"sort": sort}).context["rows"]]

    assert names("used_at,pk") == ["never", "before", "lately"]
    assert names("-used_at,pk") == ["lately", "before", "never"]


def test_pickup_points_that_wait_for_approval_come_first_and_those_that_are_not_used_last(member, url, shop):
    place = shop.integrator.pickup_points.get()
    for name, values in (
        ("A unused", {"active": False}),
        ("Z waits", {"active": False, "awaits_approval": True}),
        ("B used", {}),
    ):
        PickupPointFactory.create(integrator=shop.integrator, name=name, **values)

    found = [row.name for row in member.get(url("pickup_points")).context["rows"] if row != place]

    assert found == ["Z waits", "B used", "A unused"]


def test_an_empty_list_names_its_filters_and_leads_to_the_list_without_each(member, url):
    page = member.get(url("deliveries"), {"q": "zz", "status": "FAILED", "sort": "created_at"}).content.decode()

    assert re.findall(r'class="button small" href="([^"]*)"', page) == [
        "?status=FAILED&amp;sort=created_at",
        "?q=zz&amp;sort=created_at",
    ]


class TestActivity:
    @in_turn(
        ("action", "subject", "details"),
        [
            (AuditAction.ROLE_CHANGED, "ana: owner", "ana · Owner"),
            (AuditAction.FILTER_SET, "#2 *", "Endpoint 2 · All changes"),
            (AuditAction.EVENTS_REPLAYED, "1", "1 event"),
            (AuditAction.ENDPOINT_OFF, "#3", "Endpoint 3"),
            (AuditAction.URL_SET, "https://shop.example/#2 x", "https://shop.example/#2 x"),
        ],
    )
    def test_says_in_words_what_an_entry_is_about(self, member, url, shop, action, subject, details):
        account = {"integrator": shop.integrator, "environment": "live"}
        AuditEntry.objects.create(**account, action=action, subject=subject, by=BY, at=shop.event.created_at)

        assert f">{details}<" in re.sub(r"\s*([<>])\s*", r"\1", member.get(url("activity")).content.decode())

    def test_is_filtered_by_person_and_action(self, member, url, with_url):
        endpoints.show_secret(endpoint=with_url.endpoint, by="user nora", at=with_url.event.created_at)

        def shown(**query):
            return {(row.by, row.action) for row in member.get(url("activity"), query).context["rows"]}

        assert shown(by="user nora") == shown(action="secret_shown") == {("user nora", "secret_shown")}
        assert ("user nora", "secret_shown") not in shown(by=BY)
        assert shown(by="nobody") == set()

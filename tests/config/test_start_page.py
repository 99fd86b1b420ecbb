"""The admin's first page: what it shows to whom, and its links."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format

from config import start_page
from delivery.models import (
    Integrator,
    OffBecause,
    RefusedDeliveryCallCount,
    Tariff,
    TariffChange,
    Token,
    WebhookEndpoint,
)
from integration.actions import keys
from integration.models import ApiKey, RefusedSellerCallCount
from tests.factories import BY, DeliveryFactory, IntegratorFactory, TariffFactory, TokenFactory
from tests.integration.factories import SellerFactory
from tests.moments import at_each_midnight

TICK = timedelta(microseconds=1)
INDEX = reverse("admin:index")
_OF_STAFF = [
    "Failing webhooks", "Webhooks without a URL", "Refused calls in 24 hours", "Prices changed today", "New accounts",
    "Silent for a week",
]  # fmt: skip  # a list


def sections(client):
    return {section.title: section for section in client.get(INDEX).context["sections"]}


def shown(monkeypatch, at):
    """What the page shows to a superuser at a moment."""
    monkeypatch.setattr(timezone, "now", lambda: at)
    request = RequestFactory().get(INDEX)
    request.user = User(is_superuser=True)
    with translation.override("en"):
        return start_page.context(request, {})


def section_of(page, title):
    return next(section for section in page["sections"] if section.title == title)


def prices_changed(page):
    return sum(int(line.fact) for line in section_of(page, "Prices changed today").lines)


def label(day):
    with translation.override("en"):
        return date_format(day, "j M")


def counts(page):
    """The labels of the chart's days that have deliveries, and how many."""
    return {column.label: int(column.values[0]) for column in page["volume"].columns if column.values[0] != "0"}


class TestStartPage:
    @pytest.mark.parametrize(
        ("role", "titles"),
        [
            ("account staff", _OF_STAFF),
            ("dispatcher", ["Routes now"]),
            ("superuser", ["Routes now", *_OF_STAFF]),
        ],
    )
    def test_shows_each_role_what_it_can_act_on(self, as_role, role, titles):
        assert list(sections(as_role(role))) == titles

    def test_counts_the_routes_of_the_live_environment(self, as_role, db):
        now = timezone.now()
        DeliveryFactory.create()
        DeliveryFactory.create(at=now - timedelta(minutes=11))
        DeliveryFactory.create(accepted=True)
        DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        lines = {line.name: (line.fact, line.url) for line in sections(as_role("dispatcher"))["Routes now"].lines}

        board = reverse("panel:board")
        assert lines == {
            "Late": ("1", f"{board}?tab=late"),
            "Waiting for a driver": ("3", f"{board}?tab=waiting"),  # one is the shop's of `as_role`
            "With a driver": ("1", board),
        }

    def test_names_accounts_that_may_call_and_have_no_url(self, as_role, db):
        now = timezone.now()
        TokenFactory.create(integrator__name="Deaf")
        revoked = TokenFactory.create(integrator__name="Revoked")
        Token.objects.filter(pk=revoked.pk).update(revoked_at=now, revoked_by=BY)
        TokenFactory.create(integrator__name="Trying", sandbox=True)
        hearing = TokenFactory.create(integrator__name="Hearing").integrator
        hearing.endpoints.filter(environment="live").update(url="https://shop.example.com/")

        section = sections(as_role("account staff"))["Webhooks without a URL"]

        names = {"Deaf", "Revoked", "Trying", "Hearing"}
        assert [line.name for line in section.lines if line.name in names] == ["Deaf"]

    def test_counts_the_refused_calls_of_a_day_by_account(self, as_role, db):
        now = timezone.now()
        often, seldom = (IntegratorFactory.create(name=name) for name in ("Often", "Seldom"))
        RefusedDeliveryCallCount.objects.bulk_create(
            RefusedDeliveryCallCount(integrator=shop, environment=environment, hour=hour, refused=count, over_limit=0)
            for shop, environment, hour, count in [
                (often, "live", now - timedelta(hours=2), 7),
                (often, "live", now - timedelta(hours=3), 5),
                (often, "live", now - timedelta(hours=30), 100),
                (seldom, "live", now - timedelta(hours=2), 1),
                (seldom, "sandbox", now - timedelta(hours=2), 50),
            ]
        )
        seller = SellerFactory.create(name="Shop", documents=["48372915000154"])
        RefusedSellerCallCount.objects.create(seller=seller, hour=now, refused=3, over_limit=0)

        lines = sections(as_role("account staff"))["Refused calls in 24 hours"].lines

        assert [(line.name, line.fact) for line in lines] == [("Often", "12"), ("Shop", "3"), ("Seldom", "1")]

    def test_names_the_endpoints_that_fail_and_not_those_that_a_person_has_paused(self, as_role, db):
        now = timezone.now()
        shops = [IntegratorFactory.create(name=name) for name in ("Paused", "Failing", "Gone", "Well")]
        endpoints = WebhookEndpoint.objects.filter(integrator__in=shops, environment="live")
        endpoints.update(url="https://shop.example.com/")
        paused, failing, gone = (endpoints.filter(integrator=shop) for shop in shops[:3])
        paused.update(enabled=False, off_because=OffBecause.STAFF, off_since=now)
        failing.update(failures=7, failing_since=now - timedelta(minutes=9))
        gone.update(enabled=False, off_because=OffBecause.GONE, off_since=now)

        lines = sections(as_role("account staff"))["Failing webhooks"].lines

        assert [(line.name, line.fact) for line in lines] == [
            ("Failing, Live", "7 failures in a row, the first 9 min ago"),
            ("Gone, Live", "It answered 410 Gone"),
        ]
        assert lines[0].url == reverse("panel:webhook", args=[shops[1].pk, "live"])

    def test_names_accounts_that_have_called_and_do_not_any_more(self, as_role, db):
        now = timezone.now()
        silent, busy, _new = (TokenFactory.create(integrator__name=name) for name in ("Silent", "Busy", "New"))
        old = TokenFactory.create(integrator=busy.integrator)
        Token.objects.filter(pk__in=[silent.pk, old.pk]).update(last_used_at=now - timedelta(days=8))
        Token.objects.filter(pk=busy.pk).update(last_used_at=now - timedelta(days=6))
        seller = SellerFactory.create(name="Quiet", documents=["48372915000154"])
        key = keys.issue(seller=seller, by=BY, at=now).key
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now - timedelta(days=9))

        found = sections(as_role("account staff"))

        assert [(line.name, line.fact) for line in found["Silent for a week"].lines] == [
            ("Silent", "the last call 8 days ago"),
            ("Quiet", "the last call 9 days ago"),
        ]
        assert {"Silent", "Busy"} <= {line.name for line in found["New accounts"].lines}

    @at_each_midnight
    def test_counts_by_the_days_of_the_services_time_zone(self, db, monkeypatch, midnight):
        first = midnight.start - timedelta(days=13)
        shop = TokenFactory.create()
        for at in (first - TICK, first, midnight.before, midnight.start, midnight.start):
            DeliveryFactory.create(token=shop, stops=1, at=at)
        Integrator.objects.update(created_at=midnight.before)
        TariffFactory.create()
        tariff = Tariff.objects.values().get()
        before = [prices_changed(shown(monkeypatch, at)) for at in (midnight.before, midnight.after)]
        for at in (midnight.before, midnight.before, midnight.start):
            monkeypatch.setattr(timezone, "now", lambda at=at: at)
            TariffChange.objects.create(pgh_label="changed", pgh_obj_id=tariff["id"], **tariff)

        late, early = pages = [shown(monkeypatch, at) for at in (midnight.before, midnight.after)]

        assert counts(early) == {label(first): 1, label(midnight.eve): 1, label(midnight.day): 2}
        assert late["volume"].columns[-1].label == label(midnight.eve)
        assert [prices_changed(page) for page in pages] == [before[0] + 3, before[1] + 1]
        assert [section_of(page, "New accounts").lines[0].fact for page in pages] == ["today", "1 h ago"]

    def test_shows_as_many_lines_as_fit_and_says_that_there_are_more(self, as_role, db):
        IntegratorFactory.create_batch(8)

        section = sections(as_role("account staff"))["New accounts"]

        assert (len(section.lines), section.has_more) == (6, True)

    def test_plots_the_live_deliveries_of_two_weeks_by_day(self, as_role, db):
        now = timezone.now()
        client = as_role("account staff")
        before = int(client.get(INDEX).context["volume"].columns[-1].values[0])
        DeliveryFactory.create_batch(2)
        DeliveryFactory.create(at=now - timedelta(days=3))
        DeliveryFactory.create(at=now - timedelta(days=15))
        DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        page = client.get(INDEX).context

        today = timezone.localtime(now).date()
        assert counts(page) == {label(today - timedelta(days=3)): 1, label(today): before + 2}
        assert len(page["volume"].columns) == 14

    def test_makes_the_same_number_of_queries_for_any_number_of_accounts(self, as_role, db, django_assert_num_queries):
        client, now = as_role("superuser"), timezone.now()

        def fill(number):
            for token in TokenFactory.create_batch(number):
                counted = RefusedDeliveryCallCount(environment="live", hour=now, refused=1, over_limit=0)
                counted.integrator = token.integrator
                counted.save()
                TokenFactory.create(integrator=token.integrator)
                token.integrator.endpoints.filter(environment="sandbox").update(url="https://a.example/", failures=9)
            Token.objects.update(last_used_at=now - timedelta(days=8))

        fill(1)
        client.get(INDEX)
        with CaptureQueriesContext(connection) as few:
            client.get(INDEX)
        fill(4)

        with django_assert_num_queries(len(few)):
            client.get(INDEX)

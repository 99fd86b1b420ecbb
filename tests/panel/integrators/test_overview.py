"""The overview counts the deliveries of the current day in the service's time zone, and lists the pickup points."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from common import clock
from delivery.connections.models import Connection
from delivery.lifecycle import Ending
from delivery.models import Delivery, Environment, Integrator, WebhookAttempt, WebhookEndpoint
from integration.actions import orders
from integration.lifecycle import Status as OrderStatus
from integration.models import Seller
from panel.filters import DeliveryFilter
from tests.cases import in_turn
from tests.delivery.connections.shops import shop as connected
from tests.delivery.ended import Ended, insert
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DeliveryFactory, DriverFactory, PickupPointFactory, TokenFactory
from tests.integration.factories import create_order
from tests.moments import at_each_midnight


@pytest.fixture
def noon(monkeypatch):
    """Of the 15th, before the log-in, which would have ended by then."""
    noon = timezone.localtime().replace(day=15, hour=12, minute=0, second=0)
    monkeypatch.setattr(timezone, "now", lambda: noon)
    return noon


@at_each_midnight
def test_the_day_begins_at_midnight_of_the_services_time_zone(midnight):
    assert [clock.midnight(at) for at in (midnight.before, midnight.start, midnight.after)] == [
        midnight.start - timedelta(days=1), midnight.start, midnight.start,
    ]  # fmt: skip  # a table


class TestDeliveries:
    def test_counts_those_of_today_under_way_and_late(self, admin_client):
        token = TokenFactory.create()
        now = timezone.now()
        for columns in ({}, {"accepted": True}, {"at": now - timedelta(hours=12)}):
            DeliveryFactory.create(token=token, **columns)
        DeliveryFactory.create(at=now)
        DeliveryFactory.create(token=TokenFactory.create(integrator=token.integrator, environment="sandbox"))

        page = admin_client.get(reverse("panel:overview", args=[token.integrator.pk, Environment.LIVE]))

        today = 2 + (clock.midnight(now) <= now - timedelta(hours=12))
        assert [tile.count for tile in page.context["tiles"]] == [today, 3, 1, 0, 0, 0]
        assert page.context["chart"].totals[1][1] == "3"

    def test_have_links_to_lists_of_as_many_rows(self, admin_client):
        token = TokenFactory.create()
        DeliveryFactory.create(token=token)
        DeliveryFactory.create(token=token, at=timezone.now() - timedelta(hours=25))
        path = reverse("panel:overview", args=[token.integrator.pk, Environment.LIVE])
        deliveries = reverse("panel:deliveries", args=[token.integrator.pk, Environment.LIVE])

        tiles = admin_client.get(path).context["tiles"]
        rows = [len(admin_client.get(deliveries + tile.address).context["rows"]) for tile in tiles]

        assert rows == [tile.count for tile in tiles] == [1, 2, 1, 0, 0, 0]

    def test_name_those_apart_that_no_driver_failed_at_and_those_that_are_scheduled(self, admin_client):
        token, now = TokenFactory.create(), timezone.now()
        pattern = DeliveryFactory.create(token=token)
        endings = [Ending.NOT_DELIVERED, Ending.CANCELLED, Ending.CANCELLED, Ending.EXPIRED]
        insert(pattern, *(Ended(now, ending) for ending in endings), driver=DriverFactory.create())
        scheduled(timedelta(hours=3), at=now, token=token)

        page = admin_client.get(reverse("panel:overview", args=[token.integrator.pk, Environment.LIVE]))
        failed, called_off = page.context["tiles"][-2:]
        queries = [QueryDict(tile.address[1:]) for tile in (failed, called_off)]
        lists = [DeliveryFilter(query, queryset=Delivery.objects.all()).qs for query in queries]
        (shop,) = admin_client.get(reverse("panel:home")).context["shops"]

        assert [(tile.count, tile.look) for tile in (failed, called_off)] == [(1, "bad"), (3, "")]
        assert [len(rows) for rows in lists] == [1, 3]
        assert [total for _series, total in page.context["chart"].totals] == ["0", "1", "1", "1", "3"]
        assert page.context["tiles"][1].count == 1
        assert shop.failed == 1


class TestMoney:
    def test_is_that_of_the_report(self, admin_client):
        token = TokenFactory.create()
        insert(DeliveryFactory.create(token=token), Ended(timezone.now()), driver=DriverFactory.create())

        page = admin_client.get(reverse("panel:money", args=[token.integrator.pk, Environment.LIVE]))

        assert [(line.count, line.amount) for _name, _period, line in page.context["columns"]] == [
            (1, Decimal(20)), (1, Decimal(20)),
        ]  # fmt: skip  # a table

    def test_is_that_of_today_and_that_of_the_month(self, noon, admin_client):
        pattern = DeliveryFactory.create()
        sandbox = DeliveryFactory.create(token=TokenFactory.create(integrator=pattern.integrator, sandbox=True))
        midnight = noon.replace(hour=0, microsecond=0)
        first, tick = midnight.replace(day=1), timedelta(microseconds=1)
        ended = {midnight - tick: 10, first: 100, first - tick: 1000}
        driver = DriverFactory.create()
        insert(pattern, *(Ended(at, price=Decimal(price)) for at, price in ended.items()), driver=driver)
        for other in (sandbox, DeliveryFactory.create()):
            insert(other, Ended(noon), driver=DriverFactory.create(environment=other.environment))

        def amounts():
            page = admin_client.get(reverse("panel:money", args=[pattern.integrator_id, Environment.LIVE]))
            return [line.amount for _name, _period, line in page.context["columns"]]

        assert amounts() == [0, 110]
        insert(pattern, Ended(midnight, price=Decimal(1)), driver=driver)
        assert amounts() == [1, 111]


class TestWebhooks:
    def test_are_counted_by_what_became_of_each_attempt(self, member, url, with_url):
        other = DeliveryFactory.create().events.get()
        answers = [(with_url.event, 204), (with_url.event, 200), (with_url.event, 500), (other, 500)]
        for number, (event, status) in enumerate(answers, start=1):
            WebhookAttempt.objects.create(
                event=event, number=number, at=timezone.now(), milliseconds=9, status_code=status
            )

        chart = member.get(url("plot")).context["attempts"]

        assert [(str(series.name), total) for series, total in chart.totals] == [
            ("Received (2xx)", "2"),
            ("Failed", "1"),
        ]
        assert len(chart.columns) == 24

    def test_are_those_of_this_hour_and_the_23_before(self, noon, member, url, with_url):
        first = noon.replace(microsecond=0) - timedelta(hours=23)
        for number, at in enumerate((first - timedelta(microseconds=1), first, noon), start=1):
            WebhookAttempt.objects.create(event=with_url.event, number=number, at=at, milliseconds=9, status_code=200)

        assert member.get(url("plot")).context["attempts"].totals[0][1] == "2"


class TestPickupPoints:
    def overview(self, client, account):
        return client.get(reverse("panel:overview", args=[account.pk, Environment.LIVE])).content.decode()

    def test_lists_the_active_ones_of_the_account(self, admin_client):
        point = PickupPointFactory.create(name="Loja Centro", radius_m=321)
        PickupPointFactory.create(name="Fechada", integrator=point.integrator, active=False)
        PickupPointFactory.create(name="Alheia")

        page = self.overview(admin_client, point.integrator)

        assert "Loja Centro" in page
        assert "-23.56141, -46.65588" in page
        assert "321 m" in page
        assert "Fechada" not in page
        assert "Alheia" not in page

    def test_says_that_there_is_none_or_that_none_is_needed(self, admin_client):
        account = PickupPointFactory.create(active=False).integrator
        assert "every request is refused" in self.overview(admin_client, account)

        Integrator.objects.update(allow_any_pickup=True)
        assert "requested from anywhere" in self.overview(admin_client, account)


class TestFirstSteps:
    def test_are_shown_until_the_first_delivery(self, admin_client):
        token = TokenFactory.create()
        path = reverse("panel:overview", args=[token.integrator.pk, "live"])
        done = []
        for address in ("", "http://127.0.0.1:9/x"):
            WebhookEndpoint.objects.filter(environment="live").update(url=address)
            done.append([step.is_done for step in admin_client.get(path).context["steps"]])

        DeliveryFactory.create(token=token)

        assert done == [[False, True, False, False], [False, True, True, False]]
        assert admin_client.get(path).context["steps"] == []

    def test_count_no_token_of_the_other_environment(self, admin_client):
        integrator = TokenFactory.create(environment=Environment.SANDBOX).integrator

        steps = admin_client.get(reverse("panel:overview", args=[integrator.pk, "live"])).context["steps"]

        assert [step.is_done for step in steps] == [False, False, False, False]

    def test_of_a_shop_that_is_connected_ask_for_no_token_and_no_url(self, admin_client):
        """Nor does anything else on the page. A connection that was removed, or of the sandbox, does not count."""
        account = connected().integrator
        path = reverse("panel:overview", args=[account.pk, "live"])
        page = admin_client.get(path)
        notices = [notice.page for notice in page.context["notices"]]
        Connection.objects.update(removed_at=timezone.now())
        removed = admin_client.get(path)
        Connection.objects.update(removed_at=None, environment=Environment.SANDBOX)
        elsewhere = admin_client.get(path)

        assert [step.is_done for step in page.context["steps"]] == [True, False]
        assert page.context["steps"][1].address == reverse("panel:drafts", args=[account.pk, "live"])
        assert notices == []
        for other in (removed, elsewhere):
            assert [step.is_done for step in other.context["steps"]] == [False, False, False, False]
            assert [notice.page for notice in other.context["notices"]] == ["tokens", "webhook"]


class TestHome:
    def test_says_whether_webhooks_are_received(self, admin_client):
        endpoint = WebhookEndpoint.objects.get(integrator=TokenFactory.create().integrator, environment="live")
        off = {"enabled": False, "off_because": "staff", "off_since": timezone.now()}
        WebhookEndpoint.objects.filter(environment="sandbox").update(url="http://127.0.0.1:9/s", failures=5, **off)
        found = []
        for columns in (
            {},
            {"url": "http://127.0.0.1:9/x"},
            {"failures": 5},
            off,
        ):
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**columns)
            (shop,) = admin_client.get(reverse("panel:home")).context["shops"]
            account = shop.of
            found.append((account.has_webhook, account.webhooks_fail, account.webhooks_off))

        assert found == [(False, False, False), (True, False, False), (True, True, False), (True, True, True)]

    def test_counts_the_deliveries_and_orders_of_each(self, shop, as_role):
        create_order(shop.seller)
        create_order(shop.seller, orderId="A-2", at=timezone.now() - timedelta(days=2))
        failed = create_order(shop.seller, orderId="A-3", at=timezone.now() - timedelta(days=2))
        for status, code in ((OrderStatus.COLLECTED, ""), (OrderStatus.DELIVERY_FAILED, "ABSENT")):
            orders.move(
                order=failed, to=status, by=BY, at=timezone.now(), details=orders.Details(reason_code=code)
            )  # fmt: skip
        DeliveryFactory.create(token=shop.token, at=timezone.now() - timedelta(days=2))
        browser = as_role("member")

        with CaptureQueriesContext(connection) as queries:
            page = browser.get(reverse("panel:home"))
        for model in (Integrator, Seller):
            other = model.objects.create(name="Outra")
            other.members.add(User.objects.get(username="member"))
        with CaptureQueriesContext(connection) as more:
            browser.get(reverse("panel:home"))

        (found,), (store,) = page.context["shops"], page.context["stores"]
        assert (found.today, found.failed, found.under_way, found.late) == (1, 0, 2, 1)
        assert (store.today, store.under_way, store.failed) == (1, 2, 1)
        assert len(more) == len(queries)


@pytest.mark.parametrize("name", ["overview", "deliveries", "connections"])
def test_pages_of_the_sandbox_say_where_one_is_above_their_content(member, shop, name):
    pages = [member.get(reverse(f"panel:{name}", args=[shop.integrator.pk, each])) for each in ("live", "sandbox")]

    assert ['<span class="badge warn">Sandbox</span>' in page.content.decode() for page in pages] == [False, True]


class TestWork:
    @in_turn(
        ("role", "page"),
        [
            ("dispatcher", "board"),
            ("superuser", "streets"),
            ("account staff", "home"),
            ("member", "home"),
            ("nobody", "home"),
        ],
    )
    def test_is_the_board_of_dispatchers_and_a_choice_for_others(self, as_role, role, page):
        assert as_role(role).get(reverse("panel:work"))["Location"] == reverse(f"panel:{page}")

    def test_is_the_overview_of_a_single_account(self, shop, as_role):
        browser = as_role("member")
        shop.seller.memberships.all().delete()

        assert browser.get(reverse("panel:work"))["Location"] == reverse(
            "panel:overview", args=[shop.integrator.pk, "live"]
        )

    def test_is_the_sandbox_of_an_account_without_live_deliveries(self, as_role):
        location = as_role("stranger").get(reverse("panel:work"))["Location"]

        assert location.endswith("/sandbox/")

    def test_is_the_orders_of_a_single_seller(self, shop, as_role):
        browser = as_role("member")
        shop.integrator.memberships.all().delete()

        assert browser.get(reverse("panel:work"))["Location"] == reverse(
            "panel:seller_orders", args=[shop.seller.pk, "live"]
        )

    @pytest.mark.parametrize(("asked", "then"), [("home", "work"), ("board", "board")])
    def test_follows_the_log_in_unless_another_page_was_asked_for(self, client, asked, then):
        location = client.get(reverse(f"panel:{asked}"))["Location"]

        assert location == f"{reverse('account_login')}?next={reverse(f'panel:{then}')}"

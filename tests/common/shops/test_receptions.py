"""What platforms post: signatures, forms and sizes, and what becomes of an order that comes again, in both areas."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest
from django.db import connection as database
from django.utils import timezone

from common.shops import receptions
from common.shops.models import ShopDraft, ShopReception
from common.shops.platforms import Platform
from delivery.connections import actions as of_integrators
from delivery.connections.models import Draft as DeliveryDraft
from delivery.connections.models import Reception as DeliveryReception
from integration.connections import actions as of_sellers
from integration.connections.models import Draft as SellerDraft
from integration.connections.models import Reception as SellerReception
from tests.delivery.connections import shops
from tests.delivery.connections.shops import WITHOUT_NUMBER, order, post
from tests.factories import BY, IntegratorFactory
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import SellerFactory

NOW = timezone.now


@dataclass(frozen=True)
class Area:
    """`changes`: of an order that waits for people."""

    drafts: type[ShopDraft]
    receptions: type[ShopReception]
    actions: ModuleType
    shops: ModuleType
    account: str
    accounts: Any
    changes: dict[str, Any]

    def shop(self, **changes: Any) -> Any:
        return self.shops.shop(**changes)

    def draft(self) -> Any:
        return self.drafts._default_manager.get()

    def waiting(self, number: int | None = None, **changes: Any) -> dict[str, Any]:
        return order(number, **{**self.changes, **changes})

    def drops(self, **arguments: Any) -> None:
        self.actions.drafts.drop(**arguments)

    def note(self) -> Any:
        """What `customer_note` and `total` of the order became."""
        payload = self.draft().payload
        return payload["dropoffs"][0]["instructions"] if "dropoffs" in payload else payload["orderCost"]


_AREAS = {
    "deliveries": Area(
        DeliveryDraft, DeliveryReception, of_integrators, shops, "integrator", IntegratorFactory, {}
    ),
    "orders": Area(
        SellerDraft, SellerReception, of_sellers, seller_shops, "seller", SellerFactory, WITHOUT_NUMBER
    ),
}  # fmt: skip  # a table
SECOND = {"customer_note": "No jardim", "total": "9.50"}
WRONG_YEAR = "2126-11-20T12:00:00"
FIRST_NOTE, SECOND_NOTE = ("Deixar na portaria", 99.9), ("No jardim", 9.5)


@pytest.fixture(params=_AREAS)
def area(request):
    return _AREAS[request.param]


def outcome(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["result"], answer.json()["reason"]


def minutes_ago(count):
    """As WooCommerce tells a moment."""
    return f"{NOW() - timedelta(minutes=count):%Y-%m-%dT%H:%M:%S}"


def assert_refused(answer, status, code):
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    return answer.json()


def refused_and_unwritten(answer, status, code):
    assert_refused(answer, status, code)
    for area in _AREAS.values():
        assert not area.drafts._default_manager.exists()
        assert not area.receptions._default_manager.exists()


@pytest.mark.django_db
class TestAPost:
    @pytest.mark.parametrize(
        "how",
        [{"signed": False}, {"secret": "another"}, {"X-WC-Webhook-Signature": "AAAA"}],  # pragma: allowlist secret
    )
    def test_without_the_right_signature_writes_nothing(self, area, how):
        refused_and_unwritten(post(area.shop(), order(), **how), 401, "invalid_signature")

    def test_to_an_unknown_or_removed_connection_is_not_found(self, area):
        connection = area.shop()
        area.actions.remove(connection=connection, by=BY, at=NOW())

        refused_and_unwritten(post(connection, order()), 404, "connection_not_found")
        refused_and_unwritten(
            post(type(connection)(pk="0" * 32, platform="SHOPIFY"), order()), 404, "connection_not_found"
        )
        refused_and_unwritten(
            post(type(connection)(pk="0" * 31 + "%00", platform="SHOPIFY"), order()), 404, "connection_not_found"
        )

    def test_of_more_than_a_mebibyte_is_too_large(self, area):
        connection, most = area.shop(), receptions.MOST_BYTES
        body = json.dumps(area.waiting()).encode()

        refused_and_unwritten(post(connection, body + b" " * (most + 1 - len(body))), 413, "body_too_large")
        assert outcome(post(connection, body + b" " * (most - len(body)))) == ("draft", None)

    @pytest.mark.parametrize(
        ("body", "missing"),
        [
            (b'{"id": 1, "status": "processing"}', "line_items"),
            (b"[]", "JSON"),
            (b"", "JSON"),
            (b"\xff", "JSON"),
            (b'{"id": 1e99999999999999999999}', "JSON"),
        ],
    )
    def test_of_something_else_says_what_is_missing(self, area, body, missing):
        connection = area.shop()

        problem = assert_refused(post(connection, body), 422, "unknown_form")

        assert missing in problem.get("detail", problem.get("message"))
        assert not area.drafts._default_manager.exists()
        assert area.receptions._default_manager.values_list("result", "reason").get() == ("refused", "unknown_form")

    def test_of_the_ping_of_woocommerce_needs_no_signature(self, area):
        answer = post(area.shop(), b"webhook_id=7", signed=False)

        assert (answer.status_code, answer.json()) == (200, {"result": "ping", "reason": None, "id": None})
        assert not area.receptions._default_manager.exists()
        assert post(area.shop(platform=Platform.SHOPIFY), b"webhook_id=7", signed=False).status_code == 401

    def test_is_limited_as_calls_of_the_account_are(self, area):
        account = area.accounts.create()
        type(account).objects.update(rate_limit_per_hour=1)
        connection = area.shop(**{area.account: account})
        post(connection, area.waiting(1))

        assert_refused(post(connection, area.waiting(2)), 429, "rate_limited")
        assert_refused(post(connection, area.waiting(2), signed=False), 401, "invalid_signature")
        assert area.draft().order_id == "1"

    def test_is_taken_while_the_account_is_suspended(self, area):
        connection = area.shop()
        getattr(connection, area.account).write_suspension(reason="unpaid", by=BY, at=NOW())

        assert outcome(post(connection, order())) == ("draft", None)


@pytest.mark.django_db
class TestAnOrder:
    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"status": "pending"}, "unpaid"),
            ({"shipping_lines": [{"method_id": "correios", "method_title": "PAC"}]}, "other_shipping_method"),
            ({"status": "completed"}, "nothing_to_ship"),
        ],
    )
    def test_that_is_no_delivery_is_ignored(self, area, changes, reason):
        connection = area.shop(shipping_method="MESMO DIA")

        assert outcome(post(connection, area.waiting(**changes))) == ("ignored", reason)
        assert outcome(post(connection, area.waiting())) == ("draft", None)
        assert area.drafts._default_manager.count() == 1

    def test_that_comes_again_changes_its_draft(self, area):
        connection = area.shop()
        first = post(connection, area.waiting(7)).json()

        again = post(connection, area.waiting(7, **SECOND, date_modified_gmt="2026-11-20T13:00:00")).json()

        assert again == {"result": "updated", "reason": None, "id": first["id"]}
        assert area.note() in SECOND_NOTE

    def test_that_is_out_of_date_changes_nothing(self, area):
        connection = area.shop()
        post(connection, area.waiting(7, date_modified_gmt="2026-11-20T13:00:00"))

        assert outcome(post(connection, area.waiting(7, **SECOND))) == ("ignored", "out_of_date")
        assert area.note() in FIRST_NOTE

    def test_is_in_time_after_one_without_a_moment(self, area):
        connection = area.shop()
        post(connection, area.waiting(7, date_modified_gmt=None))

        assert outcome(post(connection, area.waiting(7, **SECOND))) == ("updated", None)
        assert area.note() in SECOND_NOTE

    def test_is_in_time_after_one_of_a_wrong_year(self, area):
        connection = area.shop()
        post(connection, area.waiting(7, date_modified_gmt=WRONG_YEAR))

        assert outcome(post(connection, area.waiting(7, **SECOND, date_modified_gmt=minutes_ago(5)))) == (
            "updated",
            None,
        )
        assert outcome(post(connection, area.waiting(7, date_modified_gmt=minutes_ago(9)))) == (
            "ignored",
            "out_of_date",
        )
        assert area.note() in SECOND_NOTE

    def test_that_is_cancelled_drops_its_draft_which_stays_dropped(self, area):
        connection = area.shop()
        post(connection, area.waiting(7))
        cancelled = area.waiting(7, status="cancelled", date_modified_gmt="2026-11-20T14:00:00")

        assert [outcome(post(connection, cancelled)) for _time in range(2)] == [("cancelled", None)] * 2
        assert area.draft().status == "dropped"
        assert outcome(post(connection, area.waiting(7))) == ("ignored", "out_of_date")

    def test_that_was_cancelled_before_it_was_told_makes_no_open_draft(self, area):
        connection = area.shop()
        cancelled = area.waiting(7, status="cancelled", date_modified_gmt="2026-11-20T14:00:00")

        assert outcome(post(connection, cancelled)) == ("cancelled", None)
        assert outcome(post(connection, area.waiting(7))) == ("ignored", "out_of_date")
        assert (area.draft().status, area.draft().payload) == ("dropped", {})

    def test_whose_cancellation_the_shop_takes_back_is_open_again(self, area):
        connection = area.shop()
        post(connection, area.waiting(7, status="cancelled"))

        assert outcome(post(connection, area.waiting(7, date_modified_gmt="2026-11-21T14:00:00"))) == ("draft", None)
        assert area.draft().status == "open"

    def test_that_people_have_dropped_stays_dropped(self, area):
        connection = area.shop()
        post(connection, area.waiting(7))
        area.drops(draft=area.draft(), by=BY, at=NOW())

        assert outcome(post(connection, area.waiting(7, date_modified_gmt="2026-11-21T14:00:00"))) == (
            "ignored",
            "dropped",
        )
        assert area.draft().status == "dropped"

    @pytest.mark.parametrize("known", [None, WRONG_YEAR])
    @pytest.mark.parametrize(
        ("told", "become"), [("known", ("ignored", "dropped")), (9, ("ignored", "dropped")), (1, ("draft", None))]
    )
    def test_that_was_dropped_after_its_time_is_open_again_once_the_shop_changes_it(
        self, area, settings, known, told, become
    ):
        """At the first change of which a moment after that is told."""
        connection, dropped_at = area.shop(), NOW() - timedelta(minutes=5)
        post(connection, area.waiting(7, date_modified_gmt=known))
        area.drafts._default_manager.update(created_at=dropped_at - timedelta(days=settings.FORGET_DELIVERY_DAYS + 1))
        area.actions.drafts.forget_old(at=dropped_at)

        again = area.waiting(7, date_modified_gmt=known if told == "known" else minutes_ago(told))

        assert outcome(post(connection, again)) == become
        assert (area.draft().status == "open") == (become == ("draft", None))

    def test_of_two_shops_with_the_same_number_are_two(self, area):
        one, other = area.shop(), area.shop()

        post(one, area.waiting(7))
        post(other, area.waiting(7))

        assert area.drafts._default_manager.count() == 2


@pytest.mark.django_db
class TestReceptions:
    def test_of_a_connection_are_the_last_hundred(self, area, monkeypatch):
        monkeypatch.setattr(receptions, "MOST_RECEPTIONS", 3)
        one, other = area.shop(), area.shop()
        post(other, area.waiting(1))

        for number in range(5):
            post(one, area.waiting(number + 1))

        assert list(one.receptions.values_list("number", flat=True)) == ["5", "4", "3"]
        assert other.receptions.count() == 1


@pytest.mark.django_db(transaction=True)
class TestAnOrderThatComesThirtyTimesAtOnce:
    def test_makes_one_draft(self, area):
        connection, body = area.shop(), area.waiting(7)

        def receive(_number):
            try:
                return post(connection, body).json()["result"]
            finally:
                database.close()

        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(receive, range(30)))

        assert sorted(results) == ["draft", *["updated"] * 29]
        assert area.drafts._default_manager.count() == 1
        assert area.receptions._default_manager.count() == 30
        assert area.draft().revision == 1

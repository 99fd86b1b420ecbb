"""The pages of a seller in its two environments: neither shows rows of the other, and test orders are moved by hand."""

import pytest
from django.urls import reverse

from common.accounts import Environment
from integration.accounts import keys, sellers
from integration.manifests import actions as manifests
from integration.models import Simulation
from tests.integration.factories import ACCESS_KEY, create_order, nfe_xml, send_invoice

ENVIRONMENTS = ["live", "sandbox"]


def address(seller, environment, name, *more):
    return reverse(f"panel:{name}", args=[seller.pk, environment, *more])


@pytest.fixture
def worlds(shop):
    """An order, an invoice and a key in each environment, with codes of their own."""
    made = {}
    at = shop.seller.created_at
    for environment, key in zip(Environment, (ACCESS_KEY, ACCESS_KEY[:-1] + "5"), strict=True):
        code = f"{environment.value}-order"
        order = create_order(shop.seller, environment, orderId=code, trackingCode=f"T-{environment.value}")
        made[environment.value] = {
            "order": order,
            "manifest": manifests.create(seller=shop.seller, environment=environment, orders=[order], by="x", at=at),
            "invoice": send_invoice(shop.seller, nfe_xml(key=key, items=[code]).encode(), environment=environment),
            "key": keys.issue(
                seller=shop.seller, environment=environment, name=f"{environment}-system", by="x", at=at,
            ).key,
        }  # fmt: skip
    return made


def lists(environment):
    """Pages with all rows of an environment, and what stands on them."""
    return {
        "seller": f"{environment}-system",
        "seller_orders": f"{environment}-order",
        "seller_orders_export": f"{environment}-order",
        "seller_invoices": f"{environment}-order",
        "seller_invoices_export": f"{environment}-order",
        "seller_manifests": f"{environment}-order",
    }


def text_of(response):
    content = response.getvalue() if response.streaming else response.content
    return content.decode()


class TestPages:
    @pytest.mark.parametrize("environment", ENVIRONMENTS)
    def test_of_lists_show_one_environment_and_say_which(self, member, shop, worlds, environment):
        other = next(each for each in ENVIRONMENTS if each != environment)

        for name, shown in lists(environment).items():
            response = member.get(address(shop.seller, environment, name))

            content = text_of(response)
            assert shown in content, name
            assert lists(other)[name] not in content, name
            if name.endswith("export"):
                assert ("sandbox-" in response["Content-Disposition"]) is (environment == "sandbox")
            else:
                assert ('<span class="badge warn">Sandbox</span>' in content) is (environment == "sandbox"), name

    @pytest.mark.parametrize("environment", ENVIRONMENTS)
    def test_of_one_row_are_found_in_its_environment_only(self, member, shop, worlds, environment):
        other = next(each for each in ENVIRONMENTS if each != environment)
        pages = {
            "seller_order": "order", "seller_invoice": "invoice", "seller_invoice_file": "invoice",
            "seller_manifest": "manifest", "seller_manifest_file": "manifest",
        }  # fmt: skip  # a table

        for name, kind in pages.items():
            row = worlds[environment][kind]
            assert member.get(address(shop.seller, environment, name, row.pk)).status_code == 200
            assert member.get(address(shop.seller, other, name, row.pk)).status_code == 404

    def test_that_change_something_do_not_reach_the_other_environment(self, member, shop, worlds):
        live = worlds["live"]
        changes = [
            ("key_rename", "key"), ("key_revoke", "key"), ("seller_order_cancel", "order"),
            ("seller_order_invoice", "order"), ("seller_order_move", "order"), ("seller_invoice", "invoice"),
            ("seller_invoice_unlink", "invoice"), ("seller_manifest_close", "manifest"),
            ("seller_manifest_delete", "manifest"),
        ]  # fmt: skip  # a table

        statuses = [
            member.post(address(shop.seller, "sandbox", name, live[kind].pk), {"name": "x", "target": "collected"})
            for name, kind in changes
        ]

        assert [response.status_code for response in statuses] == [404] * len(changes)
        live["order"].refresh_from_db()
        live["key"].refresh_from_db()
        live["manifest"].refresh_from_db()
        assert (live["order"].status, live["key"].revoked_at, live["key"].name) == ("pending", None, "live-system")
        assert live["manifest"].closed_at is None

    def test_of_a_report_counts_one_environment(self, member, shop, worlds):
        create_order(shop.seller, Environment.SANDBOX, orderId="further")

        counts = {
            environment: member.get(address(shop.seller, environment, "seller_report")).context["report"].total.count
            for environment in ENVIRONMENTS
        }

        assert counts["sandbox"] == 2
        assert counts["live"] == shop.seller.orders.filter(environment="live").count()


class TestSearch:
    def test_says_which_results_are_of_the_sandbox(self, member, shop, worlds):
        content = text_of(member.get(reverse("panel:search"), {"q": "sandbox-order"}))

        assert address(shop.seller, "sandbox", "seller_order", worlds["sandbox"]["order"].pk) in content
        assert '<span class="badge warn">Sandbox</span>' in content


class TestKeys:
    @pytest.mark.parametrize(("environment", "beginning"), [("live", "rota_key_"), ("sandbox", "rota_testkey_")])
    def test_are_issued_in_the_environment_of_the_page(self, member, shop, environment, beginning):
        url = address(shop.seller, environment, "seller")

        response = member.post(url, {"name": "New"}, follow=True)

        assert response.context["fresh"].startswith(beginning)
        assert shop.seller.keys.get(name="New").environment == environment


class TestMoves:
    @pytest.fixture
    def order(self, shop):
        return create_order(shop.seller, Environment.SANDBOX, orderId="A-1", simulation_speed=1.0)

    def move(self, member, order, **fields):
        url = address(order.seller, order.environment, "seller_order_move", order.pk)
        return member.post(url, {"code": "", "reason": "", "place": "", **fields}, follow=True)

    def test_are_shown_with_what_happens_by_itself(self, member, order):
        content = text_of(member.get(address(order.seller, "sandbox", "seller_order", order.pk)))

        assert "The simulated carrier makes it “Collected” in about" in content
        assert 'value="collected"' in content

    def test_are_not_made_while_the_seller_is_suspended(self, member, order):
        page = address(order.seller, "sandbox", "seller_order", order.pk)
        before = member.get(page).context["move_form"]
        sellers.suspend(seller=order.seller, reason="unpaid", by="x", at=order.created_at)

        response = self.move(member, order, target="collected")

        assert before
        assert member.get(page).context["move_form"] is None
        assert "The seller is suspended" in text_of(response)
        assert order.status_log.count() == 1

    def test_end_the_simulation(self, member, order):
        content = text_of(self.move(member, order, target="collected", code="ABSENT", place="Salvador/BA"))

        order.refresh_from_db()
        entry = order.status_log.latest("pk")
        assert (order.status, entry.place, entry.reason_code) == ("collected", "Salvador/BA", "")
        assert "The order is now: Collected." in content
        assert not Simulation.objects.exists()

    def test_have_a_reason_where_the_parcel_was_not_delivered(self, member, order):
        self.move(member, order, target="collected")

        self.move(member, order, target="delivery_failed", code="OTHER", reason="Rain")

        entry = order.status_log.latest("pk")
        assert (entry.status, entry.reason_code, entry.reason) == ("delivery_failed", "OTHER", "Rain")

    @pytest.mark.parametrize(
        "fields", [{"target": "returned"}, {"target": "lost"}, {"target": "collected", "place": "x" * 121}, {}]
    )
    def test_that_are_wrong_change_nothing(self, member, order, fields):
        response = self.move(member, order, **fields)

        assert (response.status_code, 'class="errorlist"' in text_of(response)) == (422, True)

        assert order.status_log.count() == 1

    def test_of_other_without_words_change_nothing(self, member, order):
        self.move(member, order, target="collected")

        content = text_of(self.move(member, order, target="delivery_failed", code="OTHER"))

        assert "Say the reason in words." in content
        assert order.status_log.count() == 2

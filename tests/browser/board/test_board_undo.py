"""Moves on the dispatch board that wait five seconds and can be undone, in a browser."""

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import expect

from delivery.actions import deliveries
from delivery.models import Delivery
from tests.browser.board.routes import pause, wait_for_hold
from tests.browser.tab import PASSWORD
from tests.browser.waiting import reload_until, until
from tests.factories import BY, DeliveryFactory


class TestUndoing:
    @pytest.fixture
    def delivery(self, shop):
        return DeliveryFactory.create(token=shop, stops=1, accepted=True)

    def test_a_collection_is_recorded_after_five_seconds(self, open_board, delivery):
        page = open_board().page
        page.locator(f"#collect-{delivery.pk}").wait_for()
        pause(page)

        page.locator(f"#collect-{delivery.pk}").click()
        page.clock.run_for(1_500)
        page.locator(".route").get_by_role("button", name="Undo (4)").wait_for()
        page.clock.run_for(3_000)
        assert Delivery.objects.get(pk=delivery.pk).route_status == "ACCEPTED"
        page.clock.run_for(1_000)
        page.locator(f"#deliver-{delivery.stops.get().pk}").wait_for()

        assert Delivery.objects.get(pk=delivery.pk).route_status == "COLLECTED"

    def test_a_second_click_undoes_it(self, open_board, delivery):
        browser, sent = open_board(), []
        page = browser.page
        button = page.locator(f"#collect-{delivery.pk}")
        page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)

        button.click()
        page.locator(".route").get_by_role("button", name="Undo").click()
        page.get_by_role("button", name="Collect", exact=True).wait_for()
        wait_for_hold(page)
        assert button.inner_text() == "Collect"
        browser.go("/panel/")  # which would send a move that is held

        assert sent == []
        assert Delivery.objects.get(pk=delivery.pk).route_status == "ACCEPTED"

    def test_a_cancellation_is_undone_by_keyboard_and_asks_again_when_its_fee_has_changed(self, open_board, delivery):
        page = open_board().page
        page.locator(f"#unfold-{delivery.pk}").click()
        page.locator(f"#cancel-{delivery.pk}").click()
        page.locator("dialog[open] button.final").click()
        page.locator("#holds .held-move").wait_for()
        page.keyboard.press("Control+z")
        expect(page.locator("#holds .held-move")).to_have_count(0)
        page.locator(f"#cancel-{delivery.pk}").click()
        page.locator("dialog[open] button.final").wait_for()
        deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
        page.locator("dialog[open] button.final").click()
        wait_for_hold(page)

        page.locator("dialog[open]").get_by_text("the fee is another one").wait_for()
        assert Delivery.objects.get(pk=delivery.pk).cancelled_at is None

    def test_leaving_the_page_records_it_at_once(self, open_board, delivery):
        browser = open_board()

        browser.page.locator(f"#collect-{delivery.pk}").click()
        browser.go("/panel/")

        until(browser.page, lambda: Delivery.objects.get(pk=delivery.pk).route_status == "COLLECTED")

    def test_a_refusal_after_the_page_was_left_is_named_on_the_next_page(self, open_board, delivery):
        browser = open_board()
        page = browser.page
        page.locator(f"#collect-{delivery.pk}").click()
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        browser.go("/panel/")
        reload_until(page, ".notice.error")  # the browser does not wait for the answer before it opens the page

        assert "Padaria Sol" in page.locator(".notice.error").inner_text()

    def test_without_a_connection_it_says_that_nothing_was_recorded(self, open_board, delivery):
        page = open_board().page
        page.locator(f"#collect-{delivery.pk}").click()

        page.context.set_offline(True)
        wait_for_hold(page)
        page.get_by_text("Not recorded, no connection: try again.").wait_for()
        page.clock.fast_forward(9_000)  # a success would have disappeared
        expect(page.get_by_text("Not recorded, no connection: try again.")).to_be_visible()
        page.context.set_offline(False)
        page.get_by_role("button", name="Collect", exact=True).click()
        wait_for_hold(page)
        page.locator(f"#deliver-{delivery.stops.get().pk}").wait_for()

        assert Delivery.objects.get(pk=delivery.pk).route_status == "COLLECTED"

    def test_after_the_sessions_end_it_says_so_at_the_next_log_in(self, open_board, delivery):
        browser = open_board()
        page = browser.page

        page.locator(f"#collect-{delivery.pk}").click()
        Session.objects.all().delete()
        wait_for_hold(page)
        page.wait_for_url("**/account/login/**")
        page.fill("#id_login", "dora")
        page.fill("#id_password", PASSWORD)
        page.click("main button.prime")

        page.get_by_text("The last move was not recorded: you were logged out.").wait_for()
        assert Delivery.objects.get(pk=delivery.pk).route_status == "ACCEPTED"

    def test_two_dispatchers_are_told_what_the_other_one_did(self, open_board, delivery):
        first = open_board()
        second = open_board(name="davi")
        second.page.locator(f"#collect-{delivery.pk}").wait_for()
        pause(second.page)  # while the first one works

        second.page.locator(f"#collect-{delivery.pk}").click()
        first.page.locator(f"#unfold-{delivery.pk}").click()
        first.page.locator(f"#release-{delivery.pk}").click()
        first.page.locator("dialog[open] button.prime").click()
        wait_for_hold(first.page)
        first.page.locator(f"#accept-{delivery.pk}").wait_for()
        second.page.clock.resume()
        second.page.locator(f"#accept-{delivery.pk}").wait_for()
        second.page.get_by_text("the move that waited was not made").wait_for()
        wait_for_hold(second.page)
        second.go("/panel/")  # which would send a move that is held

        assert Delivery.objects.get(pk=delivery.pk).route_status == "AVAILABLE"

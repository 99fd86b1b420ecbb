"""A member finds out why webhooks fail, has the endpoint mended and recovers the events, with a count of the clicks."""

from datetime import timedelta

import pytest
from django.utils import timezone

from common.webhooks import endpoints
from delivery.models import EventState, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from tests.browser.test_flows import address
from tests.browser.waiting import until
from tests.factories import BY, DeliveryFactory

_EVENTS = 6


# Loads the page's parts as live.js does, and resolves when they have been replaced.
LOAD_AGAIN = """() => new Promise((done) => {
  document.addEventListener("htmx:afterSettle", done, { once: true });
  htmx.trigger("[data-live]", "live");
}).then(() => true)"""


@pytest.fixture
def failing(shop, endpoint, sink):
    """An endpoint that answered 500 to everything, so that its breaker is open; one event is not retried any more."""
    sink.answers = [(500, {}, b"")]
    endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
    for _number in range(_EVENTS):
        DeliveryFactory.create(token=shop, stops=1)
    return endpoint


def test_a_member_finds_and_mends_a_failure_at_night(member, shop, failing, sink, clicks):
    page = member.page
    counted = clicks(page)
    until(page, lambda: WebhookEndpoint.objects.get(pk=failing.pk).breaker_state.is_open)
    dead = WebhookEvent.objects.filter(attempts_made__gt=0).latest("pk")
    WebhookQueueItem.objects.filter(event=dead, lease=None).delete()
    WebhookEvent.objects.filter(pk=dead.pk).update(state=EventState.DEAD)
    WebhookEndpoint.objects.update(paused_until=timezone.now() + timedelta(hours=1))  # nothing recovers by itself
    member.go(address(shop))

    # What is wrong?
    page.get_by_role("link", name="See why").click()
    reason = page.locator(".failure")
    reason.get_by_text("Your server had an error. Look into its log at this time, then try again.").wait_for()
    assert "500" in reason.inner_text()

    # The request that failed, to find it in one's own log.
    with page.expect_navigation():
        reason.get_by_role("link").first.click()
    page.get_by_text("Request headers").first.click()
    page.evaluate(LOAD_AGAIN)  # what is unfolded stays so
    assert "webhook-signature: v1," in page.locator("details[open] pre").inner_text()
    assert shop.clear_text not in page.content()

    # The server is mended. One event is tried, and its success sends all that wait.
    sink.answers = [(204, {}, b"")]
    page.get_by_role("button", name="Try now").click()
    until(page, lambda: not WebhookEvent.objects.filter(state=EventState.PENDING).exists())

    # What is not retried any more.
    with page.expect_navigation():
        page.get_by_role("link", name="Events").first.click()
    page.get_by_role("button", name="Recover failed events…").click()
    page.locator("dialog[open] button.prime:enabled").wait_for()  # it has counted them
    page.locator("dialog[open] button.prime").click()
    until(page, lambda: WebhookEvent.objects.filter(state=EventState.SENT).count() == _EVENTS)

    page.locator("#progress h2", has_text="1").wait_for()
    assert counted() == 7
    assert member.complaints == []


def test_selected_events_stay_selected_when_the_list_is_loaded_again(member, shop, failing, sink, clicks):
    page = member.go(address(shop, "events/"))
    counted = clicks(page)
    until(page, lambda: WebhookEndpoint.objects.get(pk=failing.pk).breaker_state.is_open)
    sink.answers = [(204, {}, b"")]
    page.reload()

    page.locator("[data-selects=event]").click()
    page.evaluate(LOAD_AGAIN)
    assert page.locator("input[name=event]:not(:checked)").count() == 0
    page.locator("form#selected button").click()
    until(page, lambda: WebhookEvent.objects.filter(state=EventState.SENT).count() == _EVENTS)

    assert counted() == 2
    assert member.complaints == []

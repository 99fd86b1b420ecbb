"""The panel's lists on a phone: filters that fold away, and tables that say when they go on beyond the edge."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from common.webhooks import endpoints
from delivery.models import WebhookEvent
from tests.browser.test_flows import address
from tests.browser.waiting import resize, shown, until
from tests.factories import BY, DeliveryFactory


@pytest.fixture
def phone(member, shop, endpoint):
    """The event log on a phone, with an event."""
    endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=timezone.now())
    DeliveryFactory.create(token=shop)
    resize(member.page, 390, 844)
    return member.go(address(shop, "events/"))


def test_filters_fold_away_and_unfold(phone):
    state = phone.locator("form.filters #id_state")
    expect(state).to_be_hidden()
    assert phone.locator("#list table").bounding_box()["y"] < 844  # on the first screen

    phone.locator(".fold-label").click()
    expect(state).to_be_visible()
    phone.locator("#filters-fold").focus()
    phone.keyboard.press("Space")
    expect(state).to_be_hidden()
    resize(phone, 1440, 900)
    expect(state).to_be_visible()
    expect(phone.locator(".fold-label")).to_be_hidden()


# Blocks of code with a part that neither is seen nor can be scrolled to, by their first line.
HIDDEN = """() => [...document.querySelectorAll(".copy pre")].filter((block) => {
  const [inner, outer] = [block, block.parentElement].map((each) => each.getBoundingClientRect());
  const isCut = block.scrollHeight > block.clientHeight && getComputedStyle(block).overflowY === "visible";
  return isCut || inner.top < outer.top || inner.bottom > outer.bottom + 1;
}).map((block) => block.textContent.slice(0, 40))"""


@pytest.mark.parametrize("path", ["/docs/errors", "/docs/webhooks", "/docs/quickstart"])
def test_code_is_shown_from_its_first_line_to_its_last(phone, member, path):
    page = member.go(path)

    assert page.locator(".copy pre").count() > 0
    assert page.evaluate(HIDDEN) == []


@pytest.fixture
def narrow(phone):
    """A window in which the event log is a table, and too wide."""
    resize(phone, 720, 844)
    return phone


def test_a_table_stays_scrolled_when_the_list_is_loaded_again_and_a_pressed_link_is_clicked(narrow):
    narrow.evaluate("document.querySelector('#list .scroll').scrollLeft = 60")
    WebhookEvent.objects.update(attempts_made=7)
    narrow.evaluate("htmx.trigger('[data-live]', 'live')")
    narrow.locator("#list td", has_text="7 attempts").first.wait_for()
    assert narrow.evaluate("document.querySelector('#list .scroll').scrollLeft") == 60

    narrow.locator("#list tbody a").first.hover()
    narrow.mouse.down()
    WebhookEvent.objects.update(attempts_made=8)
    with narrow.expect_response(lambda answer: "rota-automatic" in answer.request.headers) as answer:
        narrow.evaluate("htmx.trigger('[data-live]', 'live')")
    shown(narrow, answer.value)

    with narrow.expect_navigation():
        narrow.mouse.up()


def test_a_table_that_goes_on_beyond_the_edge_has_a_shadow_there(narrow):
    """The edge is darker while there is more to scroll to, and no longer at the end."""
    box = narrow.locator("#list .scroll")
    edge = {"x": box.bounding_box()["x"] + box.bounding_box()["width"] - 4, "y": box.bounding_box()["y"] + 60}
    clip = {**edge, "width": 3, "height": 3}

    before = narrow.screenshot(clip=clip)
    narrow.evaluate("document.querySelector('#list .scroll').scrollLeft = 10_000")

    assert narrow.evaluate("document.querySelector('#list .scroll').scrollWidth") > 720
    until(narrow, lambda: narrow.screenshot(clip=clip) != before)

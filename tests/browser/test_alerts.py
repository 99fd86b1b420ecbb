"""A member chooses what to be told, sets a URL and sends a test."""

import json

import pytest
from django.contrib.auth.models import User

from common.background import BackgroundWork
from delivery.webhooks import alert_posts
from mail import sending
from tests.browser.waiting import SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_test_alert_reaches_the_mailbox_and_the_url(tab, people, shop, receiver, mailbox, locale, say):
    people("maria", account=shop.integrator)
    User.objects.update(email="maria@example.com")
    receiver.status = 200
    problems: list[str] = []
    browser = tab(locale)
    browser.log_in("maria")
    page = browser.go(f"/panel/accounts/{shop.integrator.pk}/live/alerts/")

    page.fill("#id_url", receiver.url)
    with page.expect_navigation():
        page.get_by_role("button", name=say("Save the URL")).click()
    page.get_by_role("button", name=say("Send a test")).click()
    page.get_by_text(say("A test alert is on its way. It takes up to ten seconds.")).wait_for()
    posting = BackgroundWork("alerts", alert_posts.post_due)  # in a thread, because this one has an event loop already
    posting.wake()
    _headers, body = receiver.received.get(timeout=SECONDS)
    posting.stop(seconds=20)
    sending.send_due()
    page.reload()
    page.uncheck("input[name=recovered]")
    page.get_by_role("button", name=say("Save"), exact=True).click()
    page.get_by_text(say("Saved. You are told in the language of this page.")).wait_for()

    browser.keep(f"alerts-tested-{locale}")
    problems += browser.findings(f"alerts-tested-{locale}")
    assert "Padaria Sol" in json.loads(body)["text"]
    assert "Padaria Sol" in mailbox.messages[0]["Subject"]
    assert page.locator(".badge.good").count() == 1
    assert not page.is_checked("input[name=recovered]")
    assert problems == []
    assert browser.complaints == []

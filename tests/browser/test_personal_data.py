"""Staff find one person's data and have them forgotten, in a browser."""

import pytest

from delivery.models import Stop
from tests.delivery.personal_data import MARIA, closed, requested
from tests.integration.factories import create_order

pytestmark = pytest.mark.django_db(transaction=True)


def test_staff_forget_a_person(tab, people, seller, locale, say):
    ended, open_ = closed(MARIA), requested(MARIA)
    create_order(seller)
    people("paula", group="Account staff")
    browser = tab(locale)
    browser.log_in("paula")
    page = browser.go("/panel/personal-data/")

    page.fill("#id_number", MARIA)
    page.get_by_role("button", name=say("Find"), exact=True).click()
    page.get_by_text(str(open_.pk)).wait_for()
    browser.keep(f"personal-data-found-{locale}")
    problems = browser.findings(f"personal-data-found-{locale}")
    page.get_by_role("button", name=say("Forget…")).click()
    page.get_by_role("button", name=say("Forget now")).wait_for()
    browser.keep(f"personal-data-forget-{locale}")
    with page.expect_navigation():
        page.get_by_role("button", name=say("Forget now")).click()
    page.get_by_text("…0001").first.wait_for()
    browser.keep(f"personal-data-requests-{locale}")
    problems += browser.findings(f"personal-data-requests-{locale}")

    assert Stop.objects.get(delivery=ended).contact_phone == ""
    assert Stop.objects.get(delivery=open_).contact_phone == MARIA
    assert problems == []
    assert browser.complaints == []

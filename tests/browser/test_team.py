"""An owner copies the link of an invitation."""

import pytest

from tests.browser.waiting import copied

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_link_is_copied_where_there_is_no_mail_server(tab, people, shop, settings):
    settings.EMAIL_URL = ""
    people("maria", account=shop.integrator)
    owner = tab()
    owner.log_in("maria")
    page = owner.go(f"/panel/accounts/{shop.integrator.pk}/live/team/")
    page.fill("#id_email", "ana@example.com")
    with page.expect_navigation():
        page.get_by_role("button", name="Invite", exact=True).click()
    link = page.locator("#invitation-link").inner_text()

    page.locator("[data-copy=invitation-link]").click()

    assert "/account/invitation/?key=" in link
    assert copied(page, link) == link
    assert owner.complaints == []

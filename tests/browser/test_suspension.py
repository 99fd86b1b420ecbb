"""Staff suspend an account and a seller in the admin's lists; their members are told on every page."""

import pytest
import requests

from tests.browser.test_pages import LOCALES, look

pytestmark = pytest.mark.django_db(transaction=True)


def run(browser, path, action, reason=""):
    """Choose the list's only row and run an action on it."""
    page = browser.go(path)
    page.check("input.action-select")
    page.select_option("select[name=action]", action)
    with page.expect_navigation():
        page.click("button[name=index]")
    if reason:
        page.fill("input[name=reason]", reason)
        name = f"admin-suspend-{path.split('/')[3]}-{page.locator('html').get_attribute('lang')}"
        problems: list[str] = []
        look(browser, name, problems)
        assert problems == []
        with page.expect_navigation():
            page.click("button.is-final")


def status(browser, token):
    url = f"{browser.base}/api/info-delivery/0190b5a0-7c3e-7d5a-9f00-000000000001"
    return requests.get(url, headers={"Authorization": f"Bearer {token.clear_text}"}, timeout=10).status_code


@pytest.mark.parametrize("locale", LOCALES)
def test_a_suspension_from_the_admin_to_the_panel_and_back(tab, people, shop, seller, locale):
    people("ana", group="Account staff")
    people("maria", account=shop.integrator, seller=seller)
    staff, member = tab(locale), tab(locale)
    problems: list[str] = []
    staff.log_in("ana")
    member.log_in("maria")
    base = f"/panel/accounts/{shop.integrator.pk}/live/"

    run(staff, "/admin/delivery/integrator/", "suspend", "Fatura 17 em aberto")
    run(staff, "/admin/integration/seller/", "suspend", "Fatura 17 em aberto")

    assert status(staff, shop) == 401
    pages = {
        "home": "/panel/", "overview": base, "webhook": f"{base}webhook/", "tokens": f"{base}tokens/",
        "token": f"{base}tokens/{shop.pk}/", "activity": f"{base}activity/", "seller": f"/panel/sellers/{seller.pk}/",
    }  # fmt: skip  # a table
    for name, path in pages.items():
        page = member.go(path)
        assert page.locator("#suspended").count() == (0 if name == "home" else 1)
        look(member, f"suspended-{name}-{locale}", problems)
    for name, path in {"integrator": "/admin/delivery/integrator/", "seller": "/admin/integration/seller/"}.items():
        staff.go(path)
        look(staff, f"suspended-admin-{name}-{locale}", problems)

    run(staff, "/admin/delivery/integrator/", "lift_suspension")

    assert status(staff, shop) == 404
    assert member.go(base).locator("#suspended").count() == 0
    assert problems == []
    assert staff.complaints + member.complaints == []

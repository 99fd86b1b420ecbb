"""Staff bring in an integrator, with an interruption."""

import pytest

from delivery.models import Integrator

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_set_up_goes_on_where_it_was_left(tab, people):
    people("paula", group="Account staff")
    browser = tab()
    browser.log_in("paula")
    page = browser.go("/panel/accounts/new/")
    page.fill("#id_name", "Padaria Sol")
    page.check("#id_allow_any_pickup")
    page.get_by_role("button", name="Open the account").click()
    page.get_by_role("heading", name="Padaria Sol").wait_for()
    Integrator.objects.update(allow_any_pickup=False)

    page.reload()
    page.fill("#id_position", "-23.561414, -46.655881")
    page.locator("[data-pin] .point").wait_for()
    page.get_by_role("button", name="Save the pickup point").click()
    page.locator("[data-pin]").wait_for(state="detached")

    assert Integrator.objects.get().pickup_points.count() == 1
    assert browser.complaints == []

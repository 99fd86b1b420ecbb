"""Staff simulate a delivery."""

import re

import pytest

from tests.browser.waiting import resize

pytestmark = pytest.mark.django_db(transaction=True)


def test_staff_choose_the_points_of_a_simulated_delivery_on_the_map(tab, people, shop):
    people("paula", group="Account staff")
    browser = tab()
    browser.log_in("paula")
    page = browser.go("/panel/simulators/delivery/")
    resize(page, 390, 844)

    page.fill("#id_a", "-23.56141, -46.65588")
    for x in (120, 200):
        page.locator("#points-map").click(position={"x": x, "y": 90})
    typed = [page.locator(f"#id_{name}").input_value() for name in "bcd"]
    with page.expect_navigation():
        page.get_by_role("button", name="Calculate").click()
    page.locator("#result .price").wait_for()

    assert [bool(re.fullmatch(r"-23\.\d{5}, -46\.\d{5}", text)) for text in typed] == [True, True, False]
    assert page.locator("#result .price").bounding_box()["y"] < 700  # in the window, which is 844 px high
    assert browser.complaints == []

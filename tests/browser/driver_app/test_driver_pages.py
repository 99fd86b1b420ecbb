"""Every screen of the driver's app at 390 and 360 pixels in both languages, light and dark: contrast, targets, axe."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone, translation
from django.utils.translation import gettext
from playwright.sync_api import expect

from delivery.windows import Window
from tests.browser import shop_history
from tests.browser.looks import WIDTHS_OF
from tests.factories import DeliveryFactory
from tests.zones import MANAUS, delivery_in


def test_times_are_those_of_the_place_whatever_zone_the_phone_has(ana):
    ready = timezone.now() + timedelta(hours=30)
    delivery_in(
        MANAUS, pickup=Window(ready_at=timezone.now()), dropoff=Window(ready_at=ready), driver=ana.driver, accepted=True
    )

    ana.press("Collected")
    ana.confirm("Yes, collected")

    there = ready.astimezone(MANAUS.zone)
    expect(ana.page.locator(".now .asked").first).to_contain_text(re.compile(rf"from .*{there:%-d}.*{there:%-I:%M}"))


@pytest.mark.parametrize("locale", WIDTHS_OF)
def test_screens_can_be_read_in_the_sun_and_used_with_gloves(open_phone, locale):
    ana = open_phone(locale=locale, name="Ana Lima", on_duty=False)
    page, problems = ana.page, []
    page.emulate_media(color_scheme="light" if locale == "pt-BR" else "dark")

    def say(text):
        with translation.override(locale.lower()):
            return gettext(text)

    def look(name):
        # The markup is the same in both languages, and axe-core takes longest: the dark needs its contrast only.
        problems.extend(ana.look(f"{name}-{locale}", only="" if locale == "pt-BR" else "color-contrast-enhanced"))

    look("off-duty")
    ana.press(say("Menu"))
    look("menu")
    ana.press(say("Back"))
    ana.press(say("Go on duty"))
    page.get_by_role("heading", name=say("Waiting for offers")).wait_for()
    look("waiting")
    DeliveryFactory.create(payload=shop_history.payload(1, 2))  # at B a photo, a PIN and instructions
    page.locator(".offer").wait_for()
    look("offers")
    page.locator(".offer button.prime").click()
    page.locator(".now").wait_for()
    look("route-collect")
    ana.press(say("Navigate"))
    look("navigate")
    ana.press(say("Back"))
    ana.press(say("Collected"))
    look("collect")
    ana.confirm(say("Yes, collected"))
    page.get_by_role("button", name=say("Delivered"), exact=True).wait_for()
    look("route-deliver")
    ana.press(say("Delivered"))
    look("proof")
    ana.press(say("Back"))
    ana.press(say("Couldn't deliver"))
    look("failure")
    ana.press(say("Back"))
    ana.lose_signal()
    ana.press(say("Couldn't deliver"))
    page.get_by_label(say("Nobody there")).check()
    ana.confirm(say("Not delivered"))
    page.get_by_text(say("Waiting to be sent:")).wait_for()
    look("offline")
    ana.find_signal()
    expect(page.get_by_text(say("Waiting to be sent:"))).to_have_count(0)
    page.goto(f"{ana.base}/driver/day/")
    look("day")

    assert problems == []

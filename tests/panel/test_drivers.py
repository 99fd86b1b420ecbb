"""Dispatchers' pages about drivers and their phones."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from delivery.actions import driver_devices
from delivery.models import DriverDevice
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory


@pytest.fixture
def browser(as_role):
    return as_role("dispatcher")


@pytest.fixture
def ana(db):
    return DriverFactory.create(name="Ana Lima", on_duty=False, at_point=PICKUP)


def logged_in(driver):
    token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
    return driver_devices.log_in(token=token, phone="Chrome, Android", language="en", at=timezone.now())[0]


def page(browser, path=""):
    return browser.get(f"/panel/drivers/{path}", headers={"accept-language": "en"}).content.decode()


class TestDrivers:
    def test_lists_those_on_duty_first_with_their_state(self, browser, ana):
        DriverFactory.create(name="Bia")
        carla = DriverFactory.create(name="Carla")
        DeliveryFactory.create(accepted=True, driver=carla)

        text = page(browser)

        assert re.findall(r"/panel/drivers/[^\"]+/\">([^<]+)", text) == ["Bia", "Carla", "Ana Lima"]
        assert [state.strip() for state in re.findall(r'<span class="badge[^"]*">([^<]+)', text)] == [
            "On duty",
            "On a route",
            "Off duty",
        ]

    def test_finds_by_name_and_phone(self, browser, ana):
        DriverFactory.create(name="Bia", phone="+55 11 95555-1234")

        assert "Ana Lima" in page(browser, "?q=lima")
        assert "Ana Lima" not in page(browser, "?q=5555-1234")

    def test_leaves_out_those_who_left_and_simulated_ones(self, browser, ana):
        DriverFactory.create(name="Gone", active=False)
        DriverFactory.create(
            name="Robot", environment="sandbox", simulated_for=TokenFactory.create(sandbox=True).integrator
        )

        text = page(browser)

        assert "Gone" not in text
        assert "Robot" not in text

    def test_takes_as_many_queries_for_ten_as_for_one(self, browser, ana, django_assert_num_queries):
        page(browser)  # what is cached by the first request
        with django_assert_num_queries(9):
            page(browser)
        for driver in DriverFactory.create_batch(9):
            logged_in(driver)

        with django_assert_num_queries(9):
            page(browser)


class TestPage:
    def test_and_the_admins_lead_to_each_other(self, browser, ana):
        in_admin, in_panel = f"/admin/delivery/driver/{ana.pk}/change/", f"/panel/drivers/{ana.pk}/"

        assert f'href="{in_panel}"' in browser.get(in_admin).content.decode()
        assert f'href="{in_admin}"' in browser.get(in_panel).content.decode()


class TestLink:
    def test_is_shown_once_as_text_and_code_and_logs_in(self, browser, ana):
        text = browser.post(f"/panel/drivers/{ana.pk}/link/").content.decode()

        (link,) = re.findall(r"http://testserver(/driver/in/[^<\s]+)", text)
        assert 'class="qr"' in text
        assert "style=" not in text
        assert link not in page(browser, f"{ana.pk}/")
        assert Client().post(link).status_code == 302
        assert DriverDevice.objects.get().created_by == "user dispatcher"

    def test_is_not_issued_for_an_unknown_driver(self, browser, ana):
        unknown = "01890000-0000-7000-8000-000000000000"

        assert browser.post(f"/panel/drivers/{unknown}/link/").status_code == 404


class TestPhones:
    def test_are_listed_and_logged_out(self, browser, ana):
        device = logged_in(ana)
        driver_devices.go_on_duty(device=device)
        assert "Chrome, Android" in page(browser, f"{ana.pk}/")

        response = browser.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        assert response.status_code == 302
        device.refresh_from_db()
        assert device.revoked_by == "user dispatcher"
        phones = page(browser, f"{ana.pk}/").partition('id="phones"')[2].partition("</section>")[0]
        assert "Chrome, Android" not in phones

    def test_leave_who_issued_links_and_ended_sessions(self, browser, ana):
        browser.post(f"/panel/drivers/{ana.pk}/link/")
        device = logged_in(ana)
        browser.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        text = page(browser, f"{ana.pk}/").partition('id="log-ins"')[2]

        assert [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td.*?</td>", text, re.DOTALL)
        ][::3] == [
            "Phone logged out Chrome, Android",
            "Log-in link issued and used",
            "Log-in link issued, expired unused",
        ]
        assert text.count("dispatcher</td>") == 2

    def test_of_another_driver_are_not_found(self, browser, ana):
        device = logged_in(DriverFactory.create())

        response = browser.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        assert response.status_code == 404
        device.refresh_from_db()
        assert device.revoked_at is None

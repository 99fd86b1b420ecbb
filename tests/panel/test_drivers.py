"""Dispatchers' pages about drivers and their phones."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from delivery.actions import driver_devices
from delivery.models import DriverDevice
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory


@pytest.fixture
def ana(db):
    return DriverFactory.create(name="Ana Lima", on_duty=False, at_point=PICKUP)


def logged_in(driver):
    token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
    return driver_devices.log_in(token=token, phone="Chrome, Android", language="en", at=timezone.now())[0]


def page(dispatcher, path=""):
    return dispatcher.get(f"/panel/drivers/{path}", headers={"accept-language": "en"}).content.decode()


class TestDrivers:
    def test_lists_those_on_duty_first_with_their_state(self, dispatcher, ana):
        DriverFactory.create(name="Bia")
        carla = DriverFactory.create(name="Carla")
        DeliveryFactory.create(accepted=True, driver=carla)

        text = page(dispatcher)

        assert re.findall(r"/panel/drivers/[^\"]+/\">([^<]+)", text) == ["Bia", "Carla", "Ana Lima"]
        states = [state.strip() for state in re.findall(r'<span class="badge[^"]*">([^<]+)', text)]
        assert states == ["On duty", "On a route", "Off duty"]

    def test_finds_by_name_and_phone(self, dispatcher, ana):
        DriverFactory.create(name="Bia", phone="+55 11 95555-1234")

        assert "Ana Lima" in page(dispatcher, "?q=lima")
        assert "Ana Lima" not in page(dispatcher, "?q=5555-1234")

    def test_leaves_out_those_who_left_and_simulated_ones(self, dispatcher, ana):
        DriverFactory.create(name="Gone", active=False)
        DriverFactory.create(
            name="Robot", environment="sandbox", simulated_for=TokenFactory.create(sandbox=True).integrator
        )

        text = page(dispatcher)

        assert "Gone" not in text
        assert "Robot" not in text

    def test_takes_as_many_queries_for_ten_as_for_one(self, dispatcher, ana, django_assert_num_queries):
        page(dispatcher)  # what is cached by the first request
        with django_assert_num_queries(9):
            page(dispatcher)
        for driver in DriverFactory.create_batch(9):
            logged_in(driver)

        with django_assert_num_queries(9):
            page(dispatcher)


class TestPage:
    def test_and_the_admins_lead_to_each_other(self, dispatcher, ana):
        in_admin, in_panel = f"/admin/delivery/driver/{ana.pk}/change/", f"/panel/drivers/{ana.pk}/"

        assert f'href="{in_panel}"' in dispatcher.get(in_admin).content.decode()
        assert f'href="{in_admin}"' in dispatcher.get(in_panel).content.decode()


class TestLink:
    def test_is_shown_once_as_text_and_code_and_logs_in(self, dispatcher, ana):
        text = dispatcher.post(f"/panel/drivers/{ana.pk}/link/").content.decode()

        (link,) = re.findall(r"http://testserver(/driver/in/[^<\s]+)", text)
        assert 'class="qr"' in text
        assert "style=" not in text
        assert link not in page(dispatcher, f"{ana.pk}/")
        assert Client().post(link).status_code == 302
        assert DriverDevice.objects.get().created_by == "user dispatcher"

    def test_is_not_issued_for_an_unknown_driver(self, dispatcher, ana):
        unknown = "01890000-0000-7000-8000-000000000000"

        assert dispatcher.post(f"/panel/drivers/{unknown}/link/").status_code == 404


class TestPhones:
    def test_are_listed_and_logged_out(self, dispatcher, ana):
        device = logged_in(ana)
        driver_devices.go_on_duty(device=device)
        assert "Chrome, Android" in page(dispatcher, f"{ana.pk}/")

        response = dispatcher.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        assert response.status_code == 302
        device.refresh_from_db()
        assert device.revoked_by == "user dispatcher"
        phones = page(dispatcher, f"{ana.pk}/").partition('id="phones"')[2].partition("</section>")[0]
        assert "Chrome, Android" not in phones

    def test_leave_who_issued_links_and_ended_sessions(self, dispatcher, ana):
        dispatcher.post(f"/panel/drivers/{ana.pk}/link/")
        device = logged_in(ana)
        dispatcher.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        text = page(dispatcher, f"{ana.pk}/").partition('id="log-ins"')[2]

        assert [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td.*?</td>", text, re.DOTALL)
        ][::3] == [
            "Phone logged out Chrome, Android",
            "Log-in link issued and used",
            "Log-in link issued, expired unused",
        ]
        assert text.count("dispatcher</td>") == 2

    def test_of_another_driver_are_not_found(self, dispatcher, ana):
        device = logged_in(DriverFactory.create())

        response = dispatcher.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        assert response.status_code == 404
        device.refresh_from_db()
        assert device.revoked_at is None

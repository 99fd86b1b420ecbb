"""Dispatchers' pages about drivers and their phones."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from delivery.actions import deliveries
from delivery.drivers import devices as driver_devices
from delivery.geo.distance import Point
from delivery.models import DriverDevice, DriverLogInLink, DutyChange
from delivery.payload import Place
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, validated_payload


@pytest.fixture
def ana(db):
    return DriverFactory.create(name="Ana Lima", on_duty=False, at_point=PICKUP)


def logged_in(driver):
    token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
    return driver_devices.log_in(token=token, phone="Chrome, Android", language="en", at=timezone.now())[0]


def page(dispatcher, path=""):
    return dispatcher.get(f"/panel/drivers/{path}", headers={"accept-language": "en"}).content.decode()


class TestDrivers:
    def test_lists_those_with_a_route_and_those_on_duty_first_with_their_state(self, dispatcher, ana):
        DriverFactory.create(name="Bia")
        carla = DriverFactory.create(name="Carla")
        DeliveryFactory.create(accepted=True, driver=carla)

        text = page(dispatcher)

        assert re.findall(r"/panel/drivers/[^\"]+/\">([^<]+)", text) == ["Carla", "Bia", "Ana Lima"]
        states = [state.strip() for state in re.findall(r'<span class="badge[^"]*">([^<]+)', text)]
        assert states == ["On a route", "Free", "Off duty"]

    def test_names_the_next_stop_and_how_late_it_is(self, dispatcher, ana):
        stop = Place(point=Point(*PICKUP), address={"street": "Rua Augusta", "number": "500"})
        DriverFactory.create(name="Bia")
        carla = DriverFactory.create(name="Carla")
        day_before = timezone.now() - timedelta(days=1)
        payload = validated_payload(dropoffs=[stop])
        route = DeliveryFactory.create(collected=True, driver=carla, payload=payload, at=day_before)

        text = page(dispatcher)

        assert re.findall(r"/panel/drivers/[^\"]+/\">([^<]+)", text) == ["Carla", "Bia", "Ana Lima"]
        assert f"/panel/deliveries/{route.pk}/" in text
        assert '<b class="letter">B</b>' in text
        assert "Rua Augusta, 500" in text
        assert re.search(r"\d+ h \d+ min late", text)

    def test_finds_by_name_and_phone(self, dispatcher, ana):
        DriverFactory.create(name="Bia", phone="+55 11 95555-1234")

        assert "Ana Lima" in page(dispatcher, "?q=lima")
        assert "Ana Lima" not in page(dispatcher, "?q=5555-1234")

    def test_leaves_out_those_who_left_and_simulated_ones(self, dispatcher, ana):
        """They are not counted among those on duty, and no phone logs in as one of them."""
        gone = DriverFactory.create(name="Gone", active=False)
        robot = DriverFactory.create(
            name="Robot", environment="sandbox", simulated_for=TokenFactory.create(sandbox=True).integrator
        )

        response = dispatcher.get("/panel/drivers/")

        text = response.content.decode()
        assert "Gone" not in text
        assert "Robot" not in text
        assert response.context["on_duty"] == 0
        for path in (f"/panel/drivers/{driver.pk}/" for driver in (gone, robot)):
            assert (dispatcher.get(path).status_code, dispatcher.post(f"{path}link/").status_code) == (404, 404)
        assert not DriverLogInLink.objects.exists()

    def test_takes_as_many_queries_for_ten_as_for_one(self, dispatcher, django_assert_num_queries):
        DeliveryFactory.create(accepted=True)
        page(dispatcher)  # what is cached by the first request
        with django_assert_num_queries(11):
            page(dispatcher)
        for _number in range(9):
            DeliveryFactory.create(accepted=True)

        with django_assert_num_queries(11):
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
        logged_in(DriverFactory.create())
        over = logged_in(ana)
        DriverDevice.objects.filter(pk=over.pk).update(expires_at=timezone.now())
        assert page(dispatcher, f"{ana.pk}/").count("Chrome, Android") == 1

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
        dispatcher.post(f"/panel/drivers/{ana.pk}/link/")
        dispatcher.post(f"/panel/drivers/{DriverFactory.create().pk}/link/")

        text = page(dispatcher, f"{ana.pk}/").partition('id="log-ins"')[2]

        assert [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.findall(r"<td.*?</td>", text, re.DOTALL)
        ][::3] == [
            "Log-in link issued, not used yet",
            "Phone logged out Chrome, Android",
            "Log-in link issued and used",
            "Log-in link issued, expired unused",
        ]
        assert text.count("dispatcher</td>") == 3

    def test_of_another_driver_are_not_found(self, dispatcher, ana):
        device = logged_in(DriverFactory.create())

        response = dispatcher.post(f"/panel/drivers/{ana.pk}/phones/{device.pk}/end/")

        assert response.status_code == 404
        device.refresh_from_db()
        assert device.revoked_at is None


class TestDriver:
    @pytest.fixture
    def now(self, monkeypatch):
        """Before the log-in, which would have ended by then."""
        now = timezone.now().replace(hour=20, minute=0, second=0)  # 17:00 in São Paulo
        monkeypatch.setattr(timezone, "now", lambda: now)
        return now

    def test_has_the_share_of_routes_on_time(self, now, dispatcher):
        ana = DriverFactory.create()
        finished(ana, now - timedelta(minutes=200), minutes=130)
        finished(ana, now - timedelta(minutes=50))
        finished(ana, now - timedelta(days=31))

        response = dispatcher.get(f"/panel/drivers/{ana.pk}/")

        assert response.context["counts"] == {"finished": 2, "on_time": 1}

    def test_is_listed_with_the_number_of_routes_that_have_ended_since_midnight(self, now, dispatcher):
        ana, _bia = DriverFactory.create(name="Ana"), DriverFactory.create(name="Bia")
        for hours in (16.9, 17.1):
            finished(ana, now - timedelta(hours=hours), minutes=0)

        assert re.findall(r'data-label="Finished today">(\d+)<', page(dispatcher)) == ["1", "0"]

    def test_says_since_when_one_on_duty_is(self, now, dispatcher):
        ana, bia = DriverFactory.create(), DriverFactory.create(on_duty=False)
        DutyChange.objects.all().delete()  # recorded by the clock of the database
        for driver, minutes, on_duty in ((ana, 125, True), (ana, 115, False), (ana, 95, True), (bia, 95, False)):
            DutyChange.objects.create(driver=driver, on_duty=on_duty, at=now - timedelta(minutes=minutes))

        texts = [page(dispatcher, f"{driver.pk}/") for driver in (ana, bia)]

        assert re.search(r"On duty since</h2>\s*<p>[^<]+ 15:25:00<", texts[0])
        assert "On duty since" not in texts[1]

    def test_takes_as_many_queries_for_any_number_of_routes(self, now, dispatcher):
        ana = DriverFactory.create()
        counts = []
        for number in (1, 3):
            for minutes in range(number):
                finished(ana, now - timedelta(minutes=10 * number + minutes + 1), minutes=0)
            with CaptureQueriesContext(connection) as queries:
                dispatcher.get(f"/panel/drivers/{ana.pk}/")
            counts.append(len(queries))

        assert counts[0] == counts[1]


def finished(driver, at, *, minutes=5):
    """A route of the driver, requested and accepted at `at` and finished so many minutes later."""
    delivery = DeliveryFactory.create(stops=1, at=at)
    end = at + timedelta(minutes=minutes)
    deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at)
    deliveries.collect(delivery=delivery, by=BY, at=end)
    deliveries.deliver(delivery=delivery, point="B", by=BY, at=end)

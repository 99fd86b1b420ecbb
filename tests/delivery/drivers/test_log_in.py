"""Log-in of phones."""

import pytest
from django.test import Client
from django.utils import timezone

from delivery.actions import drivers
from delivery.drivers import devices as driver_devices
from delivery.models import DriverDevice, DriverLogInLink
from tests.delivery.drivers.phones import Phone, now, phone
from tests.factories import BY, DriverFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def link():
    driver = DriverFactory.create(name="Ana Lima", on_duty=False)
    return f"/driver/in/{driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())}/"


class TestLink:
    def test_shows_whose_it_is_and_changes_nothing(self, link):
        response = Client().get(link)

        assert "Ana Lima" in response.content.decode()
        assert DriverLogInLink.objects.get().used_at is None
        assert "driver" not in response.cookies

    def test_logs_in_once(self, link):
        client, thief = Client(), Client()

        first, second = client.post(link), thief.post(link)

        assert (first.status_code, first.headers["Location"]) == (302, "/driver/")
        assert second.status_code == 410
        assert client.get("/driver/state/").status_code == 200
        assert thief.get("/driver/state/").status_code == 401
        assert DriverDevice.objects.count() == 1

    def test_gives_a_cookie_that_scripts_and_other_sites_do_not_get(self, link):
        cookie = Client().post(link).cookies["driver"]

        assert cookie["httponly"]
        assert cookie["samesite"] == "Lax"
        assert cookie["max-age"] == 30 * 24 * 3600

    @pytest.mark.parametrize("token", ["x", "rota_in_unknown", "x" * 3000, "%00"])
    def test_is_refused_when_nobody_issued_it(self, token):
        for method in ("get", "post"):
            assert getattr(Client(), method)(f"/driver/in/{token}/").status_code == 410

    def test_names_the_phone_for_dispatchers(self):
        Phone(DriverFactory.create())

        assert DriverDevice.objects.get().name == "Chrome, Android"

    @pytest.mark.parametrize("language", ["en", "pt-br"])
    def test_keeps_the_language_of_the_phone(self, language):
        Phone(DriverFactory.create(), language=language)

        assert DriverDevice.objects.get().language == language


class TestDutyByADispatcher:
    def test_lets_the_only_phone_report(self):
        ana = phone(on_duty=False)
        drivers.set_duty([ana.driver], on_duty=True)

        assert ana.state()["driver"]["reportsHere"]
        assert ana.post("positions/", {"sentAt": now(), "positions": []}).status_code == 200


class TestTries:
    def test_of_links_that_nobody_issued_are_limited_by_address(self):
        statuses = [Client().get("/driver/in/x/", REMOTE_ADDR="198.51.100.7").status_code for _try in range(31)]

        assert statuses == [410] * 30 + [429]
        assert Client().post("/driver/in/x/", REMOTE_ADDR="198.51.100.7").status_code == 429
        assert Client().get("/driver/in/x/", REMOTE_ADDR="198.51.100.8").status_code == 410

    def test_beyond_the_limit_leave_other_links_of_the_address_alone(self, link):
        for _try in range(31):
            Client().get("/driver/in/x/")

        first, second = Client().post(link), Client().post(link)

        assert (first.status_code, second.status_code) == (302, 410)
        assert "used already" in second.content.decode()

    @pytest.mark.parametrize(("method", "is_issued"), [("get", True), ("head", True), ("head", False)])
    def test_of_links_that_work_or_with_head_do_not_count(self, link, method, is_issued):
        path = link if is_issued else "/driver/in/x/"

        statuses = {getattr(Client(), method)(path).status_code for _try in range(31)}

        assert statuses == {200}
        assert Client().get("/driver/in/x/").status_code == 410


class TestLogInAnew:
    """On a phone that has a session already."""

    def again(self, phone, driver):
        token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
        assert phone.client.post(f"/driver/in/{token}/").status_code == 302

    def test_ends_the_former_session(self):
        ana = phone(on_duty=False)
        former = ana.client.cookies["driver"].value

        self.again(ana, ana.driver)

        assert DriverDevice.objects.filter(revoked_at=None).count() == 1
        assert ana.get("state/").status_code == 200
        ana.client.cookies["driver"] = former
        assert ana.get("state/").status_code == 401

    def test_goes_on_reporting_positions(self):
        ana = phone()

        self.again(ana, ana.driver)

        shown = ana.state()["driver"]
        assert (shown["onDuty"], shown["reportsHere"]) == (True, True)

    def test_leaves_that_to_the_phone_that_has_done_so(self):
        ana = phone()
        second = Phone(ana.driver)

        self.again(second, ana.driver)

        assert [each.state()["driver"]["reportsHere"] for each in (ana, second)] == [True, False]

    def test_of_another_driver_ends_the_duty_of_the_first(self):
        ana, bia = phone(), DriverFactory.create(on_duty=False)

        self.again(ana, bia)

        ana.driver.refresh_from_db()
        shown = ana.state()["driver"]
        assert (shown["id"], shown["onDuty"]) == (str(bia.pk), False)
        assert not ana.driver.on_duty

    def test_with_a_link_that_does_not_work_leaves_the_session(self):
        ana = phone()

        assert ana.client.post("/driver/in/x/").status_code == 410

        assert ana.state()["driver"]["reportsHere"]


class TestSession:
    def test_ends_at_log_out_of_this_phone(self):
        ana = phone()
        other = Phone(ana.driver)

        response = ana.client.post("/driver/out/")

        assert response.status_code == 302
        assert other.get("state/").status_code == 200
        assert ana.get("state/").status_code == 401
        ana.driver.refresh_from_db()
        assert not ana.driver.on_duty

    def test_opens_no_page_of_people(self):
        ana = phone()

        for path in ("/panel/", "/panel/board/", "/admin/"):
            assert "login" in ana.client.get(path).headers["Location"]
        assert ana.client.get("/api/deliveries").status_code == 401

    def test_needs_the_csrf_token(self, link):
        client = Client(enforce_csrf_checks=True)

        assert client.post(link).status_code == 403
        assert not DriverDevice.objects.exists()

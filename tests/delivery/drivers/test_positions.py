"""Positions that are received by two statements, and those that the view receives instead."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import drivers
from delivery.drivers import devices as driver_devices
from delivery.drivers import positions
from delivery.models import DriverDevice, DriverPosition, LatestPosition
from tests.delivery.drivers.phones import phone
from tests.factories import BY, PICKUP, DeliveryFactory
from tests.overlapping import overlap


def report(*points, ago=2.0):
    """The body of a request with these positions, the last one found so many seconds ago."""
    at = timezone.now()
    moments = [at - timedelta(seconds=ago + number) for number in reversed(range(len(points)))]
    found = [
        {"latitude": latitude, "longitude": longitude, "accuracy": 6.5, "at": moment.isoformat()}
        for (latitude, longitude), moment in zip(points, moments, strict=True)
    ]
    return {"sentAt": at.isoformat(), "positions": found}


@pytest.fixture
def ana(db):
    """A driver on duty who was at PICKUP a minute ago."""
    found = phone(name="Ana")
    long_ago = timezone.now() - timedelta(minutes=1)
    DriverPosition.objects.update(recorded_at=long_ago)
    LatestPosition.objects.update(recorded_at=long_ago)
    return found


@pytest.fixture
def by_the_view(monkeypatch):
    """How many requests the view has received."""
    calls = []
    receive = driver_devices.receive_positions

    def counted(**arguments):
        calls.append(arguments)
        return receive(**arguments)

    monkeypatch.setattr(driver_devices, "receive_positions", counted)
    return calls


class TestUsual:
    def test_are_recorded_without_the_view(self, ana, by_the_view):
        north = (PICKUP.latitude + 0.0001, PICKUP.longitude)

        body = report(PICKUP, (0, 0), north)
        answer = ana.post("positions/", body)

        assert (answer.status_code, answer.json()) == (200, {"kept": 2, "dropped": {"outside_service_area": 1}})
        assert not by_the_view
        newest, before, _first = DriverPosition.objects.order_by("-recorded_at")
        assert (newest.point, before.point) == (north, PICKUP)
        assert (newest.accuracy_m, newest.recorded_by) == (6.5, "driver Ana")
        assert newest.told_at is not None
        assert newest.told_at.isoformat() == body["positions"][-1]["at"]
        assert timedelta(0) <= newest.recorded_at - newest.told_at < timedelta(seconds=2)
        assert (newest.recorded_at - before.recorded_at) == timedelta(seconds=2)
        assert LatestPosition.objects.get().recorded_at == newest.recorded_at
        assert DriverDevice.objects.get().dropped_positions == 1

    def test_are_compared_with_the_position_before(self, ana, by_the_view):
        far = (PICKUP.latitude + 1, PICKUP.longitude)

        assert ana.post("positions/", report(far)).json() == {"kept": 0, "dropped": {"too_fast": 1}}
        assert ana.post("positions/", report()).json() == {"kept": 0, "dropped": {}}
        assert (DriverPosition.objects.count(), by_the_view) == (1, [])

    def test_are_recognised_when_they_are_sent_again(self, ana, by_the_view):
        body = report(PICKUP, PICKUP)

        answers = [ana.post("positions/", body).json()["kept"] for _time in range(2)]

        assert (answers, DriverPosition.objects.count(), by_the_view) == ([2, 0], 3, [])

    @pytest.mark.parametrize(("seconds", "is_written"), [(59, False), (61, True)])
    def test_record_the_use_of_the_phone_once_a_minute(self, ana, seconds, is_written):
        before = timezone.now() - timedelta(seconds=seconds)
        DriverDevice.objects.update(last_used_at=before)

        ana.post("positions/", report(PICKUP))

        assert (DriverDevice.objects.get().last_used_at != before) is is_written

    def test_change_nothing_of_other_phones(self, ana):
        other = phone(name="Bia")
        DriverDevice.objects.update(last_used_at=None)

        ana.post("positions/", report((0, 0)))

        of_other = DriverDevice.objects.get(driver=other.driver)
        assert (of_other.dropped_positions, of_other.last_used_at) == (0, None)

    def test_have_the_headers_of_other_answers(self, ana):
        quick, other = ana.post("positions/", report(PICKUP)), ana.get("state/")

        constant = {"Cache-Control", "Content-Type", "X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy"}
        constant |= {"Cross-Origin-Opener-Policy"}
        assert {name: quick[name] for name in constant} == {name: other[name] for name in constant}
        assert "default-src 'none'" in quick["Content-Security-Policy"]
        assert quick["X-Request-Id"]


class TestUnusual:
    """The view receives them, with its refusals."""

    def test_are_forged(self, ana):
        ana.client.handler.enforce_csrf_checks = True

        forged = ana.post("positions/", report(PICKUP))
        token = ana.state()["csrf"]
        ours = ana.client.post(
            "/driver/positions/", report(PICKUP), content_type="application/json", headers={"x-csrftoken": token}
        )

        assert (forged.status_code, ours.status_code) == (403, 200)
        assert DriverPosition.objects.count() == 2

    def test_have_a_host_that_is_not_ours(self, ana):
        answer = ana.client.post(
            "/driver/positions/", report(PICKUP), content_type="application/json", headers={"host": "evil.example"}
        )

        assert (answer.status_code, DriverPosition.objects.count()) == (400, 1)

    @pytest.mark.parametrize(("language", "words"), [("en", "You are off duty"), ("pt-br", "fora de serviço")])
    def test_are_of_a_driver_off_duty(self, ana, by_the_view, language, words):
        drivers.set_duty([ana.driver], on_duty=False)

        answer = ana.client.post(
            "/driver/positions/",
            report(PICKUP),
            content_type="application/json",
            headers={"accept-language": language},
        )

        assert (answer.status_code, answer.json()["code"]) == (409, "not_on_duty")
        assert words in answer.json()["detail"]
        assert (DriverPosition.objects.count(), len(by_the_view)) == (1, 1)

    def test_are_of_a_driver_off_duty_who_holds_a_route(self, ana, by_the_view):
        """Nothing unusual."""
        DeliveryFactory.create(accepted=True, driver=ana.driver)
        drivers.set_duty([ana.driver], on_duty=False)

        assert ana.post("positions/", report(PICKUP)).json()["kept"] == 1
        assert not by_the_view

    @pytest.mark.parametrize("change", ["another phone", "revoked", "expired", "driver has left"])
    def test_are_of_a_phone_that_may_not_send(self, ana, change):
        match change:
            case "another phone":
                phone_of_hers = type(ana)(ana.driver)
                phone_of_hers.post("duty/", {"onDuty": True})
            case "revoked":
                DriverDevice.objects.update(revoked_at=timezone.now(), revoked_by=BY)
            case "expired":
                DriverDevice.objects.update(expires_at=timezone.now())
            case "driver has left":
                type(ana.driver).objects.update(active=False, on_duty=False)

        answer = ana.post("positions/", report(PICKUP))

        assert answer.status_code == (409 if change == "another phone" else 401)
        assert DriverPosition.objects.count() == 1

    @pytest.mark.parametrize("body", ["", "{", "[]", '{"positions": 5}', '{"positions": [' + "{}," * 200 + "{}]}"])
    def test_cannot_be_read(self, ana, body):
        answer = ana.client.post("/driver/positions/", body, content_type="application/json")

        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_report")

    def test_are_too_large(self, ana):
        answer = ana.client.post("/driver/positions/", " " * 200_000, content_type="application/json")

        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")

    def test_follow_positions_that_are_ahead_of_now(self, ana, by_the_view):
        ahead = timezone.now() + timedelta(hours=1)
        DriverPosition.objects.update(recorded_at=ahead)
        LatestPosition.objects.update(recorded_at=ahead)

        assert ana.post("positions/", report(PICKUP)).json()["kept"] == 1
        assert len(by_the_view) == 1

    def test_are_the_first_of_a_driver(self, ana, by_the_view):
        DriverPosition.objects.all().delete()
        LatestPosition.objects.all().delete()

        assert ana.post("positions/", report(PICKUP)).json()["kept"] == 1
        assert len(by_the_view) == 1

    def test_always_come_after_others_of_the_driver(self, ana, by_the_view, monkeypatch):
        """Which were recorded between the two statements."""
        find = positions._find

        def find_the_one_before(*arguments):
            found = find(*arguments)
            return found and found._replace(latest=found.latest - timedelta(microseconds=1))

        monkeypatch.setattr(positions, "_find", find_the_one_before)

        assert ana.post("positions/", report(PICKUP, (0, 0))).json()["kept"] == 1
        assert (DriverPosition.objects.count(), len(by_the_view)) == (2, 1)
        assert DriverDevice.objects.get().dropped_positions == 1


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_the_same_ones_are_recorded_once(self, ana, by_the_view):
        """The phone has sent them again before the first request had committed."""
        body = report(PICKUP, PICKUP)

        def send():
            return ana.post("positions/", body).json()

        assert overlap(send, send) == [
            {"kept": 2, "dropped": {}},
            {"kept": 0, "dropped": {"out_of_order": 2}},
        ]
        assert DriverPosition.objects.count() == 3
        assert DriverDevice.objects.get().dropped_positions == 2
        assert not by_the_view

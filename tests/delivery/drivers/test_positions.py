"""Positions of several phones that are received together, and those that the view receives instead."""

import json
from datetime import timedelta
from io import BytesIO

import pytest
from django.conf import settings
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.gathered_positions import GatheredPositions
from delivery.actions import deliveries, drivers
from delivery.models import Delivery, Driver, DriverDevice, DriverPosition, LatestPosition
from delivery.receivers import actions as receivers
from tests.cases import in_turn
from tests.delivery.drivers.phones import Phone, move, now, phone
from tests.factories import BY, PICKUP, DeliveryFactory
from tests.overlapping import overlap

_CSRF = "x" * 32


def report(*points, ago=2.0):
    """The body of a request with these positions, the last one found so many seconds ago."""
    at = timezone.now()
    moments = [at - timedelta(seconds=ago + number) for number in reversed(range(len(points)))]
    found = [
        {"latitude": latitude, "longitude": longitude, "accuracy": 6.5, "at": moment.isoformat()}
        for (latitude, longitude), moment in zip(points, moments, strict=True)
    ]
    return {"sentAt": at.isoformat(), "positions": found}


def environ(sender, body, *, csrf=_CSRF, **headers):
    """Of a request as the page sends it."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    session = sender.client.cookies[settings.DRIVER_COOKIE_NAME].value
    cookies = f"{settings.DRIVER_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={_CSRF}"
    headers = {"cookie": cookies, "x-csrftoken": csrf, **headers}
    made = RequestFactory().post("/driver/positions/", content, content_type="application/json", headers=headers)
    return {**made.environ, "wsgi.input": BytesIO(content), "CONTENT_LENGTH": str(len(content))}


def together(*environs):
    """What the requests are answered together, but for how often; None for one that the view is to answer."""
    answers = GatheredPositions().together(environs)
    assert {answer.status for answer in answers if answer} <= {200}
    found = [answer and json.loads(answer.body) for answer in answers]
    return [each and {name: each[name] for name in ("kept", "dropped")} for each in found]


def send(sender, body):
    """The answer to one request."""
    (answer,) = together(environ(sender, body))
    return answer


def at_pickup(**driver):
    """The phone of a driver on duty who was at PICKUP a minute ago."""
    found = phone(**driver)
    long_ago = timezone.now() - timedelta(minutes=1)
    for model in (DriverPosition, LatestPosition):
        model.objects.filter(driver=found.driver).update(recorded_at=long_ago)
    return found


@pytest.fixture
def ana(db):
    return at_pickup(name="Ana")


class TestUsual:
    def test_of_several_phones_are_recorded_by_two_statements(self, ana):
        quotes, bia = at_pickup(name='Zé "\\", Jr.'), at_pickup(name="Bia")
        DriverDevice.objects.update(last_used_at=timezone.now())
        north = (PICKUP.latitude + 0.0001, PICKUP.longitude)
        body = report(PICKUP, (0, 0), north)
        requests = [environ(ana, body), environ(quotes, report(PICKUP)), environ(bia, report((0, 0)))]

        with CaptureQueriesContext(connection) as queries:
            answers = together(*requests)

        assert answers == [
            {"kept": 2, "dropped": {"outside_service_area": 1}},
            {"kept": 1, "dropped": {}},
            {"kept": 0, "dropped": {"outside_service_area": 1}},
        ]
        assert len(queries) == 2, queries.captured_queries
        newest, before, _first = ana.driver.positions.order_by("-recorded_at")
        assert (newest.point, before.point) == (north, PICKUP)
        assert (newest.accuracy_m, newest.recorded_by) == (6.5, "driver Ana")
        assert newest.told_at is not None
        assert newest.told_at.isoformat() == body["positions"][-1]["at"]
        assert timedelta(0) <= newest.recorded_at - newest.told_at < timedelta(seconds=2)
        assert newest.recorded_at - before.recorded_at == timedelta(seconds=2)
        assert LatestPosition.objects.get(driver=ana.driver).recorded_at == newest.recorded_at
        assert quotes.driver.positions.latest("recorded_at").recorded_by == 'driver Zé "\\", Jr.'
        dropped = DriverDevice.objects.order_by("created_at").values_list("dropped_positions", flat=True)
        assert list(dropped) == [1, 0, 1]
        assert bia.driver.positions.count() == 1

    def test_are_compared_with_the_position_before(self, ana):
        far = (PICKUP.latitude + 1, PICKUP.longitude)

        assert send(ana, report(far)) == {"kept": 0, "dropped": {"too_fast": 1}}
        assert send(ana, report()) == {"kept": 0, "dropped": {}}
        assert DriverPosition.objects.count() == 1

    def test_are_recognised_when_they_are_sent_again(self, ana):
        body = report(PICKUP, PICKUP)

        assert [send(ana, body)["kept"] for _time in range(2)] == [2, 0]
        assert DriverPosition.objects.count() == 3

    def test_are_answered_with_the_version_of_the_route_that_the_state_has(self, ana):
        def told():
            (answer,) = GatheredPositions().together([environ(ana, report())])
            assert answer is not None
            return json.loads(answer.body)["routeVersion"]

        assert told() is None
        route = DeliveryFactory.create(accepted=True, driver=ana.driver)
        accepted = told()
        assert accepted == ana.state()["route"]["version"]
        ana.post("moves/", {"sentAt": now(), "moves": [move(route)]})
        assert accepted != told() == ana.state()["route"]["version"]
        before = told()
        stop = route.stops.select_related("delivery").first()
        receivers.note(stop=stop, receives="Bia", hint="", at=timezone.now())
        assert before != told() == ana.state()["route"]["version"]
        deliveries.cancel(delivery=Delivery.objects.get(pk=route.pk), reason="", by=BY, at=timezone.now())
        assert told() == ana.state()["route"]["version"]  # the goods are to be brought back

    @pytest.mark.parametrize(("seconds", "is_written"), [(59, False), (61, True)])
    def test_record_the_use_of_the_phone_once_a_minute(self, ana, seconds, is_written):
        phone(name="Bia")
        before = timezone.now() - timedelta(seconds=seconds)
        DriverDevice.objects.update(last_used_at=before)

        send(ana, report(PICKUP))

        assert (DriverDevice.objects.get(driver=ana.driver).last_used_at != before) is is_written
        assert DriverDevice.objects.exclude(driver=ana.driver).get().last_used_at == before

    def test_are_of_a_driver_off_duty_who_holds_a_route(self, ana):
        DeliveryFactory.create(accepted=True, driver=ana.driver)
        drivers.set_duty([ana.driver], on_duty=False)

        assert send(ana, report(PICKUP)) == {"kept": 1, "dropped": {}}

    def test_have_the_headers_of_other_answers(self, ana):
        (answer,) = GatheredPositions().together([environ(ana, report(PICKUP))])

        assert answer is not None
        headers, other = dict(answer.headers), ana.get("state/")
        same = {"cache-control", "content-type", "x-frame-options", "x-content-type-options", "referrer-policy"}
        same |= {"cross-origin-opener-policy"}
        assert {name: headers[name] for name in same} == {name: other[name] for name in same}
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-request-id"]


class TestUnusual:
    """The view receives them, with its refusals."""

    @in_turn(
        "headers",
        [
            {"csrf": "y" * 32},
            {"origin": "https://evil.example"},
            {"host": "evil.example"},
            {"cookie": "driver=x"},
            {"cookie": f"driver={'x' * 9000}"},
        ],
    )
    def test_are_not_allowed(self, ana, headers):
        body = report(PICKUP)

        assert together(environ(ana, body, **headers), environ(ana, body)) == [None, {"kept": 1, "dropped": {}}]

    @in_turn(
        ("change", "status", "code"),
        [
            ("off duty", 409, "not_on_duty"),
            ("another phone", 409, "other_phone_sends"),
            ("revoked", 401, "logged_out"),
            ("expired", 401, "logged_out"),
            ("driver has left", 401, "logged_out"),
        ],
    )
    def test_are_of_a_phone_that_may_not_send(self, ana, change, status, code):
        match change:
            case "off duty":
                drivers.set_duty([ana.driver], on_duty=False)
            case "another phone":
                Phone(ana.driver).post("duty/", {"onDuty": True})
            case "revoked":
                DriverDevice.objects.update(revoked_at=timezone.now(), revoked_by=BY)
            case "expired":
                DriverDevice.objects.update(expires_at=timezone.now())
            case "driver has left":
                Driver.objects.update(active=False, on_duty=False)

        assert send(ana, report(PICKUP)) is None
        answer = ana.post("positions/", report(PICKUP))
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert DriverPosition.objects.count() == 1

    @in_turn("body", ["", "{", "[]", '{"positions": 5}', '{"positions": [' + "{}," * 100 + "{}]}"])
    def test_cannot_be_read(self, ana, body):
        other = environ(at_pickup(name="Bia"), report(PICKUP))

        assert together(environ(ana, body.encode()), other) == [None, {"kept": 1, "dropped": {}}]
        answer = ana.client.post("/driver/positions/", body, content_type="application/json")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_report")

    def test_follow_positions_that_are_ahead_of_now(self, ana):
        ahead = timezone.now() + timedelta(hours=1)
        DriverPosition.objects.update(recorded_at=ahead)
        LatestPosition.objects.update(recorded_at=ahead)

        assert send(ana, report(PICKUP)) is None
        assert ana.post("positions/", report(PICKUP)).json()["kept"] == 1

    def test_are_the_first_of_a_driver(self, ana):
        DriverPosition.objects.all().delete()
        LatestPosition.objects.all().delete()

        assert send(ana, report(PICKUP)) is None

    def test_are_the_second_ones_of_a_phone(self, ana):
        first, second = report(PICKUP, ago=5), report(PICKUP, PICKUP)

        assert together(environ(ana, first), environ(ana, second)) == [{"kept": 1, "dropped": {}}, None]
        assert DriverPosition.objects.count() == 2

    @pytest.mark.parametrize(
        ("changes", "is_taken"),
        [
            ({}, True),
            ({"PATH_INFO": "/driver/moves/"}, False),
            ({"REQUEST_METHOD": "GET"}, False),
            ({"CONTENT_LENGTH": "131073"}, False),
            ({"rota.unread_body": "late"}, False),
        ],
    )
    def test_are_other_requests(self, changes, is_taken):
        usual = {"PATH_INFO": "/driver/positions/", "REQUEST_METHOD": "POST", "CONTENT_LENGTH": "131072"}

        assert GatheredPositions().takes(usual | changes) is is_taken


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_the_same_ones_are_recorded_once(self, ana):
        """The phone has sent them to another process too, before the first one has committed."""
        bia = at_pickup(name="Bia")
        body = report(PICKUP, PICKUP, (0, 0))
        of_ana, both = [environ(ana, body)], [environ(ana, body), environ(bia, body)]
        stored = {"kept": 2, "dropped": {"outside_service_area": 1}}

        assert overlap(lambda: together(*of_ana), lambda: together(*both)) == [[stored], [None, stored]]

        assert ana.driver.positions.count() == bia.driver.positions.count() == 3
        assert set(DriverDevice.objects.values_list("dropped_positions", flat=True)) == {1}
        again = {"kept": 0, "dropped": {"out_of_order": 2, "outside_service_area": 1}}
        assert send(ana, body) == again

"""The demo's day goes on: what moves by itself, how far, and what is left alone."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from common.accounts import Environment
from delivery import looks
from delivery.accounts import integrators
from delivery.actions import deliveries, moves
from delivery.alerts.models import AlertChoice, EndpointAlerts
from delivery.drivers import devices
from delivery.lifecycle import HELD, IN_PROGRESS, RouteStatus
from delivery.models import (
    Delivery,
    Driver,
    DriverPosition,
    LatestPosition,
    PickupPoint,
    Token,
    Transition,
    WebhookEndpoint,
)
from dev.demo import data, day, life
from dev.demo.life import RESTS_AFTER, UNWATCHED, WATCHED, Life
from integration.models import Seller
from tests.factories import BY, DeliveryFactory, DriverFactory

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def demo():
    """The demo without its day. What goes on is ahead of the clock."""
    data.seed()
    return Token.objects.get(environment=Environment.LIVE)


@pytest.fixture
def began(demo):
    """When one of the demo's routes was accepted and another one was collected, by its first two motorcycles."""
    at = timezone.now()
    team = Driver.objects.filter(vehicle_type="MOTORCYCLE").order_by("pk")
    for number, names in enumerate([("accept",), ("accept", "collect")]):
        route = day.request(demo, "MOTORCYCLE", number=number, count=1, at=at)
        for name in names:
            moves.perform(name, delivery=route, fields={"driver": str(team[number].pk)}, by=day.BY, at=at)
    return at


@pytest.fixture
def watched(monkeypatch):
    """Whether a page is open that shows the drivers: an element of this list."""
    answers = [False]
    monkeypatch.setattr(looks, "watched", lambda drivers: set(drivers) if answers[0] else set())
    return answers


def live_for(a_life, *, since, minutes):
    """A step every two of these minutes."""
    for minute in range(0, minutes + 1, 2):
        a_life.step(at=since + minute * MINUTE)


def late(at):
    return Delivery.objects.late(Environment.LIVE, at=at).count()


class TestLife:
    def test_keeps_the_board_busy_and_hardly_late(self, demo, watched):
        began = timezone.now()
        day.fill(token=demo, seller=Seller.objects.get(), company=data.COMPANY, at=began)
        ended_before = set(Delivery.objects.exclude(closed_at=None).values_list("pk", flat=True))
        end = began + 40 * MINUTE
        assert late(end) >= 10  # without it

        live_for(Life(at=began), since=began, minutes=40)

        found = Delivery.objects.exclude(pk__in=ended_before)
        assert found.filter(route_status=RouteStatus.FINISHED).count() >= 8
        held = found.filter(route_status__in=HELD).count()
        assert 2 <= held <= life._MOST_HELD
        assert 4 <= found.filter(route_status__in=IN_PROGRESS).count() <= life._MOST_OPEN
        assert late(end) <= 5
        assert LatestPosition.objects.filter(recorded_at__gte=end - 2 * MINUTE).count() == 12
        assert not Transition.objects.filter(at__gt=end).exists()

    def test_moves_a_driver_on_the_way_to_the_next_place(self, began, watched):
        own: Any = Delivery.objects.filter(route_status=RouteStatus.COLLECTED).select_related("driver__latest")[0]
        before, target = own.driver.latest.point, own.next_place.point
        a_life = Life(at=began)

        for seconds in (0, 30):
            a_life.step(at=began + timedelta(seconds=seconds))

        now = LatestPosition.objects.get(driver=own.driver).point
        gone = [(new - old) / (end - old) for new, old, end in zip(now, before, target, strict=True)]
        assert 0 < gone[0] <= 1
        assert gone[0] == pytest.approx(gone[1], rel=0.01)

    def test_makes_up_for_a_pause_at_the_moments_that_it_has_missed(self, began, watched):
        a_life, end = Life(at=began), began + 50 * MINUTE
        held = set(Delivery.objects.filter(route_status__in=HELD).values_list("pk", flat=True))
        a_life.step(at=began)

        a_life.step(at=end)

        closed = Delivery.objects.filter(pk__in=held).exclude(closed_at=None)
        assert {each.pk for each in closed} == held
        assert max(each.closed_at for each in closed if each.closed_at) < began + 30 * MINUTE

    def test_goes_on_from_what_a_person_has_done(self, began, watched):
        own: Any = Delivery.objects.filter(route_status=RouteStatus.ACCEPTED)[0]
        a_life = Life(at=began)
        a_life.step(at=began)
        deliveries.collect(delivery=own, by=BY, at=began + MINUTE)

        live_for(a_life, since=began + MINUTE, minutes=16)

        assert list(own.transitions.values_list("trigger", flat=True)).count("collect") == 1
        closed_at = Delivery.objects.get(pk=own.pk).closed_at
        assert closed_at is not None
        assert closed_at > began + 3 * MINUTE  # after the whole way from A

    def test_leaves_alone_what_is_not_the_demos_and_drivers_with_a_phone(self, began, watched):
        """Its account's own requests, other drivers, its driver with another route, and who is on a phone."""
        token = Token.objects.get(environment=Environment.LIVE)
        requested = DeliveryFactory.create(token=token, at=began)
        of_another = DeliveryFactory.create(accepted=True, driver=DriverFactory.create(name="Ana Souza"), at=began)
        ours = Driver.objects.filter(vehicle_type="MOTORCYCLE", phone__startswith=data.PHONES).order_by("pk")[2]
        lent = DeliveryFactory.create(accepted=True, driver=ours, at=began)
        on_phone: Any = Delivery.objects.filter(
            route_status=RouteStatus.ACCEPTED, driver__phone__startswith=data.PHONES
        )[0]
        link = devices.issue_link(driver=on_phone.driver, by=BY, at=timezone.now())
        devices.log_in(token=link, phone="Chrome", language="en", at=timezone.now())
        alone = (requested, of_another, lent, on_phone)
        before = [(each.last_sequence, DriverPosition.objects.filter(driver=each.driver).count()) for each in alone]

        live_for(Life(at=began), since=began, minutes=16)

        now = Delivery.objects.in_bulk([each.pk for each in alone])
        assert [
            (now[each.pk].last_sequence, DriverPosition.objects.filter(driver=each.driver).count()) for each in alone
        ] == before

    def test_rests_when_nobody_has_looked_for_hours_and_goes_on_when_somebody_does(self, began, watched):
        a_life, later = Life(at=began - RESTS_AFTER), began + MINUTE
        rows = DriverPosition.objects.count()

        assert a_life.step(at=later) == UNWATCHED
        assert DriverPosition.objects.count() == rows
        watched[0] = True
        assert a_life.step(at=later) == WATCHED
        assert DriverPosition.objects.count() > rows

    @pytest.mark.parametrize("rests_by", ["webhook", "chat", "email", "suspension", "another's name"])
    def test_rests_while_its_account_tells_somebody_or_is_not_the_demos(self, demo, began, watched, settings, rests_by):
        """An account of the same name that the demo has not made is left alone like a suspended one."""
        watched[0], rows, shop = True, DriverPosition.objects.count(), demo.integrator
        endpoint = shop.endpoints.first_ones().get(environment=Environment.LIVE)
        if rests_by == "webhook":
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(url="https://example.com/hooks")
        elif rests_by == "chat":
            EndpointAlerts.objects.update_or_create(endpoint=endpoint, defaults={"url_ciphertext": "x"})
        elif rests_by == "email":
            settings.EMAIL_URL = "smtp://mail.example.com"
            shop.memberships.create(user=User.objects.create_user("ana", "ana@example.com"))
        elif rests_by == "suspension":
            integrators.suspend(integrator=shop, reason="Fraude", by=BY, at=began)
        else:
            Token.objects.filter(integrator=shop).update(created_by=BY)

        assert Life(at=began).step(at=began + MINUTE) == UNWATCHED
        assert DriverPosition.objects.count() == rows

    def test_goes_on_beside_a_member_who_has_declined_alerts_of_deliveries(self, demo, began, watched, settings):
        watched[0], settings.EMAIL_URL = True, "smtp://mail.example.com"
        membership = demo.integrator.memberships.create(user=User.objects.create_user("ana", "ana@example.com"))
        choice = AlertChoice.default(membership, Environment.LIVE)
        choice.trouble = choice.digest = False
        choice.save()

        assert Life(at=began).step(at=began + MINUTE) == WATCHED

    def test_goes_on_when_its_request_is_refused(self, began, watched):
        watched[0], rows, requested = True, DriverPosition.objects.count(), Delivery.objects.count()
        PickupPoint.objects.update(active=False)

        assert Life(at=began).step(at=began + 2 * MINUTE) == WATCHED
        assert DriverPosition.objects.count() > rows
        assert Delivery.objects.count() == requested

    def test_of_a_database_without_the_demo_is_nothing(self, db):
        assert Life(at=timezone.now()).step(at=timezone.now()) == UNWATCHED
        assert not Driver.objects.exists()

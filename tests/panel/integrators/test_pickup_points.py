"""Pickup points that members see to, and their approval by staff."""

import re

import pytest

from common.accounts import Role
from delivery.accounts.pickup_points import MOST_POINTS
from delivery.geo.distance import Point
from delivery.models import AuditEntry, PickupPoint
from tests.factories import DROPOFFS, PICKUP, PickupPointFactory

NEW = {"name": "Loja 2", "position": "{}, {}".format(*DROPOFFS[0])}


@pytest.fixture
def point(shop):
    return shop.integrator.pickup_points.get()


@pytest.fixture
def approved(shop):
    """The account, whose pickup points are approved by staff."""
    shop.integrator.approve_pickup_points = True
    shop.integrator.save()
    return shop.integrator


def covers(account, place=DROPOFFS[0]):
    return PickupPoint.covers(place, integrator=account)


class TestPickupPoint:
    def test_is_added_by_a_member(self, member, url, shop):
        member.post(url("pickup_points"), NEW)

        assert covers(shop.integrator)
        assert AuditEntry.objects.filter(action="point_added", by="member member", subject="Loja 2").exists()

    def test_is_added_on_a_map_that_shows_one_that_there_is(self, member, url, point):
        first, own = (
            member.get(url(*page)).content.decode() for page in (["pickup_points"], ["pickup_point", point.pk])
        )

        assert re.findall('data-near="(.*?)"', first) == [f"{point.latitude:.6f}, {point.longitude:.6f}"]
        assert "data-near" not in own

    def test_is_renamed_without_moving(self, member, url, point):
        place = point.point

        member.post(url("pickup_point", point.pk), {"name": "Centro", "position": f"{place[0]:.6f}, {place[1]:.6f}"})

        point.refresh_from_db()
        assert (point.name, point.point) == ("Centro", place)

    def test_is_moved(self, member, url, point, shop):
        member.post(url("pickup_point", point.pk), NEW)

        assert covers(shop.integrator)

    def test_is_deactivated_and_activated(self, member, url, point, shop):
        member.post(url("pickup_point_change", point.pk, "deactivate"))
        assert not covers(shop.integrator, point.point)

        member.post(url("pickup_point_change", point.pk, "activate"))
        assert covers(shop.integrator, point.point)

    @pytest.mark.parametrize("changes", [{"name": ""}, {"position": ""}, {"position": "48.85, 2.35"}])
    def test_is_refused_without_name_or_place(self, member, url, shop, changes):
        answer = member.post(url("pickup_points"), NEW | changes)

        assert answer.status_code == 422
        assert shop.integrator.pickup_points.count() == 1

    def test_is_one_of_so_many(self, member, url, shop):
        PickupPointFactory.create_batch(MOST_POINTS - 1, integrator=shop.integrator)

        answer = member.post(url("pickup_points"), NEW)

        assert answer.status_code == 422
        assert "at most 200 pickup points" in answer.content.decode()

    def test_of_another_account_is_not_found(self, member, url):
        foreign = PickupPointFactory.create()

        assert member.post(url("pickup_point", foreign.pk), NEW).status_code == 404


class TestApproval:
    def test_is_waited_for_by_a_new_one(self, member, staff, url, approved):
        member.post(url("pickup_points"), NEW)
        added = approved.pickup_points.get(name="Loja 2")
        assert not covers(approved)

        seen = {"latitude": repr(added.latitude), "longitude": repr(added.longitude)}
        staff.post(url("pickup_point_change", added.pk, "approve"), seen)

        assert covers(approved)

    @pytest.mark.parametrize(
        "place",
        [
            Point(*DROPOFFS[0]),
            Point(PICKUP.latitude, DROPOFFS[0][1]),
            Point(DROPOFFS[0][0], PICKUP.longitude),
        ],
    )
    def test_is_waited_for_by_one_that_was_moved_or_activated(self, member, url, approved, point, place):
        member.post(url("pickup_point", point.pk), NEW | {"position": "{}, {}".format(*place)})
        point.refresh_from_db()
        assert (point.point, point.awaits_approval) == (place, True)
        assert not covers(approved, place)

        for change in ("deactivate", "activate"):
            member.post(url("pickup_point_change", point.pk, change))
        point.refresh_from_db()
        assert (point.active, point.awaits_approval) == (False, True)

    def test_is_of_the_place_that_was_seen(self, member, staff, url, approved):
        member.post(url("pickup_points"), NEW)
        added = approved.pickup_points.get(name="Loja 2")

        for seen in ({"latitude": "-23.5", "longitude": "-46.6"}, {}, {"latitude": "x", "longitude": "nan"}):
            answer = staff.post(url("pickup_point_change", added.pk, "approve"), seen, follow=True)

            assert "The pickup point has changed meanwhile." in answer.content.decode()
            assert not covers(approved)

    def test_is_given_by_staff_alone(self, member, url, approved, shop):
        shop.integrator.memberships.update(role=Role.OWNER)
        member.post(url("pickup_points"), NEW)
        added = approved.pickup_points.get(name="Loja 2")

        for change in ("approve", "remove"):
            assert member.post(url("pickup_point_change", added.pk, change)).status_code == 403
        assert not covers(approved)

    def test_is_not_needed_by_staff(self, staff, url, approved):
        staff.post(url("pickup_points"), NEW)
        assert covers(approved)
        added = approved.pickup_points.get(name="Loja 2")

        staff.post(url("pickup_point", added.pk), NEW | {"position": "{}, {}".format(*DROPOFFS[1])})
        assert covers(approved, DROPOFFS[1])
        for change in ("deactivate", "activate"):
            staff.post(url("pickup_point_change", added.pk, change))
        assert covers(approved, DROPOFFS[1])
        staff.post(url("pickup_point_change", added.pk, "remove"))
        assert not approved.pickup_points.filter(pk=added.pk).exists()

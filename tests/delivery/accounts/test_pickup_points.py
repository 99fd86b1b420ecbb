"""What becomes of a pickup point that somebody changes, and which place staff approve."""

import pytest
from django.utils import timezone

from delivery.accounts import pickup_points
from delivery.errors import PointChanged
from delivery.geo.distance import Point
from delivery.models import AuditEntry, PickupPoint
from tests.cases import in_turn
from tests.factories import BY, DROPOFFS, PICKUP, PickupPointFactory

pytestmark = pytest.mark.django_db
NOW = timezone.now()
IN_USE, OFF, WAITING = (
    {"active": active, "awaits_approval": waits} for active, waits in ((True, False), (False, False), (False, True))
)


def rename(**values):
    return pickup_points.change(name="Centro", point=PICKUP, **values)


def move(**values):
    return pickup_points.change(name="Paulista", point=DROPOFFS[0], **values)


def deactivate(*, by_staff, **values):
    return pickup_points.deactivate(**values)


def state(point):
    return PickupPoint.objects.values("active", "awaits_approval").get(pk=point.pk)


class TestChange:
    @in_turn(
        ("before", "change", "by_member", "by_staff"),
        [
            (IN_USE, rename, IN_USE, IN_USE),
            (IN_USE, move, WAITING, IN_USE),
            (IN_USE, deactivate, OFF, OFF),
            (OFF, rename, OFF, OFF),
            (OFF, move, OFF, OFF),
            (OFF, pickup_points.activate, WAITING, IN_USE),
            (WAITING, rename, WAITING, WAITING),
            (WAITING, deactivate, OFF, OFF),
            # Its place is approved, which nobody has looked at here.
            (WAITING, pickup_points.activate, WAITING, WAITING),
        ],
    )
    def test_lets_it_be_used_wait_or_stay_off(self, before, change, by_member, by_staff):
        expected = {True: by_staff, False: by_member}
        found = {}

        for is_staff in expected:
            point = PickupPointFactory.create(integrator__approve_pickup_points=True, **before)
            change(pickup=point, by_staff=is_staff, by=BY, at=NOW)
            found[is_staff] = state(point)

        assert found == expected

    @pytest.mark.parametrize(
        ("before", "change", "after"),
        [(IN_USE, move, IN_USE), (OFF, move, OFF), (OFF, pickup_points.activate, IN_USE)],
    )
    def test_needs_no_approval_of_other_accounts(self, before, change, after):
        point = PickupPointFactory.create(**before)

        change(pickup=point, by_staff=False, by=BY, at=NOW)

        assert state(point) == after

    @pytest.mark.parametrize("change", [rename, move, deactivate])
    def test_is_audited_with_who_made_it(self, change):
        point = PickupPointFactory.create(**IN_USE)

        change(pickup=point, by_staff=False, by="user ana", at=NOW)

        entry = AuditEntry.objects.latest("pk")
        name = "Centro" if change is rename else "Paulista"
        assert (entry.by, entry.subject, entry.integrator) == ("user ana", name, point.integrator)

    @pytest.mark.parametrize(
        ("axis", "by", "after"),
        [
            ("latitude", 4e-7, IN_USE),  # pages show a tenth of a metre
            ("longitude", 4e-7, IN_USE),
            ("latitude", 1e-5, WAITING),
            ("longitude", 1e-5, WAITING),
        ],
    )
    def test_has_it_approved_again_after_a_metre_and_not_after_what_pages_do_not_show(self, axis, by, after):
        at = Point(-23.55, -46.63)
        point = PickupPointFactory.create(
            integrator__approve_pickup_points=True, latitude=at.latitude, longitude=at.longitude
        )

        moved = at._replace(**{axis: getattr(at, axis) + by})
        pickup_points.change(pickup=point, name="Centro", point=moved, by_staff=False, by=BY, at=NOW)

        assert state(point) == after
        assert (PickupPoint.objects.get(pk=point.pk).point == moved) is (after == WAITING)


class TestApprove:
    @pytest.mark.parametrize(
        ("meanwhile", "left"),
        [
            ({"latitude": DROPOFFS[0].latitude}, WAITING),
            ({"longitude": DROPOFFS[0].longitude}, WAITING),
            (OFF, OFF),  # nobody asks for it any more
        ],
    )
    def test_refuses_what_is_not_as_it_was_seen(self, meanwhile, left):
        point = PickupPointFactory.create(**WAITING)
        PickupPoint.objects.filter(pk=point.pk).update(**meanwhile)

        with pytest.raises(PointChanged):
            pickup_points.approve(pickup=point, by=BY, at=NOW)

        assert state(point) == left
        assert not point.integrator.audit.exists()

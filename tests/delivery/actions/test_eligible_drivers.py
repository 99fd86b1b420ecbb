"""Which drivers a route is offered to, and in which order."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pyproj import Geod

from delivery.actions import deliveries, drivers
from delivery.errors import DriverNotEligible, NoEligibleDriver
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from delivery.models import Delivery, Driver, Environment, LatestPosition, Rules, dispatch_rules
from delivery.payload import Place
from tests.cases import in_turn
from tests.delivery.locking import without_waiting
from tests.dispatch_rules import known
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, validated_payload

NOW = timezone.now()
RADIUS_M = 15_000
# São Paulo, a point on either side of the 180th meridian, both poles, Greenwich on the equator.
PLACES = [PICKUP, Point(-17.0, 179.99), Point(-17.0, -179.99), Point(90.0, 0.0), Point(-89.95, 77.0), Point(0.0, 0.0)]


def delivery_at(point):
    return Delivery(
        latitude=point.latitude, longitude=point.longitude, vehicle_type="MOTORCYCLE", environment=Environment.LIVE
    )


def eligible_at(point):
    return drivers.eligible(delivery_at(point), at=NOW)


def shifted(point, *, metres, azimuth):
    longitude, latitude, _back = Geod(ellps="WGS84").fwd(point.longitude, point.latitude, azimuth, metres)
    return Point(latitude, longitude)


def position(driver, point, *, at=NOW):
    return drivers.set_position(driver=driver, point=point, by=BY, at=at)


@pytest.mark.django_db
class TestEligible:
    @in_turn("place", PLACES)
    def test_reaches_to_the_dispatch_radius_everywhere_on_earth(self, place):
        inside, outside = DriverFactory.create_batch(5), DriverFactory.create_batch(5)
        for within, beyond, azimuth in zip(inside, outside, (0, 45, 90, 180, 270), strict=True):
            position(within, shifted(place, metres=RADIUS_M - 0.001, azimuth=azimuth))
            position(beyond, shifted(place, metres=RADIUS_M + 0.001, azimuth=azimuth))

        found = list(eligible_at(place))

        assert set(found) == set(drivers.nearby(delivery_at(place))) == set(inside)
        assert [driver.distance_m for driver in found] == [pytest.approx(RADIUS_M - 0.001, abs=0.0005)] * 5

    def test_includes_a_driver_exactly_at_the_radius(self, monkeypatch):
        monkeypatch.setattr(dispatch_rules, "_CACHED", known(Rules(dispatch_radius_km=0)))
        position(DriverFactory.create(), PICKUP)

        assert eligible_at(PICKUP).get().distance_m == 0

    def test_lists_the_last_seen_nearest_first_and_those_never_seen_last_by_name(self):
        names = ("Ana", "Bia", "Caio", "Davi", "Beto", "Alba")
        far, near, close, gone, unknown, nowhere = (DriverFactory.create(name=name) for name in names)
        position(far, shifted(PICKUP, metres=9_000, azimuth=10))
        position(near, shifted(PICKUP, metres=8_999, azimuth=200))
        position(close, shifted(PICKUP, metres=100, azimuth=90), at=NOW - timedelta(hours=1))
        position(gone, shifted(PICKUP, metres=20_000, azimuth=90), at=NOW - timedelta(days=3))

        found = list(eligible_at(PICKUP))

        assert found == [close, near, far, gone, nowhere, unknown]
        distances = [pytest.approx(metres) for metres in (100, 8_999, 9_000, 20_000)]
        assert [driver.distance_m for driver in found] == [*distances, None, None]

    def test_is_computed_for_a_driver_at_the_antipode(self, rules):
        rules(dispatch_radius_km=20_040)
        position(DriverFactory.create(), Point(0.0, 180.0))

        assert eligible_at(Point(0.0, 0.0)).get().distance_m == pytest.approx(20_015_000, rel=0.001)

    @pytest.mark.parametrize(("age", "is_eligible"), [(120, False), (120.001, True)])
    def test_ignores_a_distant_position_older_than_the_limit(self, rules, age, is_eligible):
        rules(position_fresh_seconds=120)
        position(DriverFactory.create(), Point(0.0, 0.0), at=NOW - timedelta(seconds=age))

        assert eligible_at(PICKUP).exists() is is_eligible

    def test_uses_the_newest_position_whichever_arrives_first(self):
        left, came = DriverFactory.create_batch(2)
        position(left, Point(0.0, 0.0))
        position(left, PICKUP, at=NOW - timedelta(seconds=1))
        position(came, Point(0.0, 0.0), at=NOW - timedelta(seconds=1))
        position(came, PICKUP)

        assert list(eligible_at(PICKUP)) == [came]
        assert LatestPosition.objects.count() == 2

    def test_takes_the_later_of_two_positions_of_the_same_moment(self):
        driver = DriverFactory.create()
        position(driver, Point(0.0, 0.0))
        position(driver, PICKUP)

        assert eligible_at(PICKUP).get() == driver


@pytest.mark.django_db
class TestNearest:
    @pytest.fixture
    def delivery(self):
        """With a driver at each kilometre from A in turning directions, every other one seen an hour ago.

        One of them is beyond the dispatch radius, another one has no position.
        """
        for number in range(18):
            name = f"Ana {number}" if number % 3 else f"Bia {number}"
            there = shifted(PICKUP, metres=1_000 * number, azimuth=50 * number)
            DriverFactory.create(name=name, at_point=there, at_point__age=3_600 * (number % 2))
        DriverFactory.create(name="Ana without a position")
        return DeliveryFactory.create(stops=1)

    def test_returns_the_first_of_all_eligible_drivers(self, delivery):
        at = timezone.now()

        for search in ("", "ana"):
            expected = list(drivers.eligible(delivery, at=at).matching(search))
            for count in (1, 2, 4, 5, 9, 16, 17, 30):
                assert drivers.nearest(delivery, at=at, count=count, search=search) == expected[:count], count

    def test_are_in_the_order_of_the_last_known_distance(self, delivery):
        found = drivers.nearest(delivery, at=timezone.now(), count=30)

        numbers = [*range(16), 17]  # 16 is known to be beyond the radius now
        assert [driver.name.split()[1] for driver in found] == [*map(str, numbers), "without"]

    def test_is_one_seen_long_ago_among_others_seen_now(self):
        delivery = DeliveryFactory.create(stops=1)
        DriverFactory.create(name="now", at_point=shifted(PICKUP, metres=3_700, azimuth=0))
        DriverFactory.create(name="before", at_point=shifted(PICKUP, metres=100, azimuth=0), at_point__age=86_400)

        (found,) = drivers.nearest(delivery, at=timezone.now(), count=1)

        assert found.name == "before"

    def test_leaves_a_driver_beyond_the_circle_to_the_next_one(self):
        """In a corner of the box around the smallest circle is a driver who is farther than another outside the box."""
        delivery = DeliveryFactory.create(stops=1)
        DriverFactory.create(name="in the corner", at_point=shifted(PICKUP, metres=1_900, azimuth=45))
        DriverFactory.create(name="beside the box", at_point=shifted(PICKUP, metres=1_700, azimuth=0))

        (found,) = drivers.nearest(delivery, at=timezone.now(), count=1)

        assert found.name == "beside the box"

    def test_reads_larger_circles_only_where_the_smaller_ones_have_too_few(self, delivery, django_assert_num_queries):
        for count, queries in [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (16, 3), (17, 4)]:
            with django_assert_num_queries(queries):
                drivers.nearest(delivery, at=timezone.now(), count=count)


@pytest.mark.django_db
class TestAcceptance:
    def test_reads_no_more_for_more_drivers(self, django_assert_num_queries):
        for driver in DriverFactory.create_batch(5):
            position(driver, PICKUP, at=timezone.now())
        delivery = DeliveryFactory.create()

        with transaction.atomic(), django_assert_num_queries(2) as queries:
            drivers.claim_first_eligible(delivery, at=timezone.now())

        assert '"x" BETWEEN' in queries[0]["sql"]  # only drivers around A are read

    def test_skips_a_driver_whose_other_acceptance_was_committed_after_the_query(self):
        busy, free = DriverFactory.create(name="Ana"), DriverFactory.create(name="Bia")
        DeliveryFactory.create(accepted=True, driver=busy)
        read_before = Driver.objects.order_by("name")  # the eligible drivers before the acceptance of `busy`

        with transaction.atomic():
            assert drivers._lock_first(read_before) == free
            assert drivers._lock_first(read_before.filter(pk=busy.pk)) is None

    def test_by_a_dispatcher_may_be_of_a_driver_who_has_declined(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()
        drivers.decline(delivery=delivery, driver=driver, at=timezone.now())
        accept = partial(deliveries.accept, delivery=delivery, by=BY, at=timezone.now())

        with pytest.raises(NoEligibleDriver):
            accept(driver=None)
        assert accept(driver=driver).driver == driver


def at_once_by(function, **arguments):
    """A call in a transaction that fails at once when it would wait for a lock."""
    return lambda: without_waiting(lambda: function(**arguments, by=BY, at=timezone.now()))


@pytest.mark.django_db(transaction=True)
class TestRowLockOfADriver:
    @pytest.mark.parametrize("is_named", [True, False])
    def test_of_an_insert_of_a_position_does_not_hinder_an_acceptance(self, at_once, is_named):
        driver, delivery = DriverFactory.create(), DeliveryFactory.create()
        named = driver if is_named else None

        with transaction.atomic(), connection.cursor() as cursor:
            position(driver, PICKUP, at=timezone.now())
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # locks the driver as the commit does
            (accepted,) = at_once(at_once_by(deliveries.accept, delivery=delivery, driver=named))

        assert accepted.driver == driver

    def test_of_an_acceptance_does_not_delay_a_position(self, at_once):
        driver = DriverFactory.create(at_point=PICKUP)

        with transaction.atomic():
            Driver.objects.select_for_update(no_key=True).get(pk=driver.pk)
            (recorded,) = at_once(at_once_by(drivers.set_position, driver=driver, point=PICKUP))

        assert driver.latest_position() == recorded


@pytest.mark.django_db(transaction=True)
class TestRowLockOfADelivery:
    def test_does_not_wait_for_rows_that_refer_to_the_delivery(self, at_once):
        delivery = DeliveryFactory.create()

        with transaction.atomic():
            Delivery.objects.raw("SELECT id FROM delivery_delivery WHERE id = %s FOR KEY SHARE", [delivery.pk])[0]
            (cancelled,) = at_once(at_once_by(deliveries.cancel, delivery=delivery, reason=""))

        assert cancelled.route_status == "CANCELLED"


@pytest.mark.django_db
@pytest.mark.parametrize("tiny", [4.966e-260, -1e-160, 5e-324])
def test_a_position_with_a_coordinate_next_to_zero_is_recorded(tiny):
    """PostgreSQL refuses products that are too small to be represented."""
    recorded = position(DriverFactory.create(), Point(tiny, tiny))

    assert (recorded.latitude, recorded.longitude) == (0, 0)


class TestNearestOfEach:
    def test_has_the_first_of_the_eligible_ones_who_have_not_declined(self, db):
        delivery = DeliveryFactory.create()
        for number, vehicle in enumerate(("MOTORCYCLE", "CAR", "MOTORCYCLE")):
            point = Point(PICKUP.latitude + number / 100, PICKUP.longitude)
            DriverFactory.create(name=f"Driver {number}", vehicle_type=vehicle, at_point=point)
        far = Point(PICKUP.latitude + 1, PICKUP.longitude)
        DriverFactory.create(name="Far away", at_point=far)
        DriverFactory.create(name="Far away long ago", at_point=far, at_point__age=600)
        DriverFactory.create(name="Anywhere")
        DriverFactory.create(name="Off duty", on_duty=False, at_point=PICKUP)
        DriverFactory.create(name="Busy", at_point=PICKUP)
        DeliveryFactory.create(accepted=True, driver=Driver.objects.get(name="Busy"))
        drivers.decline(driver=Driver.objects.get(name="Driver 0"), delivery=delivery, at=timezone.now())

        ((_delivery, found),) = drivers.nearest_of_each([delivery], at=timezone.now())

        expected = drivers.eligible(delivery, at=timezone.now()).not_declining(delivery.pk)[:3]
        assert [each.driver for each in found] == list(expected)
        assert [each.driver.name for each in found] == ["Driver 2", "Far away long ago", "Anywhere"]

    def test_gives_each_delivery_another_first_driver(self, db):
        token = TokenFactory.create()
        deliveries = [DeliveryFactory.create(token=token) for _ in range(3)]
        places = [shifted(PICKUP, metres=metres, azimuth=90) for metres in (10, 900, 1800)]
        near, far, farther = (DriverFactory.create(at_point=place) for place in places)
        drivers.decline(driver=near, delivery=deliveries[0], at=timezone.now())

        found = drivers.nearest_of_each(deliveries, at=timezone.now())

        chosen = [[each.driver for each in candidates] for _delivery, candidates in found]
        assert chosen == [[far, farther], [near, farther], [farther]]

    def test_reads_those_of_many_who_were_seen_last(self, db, monkeypatch):
        monkeypatch.setattr(drivers, "_MOST_FREE", 2)
        delivery = DeliveryFactory.create()
        for name, age in (("before", 7200), ("last", 0), ("first", 3600)):
            DriverFactory.create(name=name, at_point=PICKUP, at_point__age=age)
        DriverFactory.create(name="never")

        ((_delivery, found),) = drivers.nearest_of_each([delivery], at=timezone.now())

        assert {each.driver.name for each in found} == {"last", "first"}


class TestOfAReverseRoute:
    """Distances are counted from B, where the driver goes first."""

    FAR = shifted(PICKUP, metres=2 * RADIUS_M, azimuth=90)

    @pytest.fixture
    def delivery(self, db):
        place = Place(point=self.FAR, address={})
        return DeliveryFactory.create(payload=validated_payload(mode=Mode.REVERSE, dropoffs=[place]))

    def test_are_those_near_b(self, delivery):
        at_a, at_b = (DriverFactory.create(at_point=point) for point in (PICKUP, self.FAR))
        now = timezone.now()

        assert list(drivers.eligible(delivery, at=now)) == drivers.nearest(delivery, at=now, count=2) == [at_b]
        ((_delivery, (candidate,)),) = drivers.nearest_of_each([delivery], at=now)
        assert candidate.driver == at_b
        assert candidate.metres == pytest.approx(0, abs=0.001)
        since = now - timedelta(minutes=5)
        offers = [Delivery.objects.offered_to(each, at=now, since=since, radius_m=RADIUS_M) for each in (at_a, at_b)]
        assert [list(found) for found in offers] == [[], [delivery]]

    def test_are_refused_by_the_distance_to_b(self, delivery):
        driver = DriverFactory.create(at_point=PICKUP)

        with pytest.raises(DriverNotEligible, match="farther than 15 km from B"):
            deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())
        with pytest.raises(NoEligibleDriver, match="within 15 km of B"):
            deliveries.accept(delivery=delivery, driver=None, by=BY, at=timezone.now())

        assert Delivery.objects.get().route_status == "AVAILABLE"

"""What drivers have done and earned."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from delivery.actions import deliveries
from driver_app import days
from tests.driver_app.phones import phone
from tests.factories import BY, DeliveryFactory, DriverFactory

SAO_PAULO = ZoneInfo("America/Sao_Paulo")
NOON = datetime(2026, 11, 22, 12, tzinfo=SAO_PAULO)


@pytest.fixture
def ana(db, settings):
    settings.DRIVER_SHARE_PERCENT = 70.0
    return DriverFactory.create(name="Ana")


def finished(driver, at):
    delivery = DeliveryFactory.create(stops=1, collected=True, driver=driver, at=at - timedelta(minutes=20))
    return deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=at)


def of(driver, at=NOON):
    return days.latest(driver, at=at)


class TestLatest:
    def test_sums_the_routes_of_a_day(self, ana):
        first, second = finished(ana, NOON), finished(ana, NOON)

        today, *before = of(ana)

        assert today.routes == 2
        assert today.distance_km == first.distance_km + second.distance_km
        assert today.earned == 2 * (first.shipping_value * Decimal("0.7")).quantize(Decimal("0.01"))
        assert [day.routes for day in before] == [0] * 6
        assert [day.earned for day in before] == [Decimal(0)] * 6

    def test_counts_a_route_on_the_day_of_its_end_in_the_services_time_zone(self, ana):
        finished(ana, datetime(2026, 11, 21, 23, 59, tzinfo=SAO_PAULO))
        finished(ana, datetime(2026, 11, 22, 0, 1, tzinfo=SAO_PAULO))

        today, yesterday, *_before = of(ana, at=datetime(2026, 11, 22, 23, 30, tzinfo=SAO_PAULO).astimezone(UTC))

        assert (today.day, yesterday.day) == (date(2026, 11, 22), date(2026, 11, 21))
        assert (today.routes, yesterday.routes) == (1, 1)

    def test_pays_the_share_of_the_fee_of_a_cancelled_delivery(self, ana):
        delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana, at=NOON)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOON)

        today = of(ana)[0]

        assert (today.routes, today.distance_km) == (0, 0)
        assert today.earned == (deliveries.fee_of_cancelling(delivery) * Decimal("0.7")).quantize(Decimal("0.01"))

    def test_hides_amounts_without_a_share(self, ana, settings):
        settings.DRIVER_SHARE_PERCENT = 0.0
        finished(ana, NOON)

        assert [day.earned for day in of(ana)] == [None] * 7

    def test_shows_no_other_drivers_routes(self, ana):
        finished(DriverFactory.create(), NOON)

        assert of(ana)[0].routes == 0


@pytest.mark.django_db
class TestPage:
    @pytest.mark.parametrize(("language", "text"), [("en", "Today"), ("pt-br", "Hoje")])
    def test_is_for_the_driver(self, language, text):
        ana = phone()

        page = ana.client.get("/driver/day/", headers={"accept-language": language}).content.decode()

        assert f"<h1>{text}</h1>" in page

    def test_needs_a_session(self, client):
        assert client.get("/driver/day/").headers["Location"] == "/driver/"

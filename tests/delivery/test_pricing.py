"""Prices, fees and shares against exact fractions."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delivery.errors import PriceUnavailable
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery
from delivery.pricing import Pay, Terms, Trip, fare, part
from tests.money import AMOUNTS, PERCENTS, half_up, percent_of

TERMS = Terms(
    base_fare=Decimal("10.00"),
    included_km=Decimal("2.00"),
    price_per_km=Decimal("2.00"),
    price_per_extra_dropoff=Decimal("5.00"),
    minimum_fare=Decimal("12.00"),
    return_share=Decimal("0.5"),
    maximum_km=Decimal("50.00"),
    maximum_kg=Decimal("30.00"),
)


def trip(outbound, back="0", dropoffs=1, kg="0"):
    return Trip(outbound_km=Decimal(outbound), return_km=Decimal(back), dropoffs=dropoffs, weight_kg=Decimal(kg))


FREE = replace(TERMS, base_fare=Decimal(0), minimum_fare=Decimal(0), price_per_km=Decimal("0.50"))
_REAIS, _KM = st.decimals(0, 1000, places=2), st.decimals(0, 500, places=2)
_TERMS = st.builds(
    Terms, base_fare=_REAIS, included_km=_KM, price_per_km=_REAIS, price_per_extra_dropoff=_REAIS, minimum_fare=_REAIS,
    return_share=st.decimals(0, 1, places=3), maximum_km=st.just(Decimal(1000)), maximum_kg=st.just(Decimal(30)),
)  # fmt: skip  # a table
_TRIPS = st.builds(trip, _KM, back=_KM, dropoffs=st.integers(1, 3))


class TestPrice:
    @given(terms=_TERMS, way=_TRIPS)
    @example(FREE, trip("2.01"))  # 0.005
    @example(replace(FREE, base_fare=Decimal(1), included_km=Decimal(0)), trip("0.25", back="0.50"))  # 1 + 2 x 0.125
    @example(replace(FREE, base_fare=Decimal(10)), trip("12.25"))  # 15.125
    def test_is_the_sum_of_its_parts_rounded_half_up(self, terms, way):
        found = fare(terms, way).value

        paid_km = max(Fraction(way.outbound_km) - Fraction(terms.included_km), Fraction(0))
        paid_km += Fraction(way.return_km) * Fraction(terms.return_share)
        parts = Fraction(terms.base_fare) + paid_km * Fraction(terms.price_per_km)
        parts += (way.dropoffs - 1) * Fraction(terms.price_per_extra_dropoff)
        assert found == half_up(max(parts, Fraction(terms.minimum_fare)))
        assert found.as_tuple().exponent == -2

    def test_serves_both_maximums(self):
        assert fare(TERMS, trip("50.00", kg="30")).value == Decimal("106.00")

    @pytest.mark.parametrize("asked", [trip("50.01"), trip("30", back="20.01"), trip("1", kg="30.001")])
    def test_refuses_what_the_tariff_does_not_serve(self, asked):
        with pytest.raises(PriceUnavailable, match="serves up to"):
            fare(TERMS, asked)


def delivery(value, status, accepted=Decimal(0), collected=Decimal(0)):
    return Delivery(
        shipping_value=value, route_status=status, cancel_percent_accepted=accepted, cancel_percent_collected=collected
    )


class TestFeeOfCancelling:
    @given(value=AMOUNTS, accepted=PERCENTS, collected=PERCENTS)
    @example(Decimal("10.25"), Decimal(50), Decimal(30))  # 5.125
    @example(Decimal("0.10"), Decimal(30), Decimal(5))  # 0.005
    def test_is_the_percentage_of_the_stage_rounded_half_up(self, value, accepted, collected):
        of_stages = [
            delivery(value, status, accepted, collected).fee_of_cancelling
            for status in (RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.COLLECTED)
        ]

        assert of_stages == [0, percent_of(value, accepted), percent_of(value, collected)]


class TestPart:
    @given(amount=AMOUNTS, price=AMOUNTS, percent=PERCENTS)
    @example(Decimal("10.25"), Decimal("1.00"), Decimal(50))  # 5.125
    @example(Decimal("0.05"), Decimal("0.10"), Decimal(10))  # 0.005
    def test_is_the_share_that_the_fee_is_of_the_price_rounded_half_up(self, amount, price, percent):
        fee = percent_of(price, percent)

        share = Fraction(fee) / Fraction(price) if price else Fraction(0)
        assert part(amount, fee=fee, price=price) == half_up(Fraction(amount) * share)


class TestPay:
    @given(value=AMOUNTS, percent=PERCENTS)
    @example(Decimal("10.25"), Decimal(50))  # 5.125
    @example(Decimal("5.00"), Decimal("70.1"))  # 3.505, and a little less as binary floats
    def test_is_a_percentage_rounded_half_up(self, value, percent):
        assert Pay(percent).amount(price=value, km=Decimal(7)) == percent_of(value, percent)

    def test_adds_what_is_paid_for_the_route_and_its_kilometres(self):
        pay = Pay(Decimal(10), Decimal(3), Decimal("1.25"))

        assert pay.amount(price=Decimal(20), km=Decimal("4.50")) == Decimal("10.63")

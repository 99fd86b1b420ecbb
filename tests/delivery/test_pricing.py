from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.errors import PriceUnavailable
from delivery.pricing import Terms, Trip, price

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


class TestPrice:
    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            (trip("1.00"), "12.00"),  # the minimum
            (trip("2.00"), "12.00"),
            (trip("5.00"), "16.00"),  # 10 + 3 x 2
            (trip("5.00", dropoffs=3), "26.00"),  # + 2 x 5
            (trip("5.00", back="4.00"), "20.00"),  # + 4 x 0.5 x 2
            (trip("1.00", back="4.00"), "14.00"),  # what is included covers the way out only
            (trip("50.00", kg="30"), "106.00"),  # both maxima are still served
        ],
    )
    def test_is_computed_from_the_tariff(self, asked, expected):
        assert price(TERMS, asked) == Decimal(expected)

    def test_rounds_half_a_cent_up(self):
        terms = replace(TERMS, price_per_km=Decimal("0.50"), minimum_fare=Decimal(0))

        assert price(terms, trip("2.01")) == Decimal("10.01")  # 10.005

    @pytest.mark.parametrize("asked", [trip("50.01"), trip("30", back="20.01"), trip("1", kg="30.001")])
    def test_refuses_what_the_tariff_does_not_serve(self, asked):
        with pytest.raises(PriceUnavailable, match="serves up to"):
            price(TERMS, asked)

    @given(near=st.decimals("0", "25", places=2), more=st.decimals("0", "25", places=2), dropoffs=st.integers(1, 3))
    def test_does_not_fall_with_the_distance_and_has_two_places(self, near, more, dropoffs):
        here = price(TERMS, trip(near, dropoffs=dropoffs))
        farther = price(TERMS, trip(near + more, dropoffs=dropoffs))

        assert TERMS.minimum_fare <= here <= farther
        assert here == here.quantize(Decimal("0.01"))

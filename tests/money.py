"""Models of the product's arithmetic with exact fractions, and values that are halves of a centavo."""

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from hypothesis import strategies as st

# In the formats of their columns and settings. Most of these shares of most of these amounts end in half a centavo.
AMOUNTS = st.sampled_from(["10.25", "0.50", "0.10", "1.15", "5.00", "2.50", "99999999.90"]).map(Decimal) | st.decimals(
    0, 99_999_999, places=2
)
PERCENTS = st.sampled_from(["50", "12.5", "70.1", "0.5", "33.33", "100"]).map(Decimal) | st.decimals(0, 100, places=2)


def half_up(amount: Fraction, *, places: int = 2) -> Decimal:
    """A number that is not negative, rounded half up."""
    return Decimal(floor(amount * 10**places + Fraction(1, 2))).scaleb(-places)


def up(amount: Fraction) -> int:
    return ceil(amount)


def percent_of(amount: Decimal, percent: Decimal) -> Decimal:
    """Percent of an amount, rounded half up to centavos."""
    return half_up(Fraction(amount) * Fraction(percent) / 100)

"""How figures of reports are written."""

from decimal import Decimal

import pytest

from common.pages.reports import in_tenths, minutes, share


@pytest.mark.parametrize(
    ("value", "as_share", "as_minutes", "in_file"),
    [
        (12.34, "12 %", "12.3", Decimal("12.3")),
        (0.0, "0 %", "0.0", Decimal("0.0")),
        (None, "\N{EN DASH}", "\N{EN DASH}", None),
    ],
)
def test_zero_is_a_figure_and_none_is_not(value, as_share, as_minutes, in_file):
    tenths, _written = in_tenths("", lambda row: row, minutes)

    assert (share(value), minutes(value), tenths.value(value)) == (as_share, as_minutes, in_file)

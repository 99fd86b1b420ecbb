"""The overview counts the deliveries of the current day in the service's time zone."""

from datetime import UTC, datetime

import pytest

from panel.views.overview import _midnight


@pytest.mark.parametrize(("hour", "minute", "day"), [(2, 59, 20), (3, 0, 21), (23, 59, 21)])
def test_the_day_begins_at_midnight_in_sao_paulo(hour, minute, day):
    """Which is 03:00 UTC."""
    assert _midnight(datetime(2026, 11, 21, hour, minute, tzinfo=UTC)) == datetime(2026, 11, day, 3, tzinfo=UTC)

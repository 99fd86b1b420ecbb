"""Moments in the answers of area B are in UTC."""

import pytest
from django.utils import timezone

from integration.bodies import utc
from tests.moments import NEW_YEAR


@pytest.mark.parametrize("zone", ["America/Sao_Paulo", "UTC", "Asia/Tokyo"])
def test_a_moment_is_written_in_utc(zone):
    with timezone.override(zone):
        assert utc(timezone.localtime(NEW_YEAR.before)) == "2027-01-01T02:30:00.000000Z"

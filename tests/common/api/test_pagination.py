"""Moments and dates in query parameters."""

from datetime import timedelta

from common.api.pagination import MomentField
from tests.moments import at_each_midnight


def read(text, *, is_end=False):
    return MomentField(is_end=is_end, error_messages={"invalid_moment": "invalid"}).to_python(text)


@at_each_midnight
class TestMomentField:
    def test_takes_a_date_for_a_day_of_the_services_time_zone(self, midnight):
        day = midnight.eve.isoformat()

        assert (read(day), read(day, is_end=True)) == (midnight.start - timedelta(days=1), midnight.start)

    def test_takes_a_moment_without_an_offset_for_one_of_the_services_time_zone(self, midnight):
        texts = [f"{midnight.eve}T23:30:00", f"{midnight.eve}T21:30:00-05:00", f"{midnight.day}T02:30:00Z"]

        assert [read(text) for text in texts] == [midnight.before] * 3

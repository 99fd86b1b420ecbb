"""What is told of arrival times, at moments of 2 March 2026, 9 o'clock in São Paulo."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery import arrival_times
from delivery.models import ArrivalEstimate
from tests.cases import in_turn

HEARD = datetime(2026, 3, 2, 12, 31, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


def told(after, *, position=None, **values):
    """Of an estimate of 09:31 for 09:52, at the latest 09:53, so long after."""
    estimate = ArrivalEstimate(
        arrives_at=HEARD + 21 * MINUTE,
        earliest=HEARD + 20 * MINUTE,
        latest=HEARD + 22 * MINUTE,
        **{"computed_at": HEARD + 10 * SECOND, "signal_at": HEARD, **values},
    )
    position_at = position if position is None else HEARD + position
    return arrival_times.told(estimate, position_at=position_at, at=HEARD + after)


@pytest.mark.django_db
class TestArrivalTime:
    @in_turn(
        ("after", "position", "is_late"),
        [
            (timedelta(0), None, False),
            (2 * MINUTE, None, False),
            (2 * MINUTE + SECOND, None, True),  # the position is old
            (12 * MINUTE, 10 * MINUTE, False),
            (12 * MINUTE + SECOND, 10 * MINUTE, True),
            (22 * MINUTE, 22 * MINUTE, False),
            (22 * MINUTE + SECOND, 22 * MINUTE, True),  # its time has passed
        ],
    )
    def test_is_late_past_its_time_or_with_an_old_position(self, after, position, is_late):
        assert told(after, position=position).is_late is is_late

    def test_is_late_as_positions_are_old_by_the_rules_of_dispatch(self, rules):
        rules(position_fresh_seconds=300)

        assert not told(5 * MINUTE).is_late
        assert told(5 * MINUTE + SECOND).is_late

    @pytest.mark.parametrize(
        ("after", "position", "text"),
        [
            (30 * MINUTE, None, "late, last signal 09:31"),
            (30 * MINUTE, -MINUTE, "late, last signal 09:31"),
            (30 * MINUTE, 4 * MINUTE, "late, last signal 09:35"),
            (timedelta(hours=20), None, "late, last signal 2 Mar 09:31"),
        ],
    )
    def test_says_when_the_last_signal_was(self, after, position, text):
        assert told(after, position=position).late_text == text

    def test_of_a_row_of_the_version_before_counts_from_when_it_was_computed(self):
        assert told(MINUTE, signal_at=None).last_signal_at == HEARD + 10 * SECOND

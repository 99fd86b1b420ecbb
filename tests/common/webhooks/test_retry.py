from datetime import UTC, datetime, timedelta

import pytest

from common.webhooks import retry
from tests.cases import in_turn

# The standard library's parser raises OverflowError on this one.
HOSTILE = "Mon, 01 Jan 2024 00:00:00 +99999999999999999999"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


# As the documentation for integrators states it, in seconds.
SCHEDULE = (5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 72000, 86400)


def pause(tries, retry_after=""):
    due_at = retry.next_attempt(tries=tries, at=NOW, retry_after=retry.parse_retry_after(retry_after, at=NOW))
    assert due_at is not None
    return due_at - NOW


class TestNextAttempt:
    @in_turn(("tries", "seconds"), list(enumerate(SCHEDULE, start=1)))
    def test_follows_the_schedule_within_a_fifth(self, tries, seconds):
        pauses = [pause(tries).total_seconds() for _try in range(200)]

        assert seconds * 0.8 <= min(pauses) < seconds < max(pauses) <= seconds * 1.2

    def test_ends_after_17_attempts_in_72_hours(self):
        assert retry.next_attempt(tries=17, at=NOW) is None
        assert timedelta(hours=71) < timedelta(seconds=sum(retry.SCHEDULE)) < timedelta(hours=73)

    @pytest.mark.parametrize(
        ("retry_after", "expected"),
        [
            ("600", timedelta(minutes=10)),
            ("Fri, 20 Nov 2026 12:10:00 GMT", timedelta(minutes=10)),
            ("Fri, 20 Nov 2026 12:10:00 -0000", timedelta(minutes=10)),  # without a time zone, so UTC
            ("Fri, 20 Nov 2026 09:10:00 -0300", timedelta(minutes=10)),
            ("3599", timedelta(seconds=3599)),
            ("3601", timedelta(hours=1)),
            ("99999999999999999999", timedelta(hours=1)),
            ("Fri, 20 Nov 2099 12:10:00 GMT", timedelta(hours=1)),
        ],
    )
    def test_honours_retry_after_up_to_an_hour(self, retry_after, expected):
        assert pause(1, retry_after) == expected

    @pytest.mark.parametrize("retry_after", ["", "soon", "-5", "１２", "Fri, 20 Nov 2020 12:10:00 GMT", "0", HOSTILE])
    def test_ignores_a_header_that_is_malformed_or_in_the_past(self, retry_after):
        assert pause(1, retry_after) <= timedelta(seconds=6)

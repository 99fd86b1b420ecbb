from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from common.webhooks import breaker
from common.webhooks.breaker import BreakerState

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOTHING = timedelta(0)


def after_failures(count, *, retry_after=NOTHING):
    """The state after `count` failures, each of a request that was sent when the pause before it had ended."""
    state, at = BreakerState(last_success_at=NOW - timedelta(hours=1)), NOW
    for _number in range(count):
        at = state.paused_until or at
        state = breaker.after_failure(state, sent_at=at, at=at, retry_after=retry_after)
    return state


class TestBreaker:
    def test_stays_closed_for_four_failures(self):
        state = after_failures(4)

        assert (state.is_open, state.paused_until, state.failing_since) == (False, None, NOW)

    def test_opens_at_the_fifth_and_pauses_for_5_to_60_seconds(self):
        ends = [after_failures(count).paused_until for count in range(5, 12)]

        pauses = [(end - start).seconds for start, end in pairwise([NOW, *ends])]
        assert pauses == [5, 10, 20, 40, 60, 60, 60]

    @pytest.mark.parametrize("failures", [1, 5])
    def test_pauses_as_long_as_retry_after_says_closed_or_open(self, failures):
        state = after_failures(failures - 1)

        state = breaker.after_failure(state, sent_at=NOW, at=NOW, retry_after=timedelta(minutes=20))

        assert (state.failures, state.paused_until) == (failures, NOW + timedelta(minutes=20))

    @pytest.mark.parametrize(("retry_after", "pause"), [(0, 5), (600, 600)])
    def test_ignores_failures_of_requests_sent_before_it_opened(self, retry_after, pause):
        state = after_failures(5)

        late = breaker.after_failure(state, sent_at=NOW, at=NOW, retry_after=timedelta(seconds=retry_after))

        assert (late.failures, late.paused_until) == (5, NOW + timedelta(seconds=pause))

    def test_closes_with_one_success(self):
        state = breaker.after_success(after_failures(9), sent_at=NOW, at=NOW)

        assert state == BreakerState(last_success_at=NOW)

    def test_keeps_the_latest_success_when_an_earlier_request_succeeds_later(self):
        state = breaker.after_success(BreakerState(last_success_at=NOW), sent_at=NOW - timedelta(seconds=9), at=NOW)

        assert state.last_success_at == NOW

    def test_gives_up_five_days_after_the_first_failure_in_a_row(self):
        state = after_failures(7)

        assert not state.has_given_up(at=NOW + timedelta(days=4, hours=23))
        assert state.has_given_up(at=NOW + timedelta(days=5))
        assert not BreakerState(last_success_at=NOW).has_given_up(at=NOW + timedelta(days=50))


class TestRetryAfter:
    """A pause that the endpoint asked for ends by time alone."""

    HOUR = timedelta(hours=1)

    def test_stays_in_force_when_a_request_that_was_in_flight_succeeds(self):
        state = breaker.after_failure(BreakerState(), sent_at=NOW, at=NOW, retry_after=self.HOUR)

        state = breaker.after_success(state, sent_at=NOW, at=NOW + timedelta(seconds=1))

        assert (state.failures, state.paused_until) == (0, NOW + self.HOUR)

    def test_stays_in_force_when_the_probe_pause_is_lifted(self):
        state = breaker.after_failure(after_failures(8), sent_at=NOW, at=NOW, retry_after=self.HOUR)

        lifted = breaker.without_probe_pause(state, at=NOW + self.HOUR - timedelta(seconds=1))

        assert (lifted.failures, lifted.paused_until) == (8, NOW + self.HOUR)

    @pytest.mark.parametrize("later", [HOUR, HOUR + timedelta(seconds=1)])
    def test_is_forgotten_when_it_has_ended(self, later):
        state = breaker.after_failure(BreakerState(), sent_at=NOW, at=NOW, retry_after=self.HOUR)

        assert breaker.without_probe_pause(state, at=NOW + later) == BreakerState(failures=1, failing_since=NOW)

    def test_is_not_shortened_by_a_later_answer(self):
        state = breaker.after_failure(BreakerState(), sent_at=NOW, at=NOW, retry_after=self.HOUR)

        state = breaker.after_failure(state, sent_at=NOW, at=NOW, retry_after=timedelta(seconds=1))

        assert (state.retry_after_until, state.paused_until) == (NOW + self.HOUR, NOW + self.HOUR)

"""Which reported positions are believed."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery.geo import service_area
from delivery.geo.distance import Point
from delivery.geo.position_filter import Limits, Reason, SentPosition, plausible

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
LIMITS = Limits([service_area.BRAZIL], kmh=200)
PAULISTA = Point(-23.561414, -46.655881)
# 1.1 km and 11 km further north.
NEAR, FAR = Point(-23.551414, -46.655881), Point(-23.461414, -46.655881)


def reported(point=PAULISTA, *, ago=0.0, accuracy_m=5.0):
    return SentPosition(point, NOW - timedelta(seconds=ago), accuracy_m)


def filtered(*positions, last=None):
    return plausible(positions, last=last, limits=LIMITS, at=NOW)


class TestPlausible:
    @pytest.mark.parametrize(
        ("position", "reason"),
        [
            (reported(Point(91, 0)), Reason.IMPOSSIBLE),
            (reported(Point(float("nan"), 0)), Reason.IMPOSSIBLE),
            (reported(Point(0, 0)), Reason.OUTSIDE),
            (reported(ago=-6), Reason.FUTURE),
            (reported(ago=24 * 3600 + 1), Reason.TOO_OLD),
            (reported(accuracy_m=1001), Reason.INACCURATE),
        ],
    )
    def test_drops_what_is_wrong_by_itself(self, position, reason):
        kept, dropped = filtered(position)

        assert (kept, dropped) == ([], {reason: 1})

    def test_accepts_a_clock_that_is_a_little_ahead(self):
        kept, dropped = filtered(reported(ago=-4), reported(ago=10, accuracy_m=None))

        assert len(kept) == 2
        assert not dropped

    @pytest.mark.parametrize("position", [reported(ago=-5), reported(ago=24 * 3600), reported(accuracy_m=1000)])
    def test_accepts_what_lies_at_a_limit(self, position):
        assert filtered(position) == ([position], {})

    def test_drops_nine_hundred_kilometres_an_hour(self):
        # 11.1 km in 44 s
        kept, dropped = filtered(reported(ago=44), reported(FAR))

        assert kept == [reported(ago=44)]
        assert dropped == {Reason.TOO_FAST: 1}

    def test_accepts_a_hundred_kilometres_an_hour(self):
        kept, _dropped = filtered(reported(ago=40), reported(NEAR))

        assert len(kept) == 2

    def test_a_jump_and_back_loses_the_jump_alone(self):
        kept, dropped = filtered(reported(ago=20), reported(FAR, ago=10), reported())

        assert [position.point for position in kept] == [PAULISTA, PAULISTA]
        assert dropped == {Reason.TOO_FAST: 1}

    def test_inexact_positions_may_be_nearer_than_they_seem(self):
        kept, _dropped = filtered(reported(ago=5, accuracy_m=500), reported(NEAR, accuracy_m=500))

        assert len(kept) == 2

    def test_compares_with_the_last_of_the_report_before(self):
        kept, dropped = filtered(reported(FAR), last=reported(ago=44))

        assert kept == []
        assert dropped == {Reason.TOO_FAST: 1}

    def test_believes_a_jump_from_a_position_older_than_ten_minutes(self):
        brasilia = Point(-15.79, -47.88)

        assert filtered(reported(brasilia), last=reported(ago=601))[0] == [reported(brasilia)]
        assert filtered(reported(brasilia), last=reported(ago=599))[1] == {Reason.TOO_FAST: 1}

    def test_puts_them_in_order_and_drops_what_was_reported_before(self):
        kept, dropped = filtered(reported(ago=1), reported(ago=9), reported(ago=5), last=reported(ago=9))

        assert [position.at for position in kept] == [NOW - timedelta(seconds=5), NOW - timedelta(seconds=1)]
        assert dropped == {Reason.OUT_OF_ORDER: 1}

    def test_drops_what_is_sent_again_though_its_request_took_longer(self):
        told = [NOW - timedelta(seconds=ago) for ago in (10, 5, 0)]
        first = [SentPosition(PAULISTA, at, 5.0, at) for at in told[:2]]
        later = [SentPosition(PAULISTA, at + timedelta(seconds=2), 5.0, at) for at in told]

        kept, dropped = filtered(*later, last=first[-1])

        assert kept == later[2:]
        assert dropped == {Reason.OUT_OF_ORDER: 2}

    def test_keeps_what_was_found_later_though_the_report_before_took_longer(self):
        told = [NOW - timedelta(seconds=ago) for ago in (2, 1)]
        late = SentPosition(PAULISTA, told[0] + timedelta(seconds=3), 5.0, told[0])

        kept, dropped = filtered(SentPosition(PAULISTA, told[1], 5.0, told[1]), last=late)

        assert [(each.at, each.told_at) for each in kept] == [(late.at + timedelta(microseconds=1), told[1])]
        assert not dropped

    def test_believes_no_jump_because_the_phone_tells_of_a_longer_time(self):
        told = [NOW - timedelta(seconds=ago) for ago in (60, 0)]
        last = SentPosition(PAULISTA, NOW - timedelta(seconds=10), 5.0, told[0])

        assert filtered(SentPosition(NEAR, NOW, 5.0, told[1]), last=last) == ([], {Reason.TOO_FAST: 1})


class TestContradictions:
    """FAR is 11 km away, which takes more than three minutes."""

    def test_are_decided_by_three_in_a_row_that_agree(self):
        right = [reported(ago=ago) for ago in (25, 20, 15, 10)]

        kept, dropped = filtered(*right, last=reported(FAR, ago=30))

        assert kept == right
        assert not dropped

    def test_are_not_decided_by_two(self):
        assert filtered(reported(ago=20), reported(), last=reported(FAR, ago=30)) == ([], {Reason.TOO_FAST: 2})

    def test_are_not_decided_by_three_that_contradict_each_other(self):
        wrong = [reported(FAR, ago=20), reported(Point(-23.66, -46.65), ago=10), reported(FAR)]

        assert filtered(*wrong, last=reported(ago=30)) == ([], {Reason.TOO_FAST: 3})

    def test_are_not_decided_by_three_between_which_the_believed_one_was_confirmed(self):
        mixed = [reported(FAR, ago=20), reported(FAR, ago=15), reported(ago=10), reported(FAR, ago=5)]

        assert filtered(*mixed, last=reported(ago=30)) == ([reported(ago=10)], {Reason.TOO_FAST: 3})

    def test_with_an_inexact_position_are_decided_by_an_exact_one(self):
        kept, dropped = filtered(reported(accuracy_m=8.0), last=reported(FAR, ago=10, accuracy_m=900.0))

        assert kept == [reported(accuracy_m=8.0)]
        assert not dropped

    def test_with_an_exact_position_are_not_decided_by_inexact_ones(self):
        cell = [reported(FAR, ago=ago, accuracy_m=900.0) for ago in (20, 15, 10, 5)]

        assert filtered(*cell, last=reported(ago=30)) == ([], {Reason.TOO_FAST: 4})

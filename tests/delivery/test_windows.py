"""Each rule of windows at its bound and beside it, and how long drivers wait."""

from datetime import UTC, datetime, timedelta

import pytest

from delivery import windows
from delivery.windows import Code, Window
from tests.cases import in_turn

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
MINUTE, SECOND, DAY = timedelta(minutes=1), timedelta(seconds=1), timedelta(days=1)
FIRST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
PICKUP_READY, PICKUP_DEADLINE = (None, False), (None, True)
READY, DEADLINE = (0, False), (0, True)


def window(ready=None, deadline=None):
    return Window(
        *(each and (each if isinstance(each, datetime) else NOW + each * MINUTE) for each in (ready, deadline))
    )


def faults(pickup=(), *dropoffs, is_reverse=False):
    found = windows.faults(window(*pickup), [window(*each) for each in dropoffs], is_reverse=is_reverse, at=NOW)
    return [((each.dropoff, each.is_deadline), each.code) for each in found]


MINUTES_OF_30_DAYS = 30 * 24 * 60
BESIDE = SECOND / MINUTE


@in_turn(
    ("pickup", "dropoff", "where", "code"),
    [
        ((MINUTES_OF_30_DAYS + BESIDE,), (), PICKUP_READY, Code.TOO_FAR_AHEAD),
        ((), (MINUTES_OF_30_DAYS + BESIDE,), READY, Code.TOO_FAR_AHEAD),
        # 20 minutes from now, and 10 after it is ready
        ((None, 20 - BESIDE), (), PICKUP_DEADLINE, Code.WINDOW_TOO_SHORT),
        ((60, 70 - BESIDE), (), PICKUP_DEADLINE, Code.WINDOW_TOO_SHORT),
        ((-600, 20 - BESIDE), (), PICKUP_DEADLINE, Code.WINDOW_TOO_SHORT),
        # a drop-off that is ready after the deadline of the pickup
        ((60, 90), (90 + BESIDE,), READY, Code.WINDOWS_CONTRADICT),
        # without a deadline, more than two hours after the pickup
        ((), (120 + BESIDE,), READY, Code.WINDOWS_CONTRADICT),
        ((60,), (180 + BESIDE,), READY, Code.WINDOWS_CONTRADICT),
        # a drop-off's deadline: 20 minutes after it is ready, not before that of the pickup
        ((), (None, 20 - BESIDE), DEADLINE, Code.WINDOWS_CONTRADICT),
        ((60,), (None, 80 - BESIDE), DEADLINE, Code.WINDOWS_CONTRADICT),
        ((60, 90), (70, 90 - BESIDE), DEADLINE, Code.WINDOWS_CONTRADICT),
        ((60, 90), (80, 100 - BESIDE), DEADLINE, Code.WINDOWS_CONTRADICT),
        # what is ready already is ready now
        ((-600,), (120 + BESIDE,), READY, Code.WINDOWS_CONTRADICT),
        ((-600,), (None, 20 - BESIDE), DEADLINE, Code.WINDOWS_CONTRADICT),
        ((), (-600, 20 - BESIDE), DEADLINE, Code.WINDOWS_CONTRADICT),
    ],
)
def test_refuses(pickup, dropoff, where, code):
    assert faults(pickup, dropoff) == [(where, code)]


@in_turn(
    ("pickup", "dropoff"),
    [
        ((), ()),
        ((MINUTES_OF_30_DAYS,), (MINUTES_OF_30_DAYS, MINUTES_OF_30_DAYS + 24 * 60)),
        ((None, 20), (None, 20)),
        ((60, 70), ()),
        ((-600, 20), (-600, 20)),
        ((60, 90), (90, 110)),
        ((60,), (None, 80)),
        ((60, 90), (40, 90)),
        ((), (120,)),
        ((-600,), (120,)),
    ],
)
def test_accepts(pickup, dropoff):
    assert faults(pickup, dropoff) == []


@in_turn("is_reverse", [False, True])
@in_turn("others", [((None, None), (None, None)), ((60, 90), (80, 120))])
@in_turn("where", [PICKUP_READY, PICKUP_DEADLINE, READY, DEADLINE])
def test_refuses_the_last_moment_of_all_and_can_compute_with_it_and_with_the_first(where, others, is_reverse):
    dropoff, is_deadline = where

    def with_one(moment):
        pickup, stop = ([*each] for each in others)
        (pickup if dropoff is None else stop)[is_deadline] = moment
        return faults(pickup, stop, is_reverse=is_reverse)

    assert (where, Code.TOO_FAR_AHEAD) in with_one(LATEST)
    assert (where in dict(with_one(FIRST))) is is_deadline  # what was ready before is ready now


def test_names_each_dropoff():
    assert [where[0] for where, _code in faults((), (), (None, 1), (None, 2))] == [1, 2]


def test_in_mode_reverse_the_first_dropoff_is_ready_when_the_route_begins():
    assert faults((), (600,), (720,), is_reverse=True) == []
    assert faults((), (600,), (720 + BESIDE,), is_reverse=True) == [((1, False), Code.WINDOWS_CONTRADICT)]


@pytest.mark.parametrize(("seconds", "minutes"), [(0, 10), (599, 10), (720, 12), (3600, 60), (9999, 60)])
def test_lead_is_the_way_within_its_bounds(seconds, minutes):
    assert windows.lead(seconds, least=10 * MINUTE) == minutes * MINUTE


def test_a_driver_waits_at_each_place_until_it_is_ready():
    moments = [NOW + minutes * MINUTE for minutes in (5, 10, 20)]

    waited = windows.not_before(moments, [NOW + 30 * MINUTE, None, NOW + 47 * MINUTE])

    assert [(each - NOW) / MINUTE for each in waited] == [30, 35, 47]

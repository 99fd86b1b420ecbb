import pytest

from integration import lifecycle
from integration.errors import AlreadyCancelled, AlreadyDelivered, MoveRefused
from integration.lifecycle import TABLE, Status

PAIRS = [(current, target) for current in Status for target in Status]
S = Status
# A row for each current status, a column for each target, both in the order of `Status`; + is allowed.
ALLOWED = """
    pending           . + + + + . . +
    collected         . . + + + + + +
    in_transit        . . . + + + + +
    out_for_delivery  . . + . + + + +
    delivered         . . . . . . . .
    delivery_failed   . . + + + . + +
    returned          . . . . . . . +
    cancelled         . . . . . . . .
"""


class TestTable:
    def test_allows_these_changes_and_no_others(self):
        rows = [line.split() for line in ALLOWED.strip().splitlines()]

        assert {
            Status(name): {s for s, mark in zip(Status, marks, strict=True) if mark == "+"} for name, *marks in rows
        } == {status: set(targets) for status, targets in TABLE.items()}

    @pytest.mark.parametrize(("current", "target"), [pair for pair in PAIRS if pair[1] in TABLE[pair[0]]])
    def test_allows(self, current, target):
        assert lifecycle.move(current, target) is target

    @pytest.mark.parametrize(("current", "target"), [pair for pair in PAIRS if pair[1] not in TABLE[pair[0]]])
    def test_refuses(self, current, target):
        with pytest.raises(MoveRefused):
            lifecycle.move(current, target)

    def test_lets_everything_be_cancelled_that_is_not_delivered_or_cancelled(self):
        open_ = [status for status in Status if Status.CANCELLED in TABLE[status]]

        assert open_ == [status for status in Status if status not in (Status.DELIVERED, Status.CANCELLED)]

    @pytest.mark.parametrize(("end", "reason"), [(S.DELIVERED, AlreadyDelivered), (S.CANCELLED, AlreadyCancelled)])
    def test_says_why_a_cancellation_is_refused(self, end, reason):
        with pytest.raises(reason):
            lifecycle.move(end, Status.CANCELLED)

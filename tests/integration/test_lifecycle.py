import pytest

from integration import lifecycle
from integration.errors import AlreadyCancelled, AlreadyDelivered, MoveRefused
from integration.lifecycle import TABLE, Status

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

    def test_allows(self):
        for current, targets in TABLE.items():
            assert [lifecycle.move(current, target) for target in targets] == [*targets]

    def test_refuses(self):
        refused = [(current, target) for current in Status for target in Status if target not in TABLE[current]]

        for current, target in refused:
            with pytest.raises(MoveRefused):
                lifecycle.move(current, target)

    @pytest.mark.parametrize(("end", "reason"), [(S.DELIVERED, AlreadyDelivered), (S.CANCELLED, AlreadyCancelled)])
    def test_says_why_a_cancellation_is_refused(self, end, reason):
        with pytest.raises(reason):
            lifecycle.move(end, Status.CANCELLED)


class TestChoices:
    def test_are_what_may_come_next_and_what_a_carrier_may_report_once_more(self):
        again = {S.COLLECTED, S.IN_TRANSIT, S.OUT_FOR_DELIVERY, S.DELIVERY_FAILED}

        assert {status: set(lifecycle.choices(status)) for status in Status} == {
            status: {*TABLE[status], *({status} & again)} for status in Status
        }

"""What the simulated carrier does for each outcome."""

import pytest

from integration import lifecycle
from integration import simulation_steps as steps
from integration.lifecycle import Status
from integration.simulation_steps import Outcome

WAY = ["collected", "in_transit", "out_for_delivery"]


def way_of(outcome):
    """The statuses that follow the creation, and the seconds that they take in all."""
    status, found, seconds = Status.PENDING, [], 0.0
    while (step := steps.next_step(status, outcome)) is not None:
        assert step.status in lifecycle.TABLE[status]
        status, seconds = step.status, seconds + step.seconds
        found.append(str(status))
    return found, seconds


class TestOutcome:
    @pytest.mark.parametrize(
        ("outcome", "way", "seconds"),
        [
            (Outcome.DELIVERED, [*WAY, "delivered"], 120),
            (Outcome.FAIL, [*WAY, "delivery_failed"], 120),
            (Outcome.RETURN, [*WAY, "delivery_failed", "returned"], 150),
            (Outcome.LOST, WAY[:2], 45),
            (Outcome.MANIFEST, [], 0),
        ],
    )
    def test_has_a_way_that_the_lifecycle_allows(self, outcome, way, seconds):
        assert way_of(outcome) == (way, seconds)

    @pytest.mark.parametrize(
        ("order_id", "outcome"),
        [
            ("A-1", Outcome.DELIVERED), ("sim-fail-1", Outcome.FAIL), ("sim-return-", Outcome.RETURN),
            ("sim-lost-1", Outcome.LOST), ("sim-manifest-1", Outcome.MANIFEST), ("x-sim-fail-1", Outcome.DELIVERED),
            ("SIM-FAIL-1", Outcome.DELIVERED), ("sim-manual-1", None),
        ],
    )  # fmt: skip  # a table
    def test_follows_from_the_prefix_of_the_order_id(self, order_id, outcome):
        assert steps.outcome_of(order_id) is outcome

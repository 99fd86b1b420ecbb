"""What pages call a delivery: by its statuses, its mode, a cancellation and its failures."""

import pytest
from django.utils import translation

from delivery import words
from delivery.lifecycle import Mode


@pytest.mark.parametrize(
    ("status", "route_status", "mode", "is_cancelled", "failed", "name"),  # of two stops
    [
        ("PENDING", "SCHEDULED", Mode.DEFAULT, False, 0, "Scheduled"),
        ("FAILED", "EXPIRED", Mode.DEFAULT, False, 0, "Offer expired"),
        ("FAILED", "CANCELLED", Mode.DEFAULT, True, 0, "Cancelled"),
        ("FAILED", "FINISHED", Mode.DEFAULT, True, 1, "Cancelled"),
        ("FAILED", "RETURNING", Mode.DEFAULT, True, 1, "Returning to the shop, cancelled"),
        ("FAILED", "RETURNING", Mode.REVERSE, True, 0, "On the way to A, cancelled"),
        ("COLLECTED", "RETURNING", Mode.DEFAULT, False, 1, "Returning to the shop, 1 of 2 not delivered"),
        ("FAILED", "RETURNING", Mode.DEFAULT, False, 2, "Returning to the shop, not delivered"),
        ("COLLECTED", "RETURNING", Mode.REVERSE, False, 1, "On the way to A, 1 of 2 not collected"),
        ("DELIVERED", "FINISHED", Mode.DEFAULT, False, 1, "1 of 2 not delivered"),
    ],
)
def test_a_delivery_is_called_by_what_became_of_it(status, route_status, mode, is_cancelled, failed, name):
    with translation.override("en"):
        assert words.whole(status, route_status, mode, is_cancelled=is_cancelled, failed=failed, stops=2) == name

"""What a delivery tells of itself: where its driver goes next, how late it is, what people call it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.lifecycle import Mode, RouteStatus, Status
from delivery.models import Delivery, Stop

NOW = timezone.now()
P, A, C, D, F = Status.PENDING, Status.ACCEPT, Status.COLLECTED, Status.DELIVERED, Status.FAILED


def unsaved(route=RouteStatus.ACCEPTED, orders=(A,), *, mode=Mode.DEFAULT, names=("", "", ""), **values):
    """A delivery with stops of these statuses."""
    delivery = Delivery(status=C, route_status=route, mode=mode, **values)
    stops = [Stop(delivery=delivery, index=n, status=order, external_id=names[n]) for n, order in enumerate(orders)]
    delivery.ordered_stops = stops
    return delivery


@pytest.mark.parametrize(
    ("mode", "route", "orders", "label"),
    [
        (Mode.DEFAULT, RouteStatus.SCHEDULED, (P, P), "A"),
        (Mode.DEFAULT, RouteStatus.AVAILABLE, (P, P), "A"),
        (Mode.RETURN, RouteStatus.ACCEPTED, (A, A), "A"),
        (Mode.DEFAULT, RouteStatus.COLLECTED, (D, C), "C"),
        (Mode.RETURN, RouteStatus.RETURNING, (D, F), "A"),
        (Mode.REVERSE, RouteStatus.AVAILABLE, (P, P), "B"),
        (Mode.REVERSE, RouteStatus.ACCEPTED, (F, A), "C"),
        (Mode.REVERSE, RouteStatus.COLLECTED, (C, A), "C"),
        (Mode.REVERSE, RouteStatus.RETURNING, (C, F), "A"),
    ],
)
def test_leads_its_driver_to_the_next_place(mode, route, orders, label):
    assert unsaved(route, orders, mode=mode).next_place.label == label


@pytest.mark.parametrize(
    ("mode", "expected"),
    [(Mode.DEFAULT, [False, True, True, False, False]), (Mode.REVERSE, [False, True, False, False, False])],
)
def test_has_an_arrival_time_at_stops_to_which_a_driver_goes(mode, expected):
    delivery = Delivery(mode=mode)

    assert [Stop(delivery=delivery, status=status).is_expected for status in (P, A, C, D, F)] == expected


@pytest.mark.parametrize(
    ("route", "ago", "late"),
    [
        (RouteStatus.COLLECTED, timedelta(minutes=1), timedelta(minutes=1)),
        (RouteStatus.COLLECTED, timedelta(0), None),
        (RouteStatus.COLLECTED, timedelta(minutes=-1), None),
        (RouteStatus.FINISHED, timedelta(minutes=1), None),
    ],
)
def test_is_late_once_its_next_step_was_due(route, ago, late):
    delivery = unsaved(route)
    delivery.due_at = NOW - ago

    assert delivery.lateness(at=NOW) == late


@pytest.mark.parametrize(("most", "names"), [(None, "a, b"), (1, "a +1"), (2, "a, b"), (3, "a, b")])
def test_is_known_by_the_external_ids_that_it_has(most, names):
    assert unsaved(orders=(A, A, A), names=("a", "", "b")).order_names(most) == names

"""What is always true of deliveries, their histories and their events, for `manage.py verify`, tests and benchmarks."""

from common.invariants import Invariant
from delivery.invariants import drivers, events, histories, routes

ALL: tuple[Invariant, ...] = (*routes.ALL, *histories.ALL, *events.ALL, *drivers.ALL)

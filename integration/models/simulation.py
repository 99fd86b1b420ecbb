from collections.abc import Sequence
from datetime import datetime

from django.db import models

from common.fields import one_of
from common.simulation import pace, rows
from integration import simulation_steps as steps
from integration.lifecycle import Status
from integration.models.order import Order
from integration.simulation_steps import Outcome


class Simulation(rows.Simulation):
    """A test order that the simulated carrier moves. Deleted when it does nothing more, or another move was made.

    `due_at` is None while the order waits for its manifest.
    """

    OWNER = "order__seller_id"

    order = models.OneToOneField(Order, on_delete=models.CASCADE, primary_key=True, related_name="simulation")
    outcome = models.CharField(max_length=9, choices=[(outcome.value, outcome.value) for outcome in Outcome])

    objects = rows.SimulationQuerySet["Simulation"].as_manager()

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="order_simulation_due")]
        constraints = [
            one_of("order_simulation_outcome", "outcome", [outcome.value for outcome in Outcome]),
            rows.speed_in_range("order_simulation_speed"),
        ]

    def __str__(self) -> str:
        return f"{self.order_id} {self.outcome}"

    @staticmethod
    def first_rows(order: Order, *, speed: float, at: datetime) -> "list[Simulation]":
        """The unsaved simulation of a new order. Empty if its `orderId` asks for moves by hand."""
        outcome = steps.outcome_of(order.code)
        if outcome is None:
            return []
        simulation = Simulation(order=order, outcome=outcome.value, speed=speed)
        simulation.plan(order, at=at)
        return [simulation]

    @staticmethod
    def that_wait(orders: Sequence[Order]) -> "dict[int, Simulation]":
        """Of these orders the simulations that wait for a manifest, by the orders' keys."""
        return Simulation.objects.filter(outcome=Outcome.MANIFEST).in_bulk([order.pk for order in orders])

    def next_step(self, order: Order) -> steps.Step | None:
        return steps.next_step(Status(order.status), Outcome(self.outcome))

    def plan(self, order: Order, *, at: datetime) -> None:
        """Set when the step after the order's status is made. None if there is no further one."""
        step = self.next_step(order)
        self.due_at = at + pace.duration(step.seconds, speed=self.speed) if step else None

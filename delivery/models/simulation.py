from datetime import datetime

from django.db import models

from common.fields import one_of
from common.simulation import rows
from delivery import simulation_steps as steps
from delivery.models.delivery import Delivery
from delivery.simulation_steps import Outcome


class SimulationQuerySet(rows.SimulationQuerySet["Simulation"]):
    def after_move(self, delivery: Delivery, *, by: str, goes_on: bool, at: datetime) -> None:
        """End the simulation of a delivery that was moved by somebody else than the simulator.

        `goes_on`: it is due at once instead, after a cancellation of the integrator, because the driver has to return
        to A, and when a scheduled route is offered.
        """
        simulation = self.filter(pk=delivery.pk)
        if delivery.is_closed or not (goes_on or by == steps.ACTOR):
            simulation.delete()
        elif goes_on:
            simulation.update(due_at=at)


class Simulation(rows.Simulation):
    """A sandbox delivery that the simulated driver moves. Deleted when the delivery ends or a person moves it.

    A *leg* is the time between two moves: the way to A, to a drop-off or back, or the wait of an offer. It is known by
    the delivery's `last_sequence` at its beginning, which every move raises. `due_at` is when the next position or move
    is made.
    """

    OWNER = "delivery__integrator_id"

    delivery = models.OneToOneField(Delivery, on_delete=models.CASCADE, primary_key=True, related_name="simulation")
    outcome = models.CharField(max_length=11, choices=[(outcome.value, outcome.value) for outcome in Outcome])
    leg = models.PositiveIntegerField(default=0)
    leg_ends_at = models.DateTimeField(null=True)  # when the next move is made; null while the driver waits

    objects = SimulationQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["due_at"], name="simulation_due")]
        constraints = [
            one_of("simulation_outcome", "outcome", [outcome.value for outcome in Outcome]),
            rows.speed_in_range("simulation_speed"),
        ]

    def __str__(self) -> str:
        return f"{self.delivery_id} {self.outcome}"

    @staticmethod
    def first_rows(delivery: Delivery, *, speed: float, at: datetime) -> "list[Simulation]":
        """The unsaved simulation of a new delivery. Empty if its first `externalId` asks for moves by hand."""
        outcome = steps.outcome_of(delivery.ordered_stops[0].external_id)
        if outcome is None:
            return []
        simulation = Simulation(delivery=delivery, outcome=outcome.value, speed=speed)
        simulation.begin_leg(delivery, at=at)
        return [simulation]

    def begin_leg(self, delivery: Delivery, *, at: datetime) -> None:
        """Plan the next move of the delivery, in whose state the leg begins."""
        step = self.next_step(delivery)
        self.leg = delivery.last_sequence
        self.leg_ends_at = at + steps.duration(step, speed=self.speed) if step else None
        if step is not None and step.is_wait:
            self.due_at = self.leg_ends_at
        else:
            self.plan_position(delivery, at=at)

    def plan_position(self, delivery: Delivery, *, at: datetime) -> None:
        """Set `due_at`: when the next position is recorded, or the end of the leg where none is."""
        self.due_at = self.leg_ends_at
        if self.leg_ends_at is not None and delivery.is_held and self.outcome != Outcome.STALE:
            self.due_at = at + steps.until_next_position(self.leg_ends_at - at, speed=self.speed)

    def next_step(self, delivery: Delivery) -> steps.Step | None:
        return steps.next_step(delivery.state, Outcome(self.outcome))

"""The simulated carrier of the sandbox: moves orders that were created with a test key."""

from datetime import datetime

from common.simulation.rows import Simulator
from integration.actions import orders
from integration.actions.orders import Details
from integration.models import Simulation
from integration.simulation_steps import ACTOR


def _advance(simulation: Simulation, *, at: datetime) -> None:
    """Make the next step, and plan the one after it."""
    order = simulation.order
    step = simulation.next_step(order)
    if step is not None:
        details = Details(reason_code=step.code, reason=step.reason, place=step.place)
        order = orders.move(order=order, to=step.status, by=ACTOR, at=at, details=details)
    simulation.plan(order, at=at)
    if simulation.due_at is None:
        simulation.delete()
        return
    simulation.failures = 0
    simulation.save(update_fields=["due_at", "failures"])


_SIMULATOR = Simulator(Simulation, _advance, doing="The simulated carrier of order")
advance_due, advance_until_none_is_due = _SIMULATOR.advance_due, _SIMULATOR.advance_until_none_is_due

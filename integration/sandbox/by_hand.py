"""Moves of a test order by hand, for sellers who test without waiting for the simulated carrier."""

from dataclasses import replace
from datetime import datetime

from common.accounts import Environment
from integration import lifecycle
from integration import simulation_steps as steps
from integration.actions import orders
from integration.actions.orders import Details
from integration.errors import SandboxOnly
from integration.lifecycle import Reason, Status
from integration.models import Order


def perform(*, order: Order, to: Status, details: Details, by: str, at: datetime) -> Order:
    """Move an order of the sandbox; the simulated carrier then leaves it alone.

    A failure or a return without a reason gets one. Raises SandboxOnly, and the errors of `orders.move`.
    """
    if order.environment != Environment.SANDBOX:
        raise SandboxOnly
    if to in lifecycle.WITH_REASON and not details.reason_code and not details.reason.strip():
        details = replace(details, reason_code=Reason.ABSENT, reason=steps.FAILURE_REASON)
    return orders.move(order=order, to=to, by=by, at=at, details=details)

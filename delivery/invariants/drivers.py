"""Drivers, their positions, and deliveries that are simulated."""

from common.invariants import Invariant
from delivery.invariants.routes import CLOSED, HELD

ALL = (
    Invariant(
        "simulated_driver_of_its_account",
        "drivers that the service has created took sandbox deliveries of one account only",
        "delivery_delivery WHERE driver_id IS NOT NULL",
        """
        SELECT d.id FROM delivery_delivery d JOIN delivery_driver r ON r.id = d.driver_id
        WHERE r.simulated_for_id IS NOT NULL
          AND (d.integrator_id, d.environment) <> (r.simulated_for_id, 'sandbox')""",
    ),
    Invariant(
        "open_route_fits_its_driver",
        "drivers who hold a route work for us, in its vehicle and environment",
        f"delivery_delivery WHERE route_status IN ({HELD})",
        f"""
        SELECT d.id FROM delivery_delivery d JOIN delivery_driver r ON r.id = d.driver_id
        WHERE d.route_status IN ({HELD})
          AND NOT (r.active AND (r.vehicle_type, r.environment) = (d.vehicle_type, d.environment))""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "latest_position_is_the_newest",
        "no driver has a position that is newer than the latest",
        "delivery_driver",
        """
        SELECT r.id FROM delivery_driver r LEFT JOIN delivery_latestposition l ON l.driver_id = r.id
        WHERE EXISTS (SELECT FROM delivery_driverposition p
                      WHERE p.driver_id = r.id AND p.recorded_at > coalesce(l.recorded_at, '-infinity'))""",
    ),
    Invariant(
        "simulation_of_an_open_delivery",
        "simulated deliveries are of the sandbox and open",
        "delivery_simulation",
        f"""
        SELECT s.delivery_id AS id FROM delivery_simulation s JOIN delivery_delivery d ON d.id = s.delivery_id
        WHERE d.environment <> 'sandbox' OR d.route_status IN ({CLOSED})""",  # noqa: S608  # nosec B608  # constants
    ),
)

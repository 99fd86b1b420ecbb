"""Every operation of both APIs by method and path, as Django names the path's parameters."""

from config.openapi.operation import Operation
from config.openapi.operations import deliveries, look_up, orders, sandbox, shipments
from config.openapi.operations.webhooks import WEBHOOK_HEADERS, WEBHOOK_TEXT

OPERATIONS: dict[tuple[str, str], Operation] = {
    **deliveries.OPERATIONS,
    **look_up.OPERATIONS,
    **sandbox.OPERATIONS,
    **shipments.OPERATIONS,
    **orders.OPERATIONS,
}
# Names of path parameters in the description.
PATH_NAMES = {"delivery_id": "deliveryId", "order_id": "orderId"}

__all__ = ["OPERATIONS", "PATH_NAMES", "WEBHOOK_HEADERS", "WEBHOOK_TEXT"]

"""Models of area A, one module each."""

from delivery.models.attempt import WebhookAttempt
from delivery.models.audit import AuditAction, AuditEntry
from delivery.models.delivery import Delivery
from delivery.models.driver import Driver, DriverPosition, LatestPosition, VehicleType
from delivery.models.idempotency import IdempotencyRecord
from delivery.models.ids import parse_id
from delivery.models.integrator import Environment, Integrator
from delivery.models.pickup_point import PickupPoint
from delivery.models.refused_call import RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.models.simulation import Simulation
from delivery.models.stop import Stop
from delivery.models.tariff import Tariff
from delivery.models.token import Token
from delivery.models.transition import Transition
from delivery.models.webhook import EventState, OffBecause, WebhookEndpoint, WebhookEvent
from delivery.models.webhook_queue import WebhookQueueItem

__all__ = [
    "AuditAction",
    "AuditEntry",
    "Delivery",
    "Driver",
    "DriverPosition",
    "Environment",
    "EventState",
    "IdempotencyRecord",
    "Integrator",
    "LatestPosition",
    "OffBecause",
    "PickupPoint",
    "RefusedDeliveryCall",
    "RefusedDeliveryCallCount",
    "Simulation",
    "Stop",
    "Tariff",
    "Token",
    "Transition",
    "VehicleType",
    "WebhookAttempt",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookQueueItem",
    "parse_id",
]

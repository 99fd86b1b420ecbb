"""Models of area A, one module each."""

from delivery.models.alert import CHOSEN, AlertChoice, AlertKind, AlertPost, EndpointAlerts, PostState
from delivery.models.arrival_estimate import ArrivalEstimate
from delivery.models.attempt import WebhookAttempt
from delivery.models.audit import AuditAction, AuditEntry
from delivery.models.delivery import Delivery
from delivery.models.driver import Driver, DriverPosition, LatestPosition, VehicleType
from delivery.models.driver_device import DriverDevice, DriverLogInLink, PushSubscription
from delivery.models.driver_move import DriverMove
from delivery.models.dropoff_options import DropoffOptions, StopProof
from delivery.models.event_state import FAILING, STATE_NAMES, EventState
from delivery.models.idempotency import IdempotencyRecord
from delivery.models.ids import parse_id
from delivery.models.integrator import Environment, Integrator
from delivery.models.membership import IntegratorMembership
from delivery.models.pickup_point import PickupPoint
from delivery.models.proof_photo import ProofPhoto
from delivery.models.receiver_link import ReceiverLink
from delivery.models.refused_call import RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.models.simulation import Simulation
from delivery.models.stop import Stop
from delivery.models.tariff import Tariff, TariffChange
from delivery.models.token import Token
from delivery.models.transition import Transition
from delivery.models.webhook import OffBecause, WebhookEndpoint, WebhookEvent
from delivery.models.webhook_queue import WebhookQueueItem

__all__ = [
    "CHOSEN",
    "FAILING",
    "STATE_NAMES",
    "AlertChoice",
    "AlertKind",
    "AlertPost",
    "ArrivalEstimate",
    "AuditAction",
    "AuditEntry",
    "Delivery",
    "Driver",
    "DriverDevice",
    "DriverLogInLink",
    "DriverMove",
    "DriverPosition",
    "DropoffOptions",
    "EndpointAlerts",
    "Environment",
    "EventState",
    "IdempotencyRecord",
    "Integrator",
    "IntegratorMembership",
    "LatestPosition",
    "OffBecause",
    "PickupPoint",
    "PostState",
    "ProofPhoto",
    "PushSubscription",
    "ReceiverLink",
    "RefusedDeliveryCall",
    "RefusedDeliveryCallCount",
    "Simulation",
    "Stop",
    "StopProof",
    "Tariff",
    "TariffChange",
    "Token",
    "Transition",
    "VehicleType",
    "WebhookAttempt",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookQueueItem",
    "parse_id",
]

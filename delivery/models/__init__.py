"""Models of area A, one module each."""

from common.webhooks.models import FAILING, STATE_NAMES, EventState, OffBecause
from delivery.models.alert import CHOSEN, AlertChoice, AlertKind, AlertPost, EndpointAlerts, PostState
from delivery.models.attempt import WebhookAttempt
from delivery.models.audit import AuditAction, AuditEntry
from delivery.models.call import IdempotencyRecord, RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.models.delivery import Delivery
from delivery.models.dispatch_rules import DispatchRules, DispatchRulesChange, Rules
from delivery.models.driver import (
    Driver,
    DriverDevice,
    DriverLogInLink,
    DriverMove,
    DriverPosition,
    LatestPosition,
    PushSubscription,
    VehicleType,
)
from delivery.models.ids import parse_id
from delivery.models.integrator import Environment, Integrator, IntegratorMembership, PickupPoint
from delivery.models.simulation import Simulation
from delivery.models.stop import ArrivalEstimate, DropoffOptions, ProofPhoto, ReceiverLink, Stop, StopProof
from delivery.models.tariff import Tariff, TariffChange
from delivery.models.token import Token
from delivery.models.transition import Transition
from delivery.models.webhook import WebhookEndpoint, WebhookEvent
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
    "DispatchRules",
    "DispatchRulesChange",
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
    "Rules",
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

"""Models of area B, one module per noun; those that leaves alone need are imported from the leaf.

A foreign key with `db_index=False` is the first column of another index.
"""

from integration.models.call import (
    IdempotencyRecord,
    RefusedCarrierCall,
    RefusedCarrierCallCount,
    RefusedSellerCall,
    RefusedSellerCallCount,
)
from integration.models.carrier import Carrier, CarrierKey, CarrierRule
from integration.models.manifest import Manifest, ManifestEntry
from integration.models.movement import Assignment, MovementRecord
from integration.models.order import Correction, Order, SearchCode, StatusLog
from integration.models.seller import ApiKey, Company, Seller, SellerMembership, compact_document, is_document
from integration.models.simulation import Simulation
from integration.models.webhook import (
    Authentication,
    AuthenticationKind,
    EndpointAlerts,
    EndpointChange,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookEvent,
    WebhookQueueItem,
)

__all__ = [
    "ApiKey",
    "Assignment",
    "Authentication",
    "AuthenticationKind",
    "Carrier",
    "CarrierKey",
    "CarrierRule",
    "Company",
    "Correction",
    "EndpointAlerts",
    "EndpointChange",
    "IdempotencyRecord",
    "Manifest",
    "ManifestEntry",
    "MovementRecord",
    "Order",
    "RefusedCarrierCall",
    "RefusedCarrierCallCount",
    "RefusedSellerCall",
    "RefusedSellerCallCount",
    "SearchCode",
    "Seller",
    "SellerMembership",
    "Simulation",
    "StatusLog",
    "WebhookAttempt",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookQueueItem",
    "compact_document",
    "is_document",
]

"""Models of area B, one module per noun. A foreign key with `db_index=False` is the first column of another index."""

from integration.freight.models import FreightParameters, FreightParametersChange, FreightPriceChange, FreightRate
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink, InvoiceReference, LinkReason
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
from integration.models.order import Order, SearchCode, StatusLog
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
from integration.receivers.models import ReceiverMail, ReceiverMailStop

__all__ = [
    "ApiKey",
    "Assignment",
    "Authentication",
    "AuthenticationKind",
    "Carrier",
    "CarrierKey",
    "CarrierRule",
    "Company",
    "EndpointAlerts",
    "EndpointChange",
    "FreightParameters",
    "FreightParametersChange",
    "FreightPriceChange",
    "FreightRate",
    "IdempotencyRecord",
    "Invoice",
    "InvoiceChange",
    "InvoiceLink",
    "InvoiceReference",
    "LinkReason",
    "Manifest",
    "ManifestEntry",
    "MovementRecord",
    "Order",
    "ReceiverMail",
    "ReceiverMailStop",
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

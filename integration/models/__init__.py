"""Models of area B, one module per noun. A foreign key with `db_index=False` is the first column of another index."""

from integration.models.call import (
    IdempotencyRecord,
    RefusedCarrierCall,
    RefusedCarrierCallCount,
    RefusedSellerCall,
    RefusedSellerCallCount,
)
from integration.models.carrier import Carrier, CarrierKey, CarrierRule
from integration.models.freight import FreightParameters, FreightParametersChange, FreightPriceChange, FreightRate
from integration.models.invoice import Invoice, InvoiceLink, InvoiceReference
from integration.models.manifest import Manifest, ManifestEntry
from integration.models.movement import Assignment, MovementRecord
from integration.models.order import Order, SearchCode, StatusLog
from integration.models.seller import ApiKey, Company, Seller, SellerMembership, compact_document, is_document
from integration.models.simulation import Simulation

__all__ = [
    "ApiKey",
    "Assignment",
    "Carrier",
    "CarrierKey",
    "CarrierRule",
    "Company",
    "FreightParameters",
    "FreightParametersChange",
    "FreightPriceChange",
    "FreightRate",
    "IdempotencyRecord",
    "Invoice",
    "InvoiceLink",
    "InvoiceReference",
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
    "compact_document",
    "is_document",
]

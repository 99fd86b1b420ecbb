"""Models of area B, one module per noun."""

from integration.models.api_key import ApiKey
from integration.models.company import Company, compact_document
from integration.models.freight import FreightParameters, FreightParametersChange, FreightPriceChange, FreightRate
from integration.models.idempotency import IdempotencyRecord
from integration.models.invoice import Invoice, InvoiceLink, InvoiceReference
from integration.models.membership import SellerMembership
from integration.models.order import Order, SearchCode, StatusLog
from integration.models.refused_call import RefusedSellerCall, RefusedSellerCallCount
from integration.models.seller import Seller

__all__ = [
    "ApiKey",
    "Company",
    "FreightParameters",
    "FreightParametersChange",
    "FreightPriceChange",
    "FreightRate",
    "IdempotencyRecord",
    "Invoice",
    "InvoiceLink",
    "InvoiceReference",
    "Order",
    "RefusedSellerCall",
    "RefusedSellerCallCount",
    "SearchCode",
    "Seller",
    "SellerMembership",
    "StatusLog",
    "compact_document",
]

"""Error codes of order integration: orders, freight, invoices. Pure."""

from panel.guide.catalogue.entry import B, ErrorCode

CODES = (
    # Of orders.
    ErrorCode(
        "foreign_company",
        401,
        "company_document belongs to another seller than the key does.",
        "Use the key of that seller, or a document of your own companies.",
        (B,),
    ),
    ErrorCode(
        "company_not_found",
        404,
        "No company has this company_document.",
        "Ask the operator of the service to register the company.",
        (B,),
    ),
    ErrorCode(
        "duplicate_order",
        400,
        "Another order of yours has this orderId or trackingCode; 'errors' names which.",
        "Look the order up: it may be the one that you mean. Send an Idempotency-Key to repeat calls safely.",
        (B,),
    ),
    ErrorCode("order_not_found", 404, "The seller of the key has no such order.", "Check the orderId.", (B,)),
    ErrorCode("already_delivered", 400, "The order was delivered and cannot be cancelled.", "Nothing.", (B,)),
    ErrorCode("already_cancelled", 400, "The order is cancelled already.", "Nothing.", (B,)),
    ErrorCode(
        "no_coverage",
        400,
        "The postcode is assigned to no region, or the tariff has no rate for the two regions.",
        "Check the postcodes.",
        (B,),
    ),
    ErrorCode("too_heavy", 400, "The weight is over the maximum of the freight tariff.", "Split the shipment.", (B,)),
    ErrorCode(
        "search_value_missing",
        403,
        "The tracking query has no value.",
        "Send the parameter value.",
        (B,),
    ),
    ErrorCode(
        "invoice_missing",
        422,
        "The request is not a form with exactly one file in the field nfe.",
        "Send multipart/form-data with one file in the field nfe.",
        (B,),
    ),
    ErrorCode("invalid_invoice", 422, "The file is not an NF-e; the message says why.", "Send the signed XML.", (B,)),
    ErrorCode(
        "invoice_unreferenced",
        422,
        "The NF-e has no xPed, and no order of the seller names its access key.",
        "Put the orderId into xPed, or the access key into the order's invoice.key.",
        (B,),
    ),
    ErrorCode(
        "too_many_invoices",
        429,
        "The seller has sent as many new invoices in 24 hours as it may.",
        "Send the next after the seconds in Retry-After.",
        (B,),
    ),
    ErrorCode(
        "invoice_storage_full",
        409,
        "The space for the seller's invoices is full, and this one was not stored.",
        "Ask the operator of the service for more.",
        (B,),
    ),
)

"""Freight and invoices of order integration."""

from config.openapi.headers import PREFER
from config.openapi.operation import Answer, Operation
from config.openapi.operations import examples
from config.openapi.operations.common import BODY, KEY
from integration.api.bodies import Done, QuoteFound, ServicesFound
from integration.api.serializers import QuoteSerializer

_TAG = "Order integration"
_AS_400 = dict.fromkeys(("malformed_body", "unsupported_media_type", "invalid_payload"), 400)
_ERRORS = (*KEY, *BODY, "no_coverage", "too_heavy")
_WARNINGS = ("Rota-Warnings", "Preference-Applied")

OPERATIONS = {
    ("POST", "/api/integration/shipping/quote"): Operation(
        id="shipping-quote",
        summary="Quote freight",
        description="Price and deadline of one shipment between two postcodes.",
        tag=_TAG,
        request=QuoteSerializer,
        request_example=examples.FREIGHT,
        parameters=(PREFER,),
        answers={200: Answer(QuoteFound, "Price in centavos, deadline in business days.", None, _WARNINGS)},
        errors=_ERRORS,
        statuses=_AS_400,
    ),
    ("POST", "/api/integration/shipping/services"): Operation(
        id="shipping-services",
        summary="Quote freight by every service",
        description="Price and deadline of each service that has a rate for the trip.",
        tag=_TAG,
        request=QuoteSerializer,
        request_example=examples.FREIGHT,
        parameters=(PREFER,),
        answers={200: Answer(ServicesFound, "The services.", None, _WARNINGS)},
        errors=_ERRORS,
        statuses=_AS_400,
    ),
    ("POST", "/api/integration/invoices/marketplace"): Operation(
        id="upload-invoice",
        summary="Upload an invoice (NF-e)",
        description="Stores the XML and links the orders that it names. A stored access key again changes nothing.",
        tag=_TAG,
        request={
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"nfe": {"type": "string", "format": "binary", "description": "The XML."}},
                    "required": ["nfe"],
                }
            }
        },
        parameters=(PREFER,),
        answers={
            200: Answer(Done, "Stored.", {"success": True, "message": "Nota fiscal salva com sucesso"}, _WARNINGS)
        },
        errors=(
            *KEY,
            "late_body",
            "busy",
            "body_too_large",
            "invoice_missing",
            "invalid_payload",
            "invalid_invoice",
            "invoice_unreferenced",
            "too_many_invoices",
            "invoice_storage_full",
        ),
    ),
}

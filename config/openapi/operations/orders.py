"""Orders and their tracking."""

from typing import Literal, TypedDict

from config.openapi.headers import IDEMPOTENCY_KEY, PREFER
from config.openapi.operation import Answer, Operation, Parameter
from config.openapi.operations import examples
from config.openapi.operations.common import BODY, CREATED_FROM, CREATED_TO, CURSOR, IDEMPOTENCY, KEY, LIMIT
from integration.api.bodies import Done, OrderCreated, OrdersFound
from integration.api.order_bodies import OrderShown, OrdersListed
from integration.api.serializers import CancelSerializer, OrderSerializer
from integration.lifecycle import Status

_TAG = "Order integration"
_WARNINGS = ("Rota-Warnings", "Preference-Applied")


class NothingFound(TypedDict):
    """A tracking query without a result."""

    success: Literal[False]
    message: str


OPERATIONS = {
    ("POST", "/api/integration/orders"): Operation(
        id="create-order",
        summary="Create an order",
        description="Creates an order of one of the seller's companies. A tracking code is generated unless sent.",
        tag=_TAG,
        request=OrderSerializer,
        request_example=examples.ORDER,
        parameters=(IDEMPOTENCY_KEY, PREFER),
        answers={
            201: Answer(
                OrderCreated,
                "The order was created.",
                {"success": True, "tracking_code": "AA123456785BR"},
                ("Idempotency-Replayed", *_WARNINGS),
                {
                    "get-order": {"operationId": "get-order", "parameters": {"orderId": "$request.body#/orderId"}},
                    "cancel-order": {
                        "operationId": "cancel-order",
                        "requestBody": {"orderId": "$request.body#/orderId"},
                    },
                },
            )
        },
        errors=(*KEY, *BODY, *IDEMPOTENCY, "foreign_company", "company_not_found", "duplicate_order"),
        statuses={"unsupported_media_type": 422},
    ),
    ("GET", "/api/integration/orders"): Operation(
        id="list-orders",
        summary="Find orders",
        description="The orders of the key's seller, the newest first, in pages.",
        tag=_TAG,
        parameters=(
            Parameter("orderId", "query", "The orderId, exactly.", {"type": "string", "maxLength": 255}),
            Parameter("trackingCode", "query", "The tracking code, exactly.", {"type": "string", "maxLength": 255}),
            Parameter(
                "status", "query", "The status of the order.", {"type": "string", "enum": [s.value for s in Status]}
            ),
            CREATED_FROM,
            CREATED_TO,
            LIMIT,
            CURSOR,
            PREFER,
        ),
        answers={200: Answer(OrdersListed, "A page.", headers=_WARNINGS)},
        errors=(*KEY, "invalid_payload", "unknown_key"),
    ),
    ("GET", "/api/integration/orders/{order_id}"): Operation(
        id="get-order",
        summary="Read everything about an order",
        description="The order as sent, its status log, and the invoices that were linked.",
        tag=_TAG,
        parameters=(Parameter("orderId", "path", "The orderId sent at creation.", {"type": "string"}),),
        answers={200: Answer(OrderShown, "The order.")},
        errors=(*KEY, "order_not_found"),
    ),
    ("POST", "/api/integration/orders/cancel"): Operation(
        id="cancel-order",
        summary="Cancel an order",
        description="Cancels an order that is neither delivered nor cancelled.",
        tag=_TAG,
        request=CancelSerializer,
        request_example={"orderId": "A-1001"},
        parameters=(PREFER,),
        answers={
            200: Answer(Done, "Cancelled.", {"success": True, "message": "Objeto cancelado com sucesso"}, _WARNINGS)
        },
        errors=(*KEY, *BODY, "order_not_found", "already_delivered", "already_cancelled"),
        statuses=dict.fromkeys(("malformed_body", "unsupported_media_type", "invalid_payload"), 400),
    ),
    ("GET", "/api/integration/orders/tracking"): Operation(
        id="track-orders",
        summary="Track orders",
        description="At most ten orders of the seller, the newest first. Without a result `success` is false.",
        tag=_TAG,
        parameters=(
            Parameter(
                "type",
                "query",
                "What `value` is.",
                {"type": "string", "enum": ["document", "order_number"]},
                required=True,
                example="order_number",
            ),
            Parameter(
                "value",
                "query",
                "The receiver's document; or a tracking code, orderId, shipping id, invoice key or invoice number.",
                {"type": "string", "minLength": 1},
                required=True,
                example="A-1001",
            ),
            Parameter("document", "query", "The receiver's document, as a further filter."),
            PREFER,
        ),
        answers={200: Answer(OrdersFound | NothingFound, "The orders, or that there is none.", headers=_WARNINGS)},
        errors=(*KEY, "search_value_missing", "invalid_payload", "unknown_key"),
    ),
}

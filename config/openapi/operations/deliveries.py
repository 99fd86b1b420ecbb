"""The specification's five operations of immediate delivery."""

from typing import TypedDict

from common.json_types import Brl
from config.openapi.headers import IDEMPOTENCY_KEY, PREFER, QUOTE_ID, SANDBOX_SPEED
from config.openapi.operation import Answer, Operation
from config.openapi.operations import examples
from config.openapi.operations.common import BODY, DELIVERY_ID, IDEMPOTENCY, TOKEN
from delivery.api.serializers import CancelSerializer, DeliveryRequestSerializer
from delivery.body_types import Creation, Info, Location

_TAG = "Immediate delivery"
_BODY_HEADERS = ("Rota-Warnings", "Preference-Applied")


class QuoteAnswer(TypedDict):
    """The price of a delivery."""

    shippingValue: Brl


def _links(*operations: str) -> dict[str, object]:
    """Operations that take the deliveryId of this answer."""
    return {
        operation: {"operationId": operation, "parameters": {"deliveryId": "$response.body#/deliveryId"}}
        for operation in operations
    }


OPERATIONS = {
    ("POST", "/api/quotation-delivery"): Operation(
        id="quotation-delivery",
        summary="Quote a delivery",
        description="The price of the delivery that request-delivery would create. Creates nothing.",
        tag=_TAG,
        request=DeliveryRequestSerializer,
        request_example=examples.DELIVERY_REQUEST,
        parameters=(PREFER,),
        answers={
            200: Answer(
                QuoteAnswer,
                "The price.",
                {"shippingValue": 9.9},
                ("Quote-Id", "Quote-Expires", "Pickup-Linked", *_BODY_HEADERS),
            )
        },
        errors=(*TOKEN, *BODY, "outside_service_area", "price_unavailable"),
    ),
    ("POST", "/api/request-delivery"): Operation(
        id="request-delivery",
        summary="Request a delivery",
        description=(
            "Creates a delivery and offers its whole route to drivers. Send an Idempotency-Key: then a repeated call "
            "cannot create a second one."
        ),
        tag=_TAG,
        request=DeliveryRequestSerializer,
        request_example=examples.DELIVERY_REQUEST,
        parameters=(IDEMPOTENCY_KEY, QUOTE_ID, PREFER, SANDBOX_SPEED),
        answers={
            201: Answer(
                Creation,
                "The delivery.",
                examples.CREATION,
                ("Idempotency-Replayed", *_BODY_HEADERS),
                _links("info-delivery", "location-delivery", "cancel-delivery", "get-delivery"),
            )
        },
        errors=(
            *TOKEN,
            *BODY,
            *IDEMPOTENCY,
            "outside_service_area",
            "price_unavailable",
            "pickup_not_linked",
            "quote_expired",
            "quote_mismatch",
            "invalid_sandbox_speed",
            "too_many_simulations",
        ),
    ),
    ("POST", "/api/cancel-delivery/{delivery_id}"): Operation(
        id="cancel-delivery",
        summary="Cancel a delivery",
        description=(
            "Fails the open orders. After pickup the driver returns to A with the goods, and a fee may be due. "
            "Cancelling again changes nothing and is answered alike."
        ),
        tag=_TAG,
        request=CancelSerializer,
        request_example={"reason": "The customer gave up"},
        is_body_required=False,
        parameters=(DELIVERY_ID, PREFER),
        answers={200: Answer(Info, "The delivery, its open orders FAILED.", None, _BODY_HEADERS)},
        errors=(*TOKEN, *BODY, "delivery_not_found", "invalid_delivery_id", "already_finished"),
    ),
    ("GET", "/api/info-delivery/{delivery_id}"): Operation(
        id="info-delivery",
        summary="Read a delivery",
        description="Price, driver and the status of each order.",
        tag=_TAG,
        parameters=(DELIVERY_ID,),
        answers={200: Answer(Info, "The delivery.", examples.INFO)},
        errors=(*TOKEN, "delivery_not_found"),
    ),
    ("GET", "/api/location-delivery/{delivery_id}"): Operation(
        id="location-delivery",
        summary="Locate the driver",
        description="The latest position of the driver, from acceptance until the route is closed.",
        tag=_TAG,
        parameters=(DELIVERY_ID,),
        answers={200: Answer(Location, "The position, or why there is none.", examples.LOCATION)},
        errors=(*TOKEN, "delivery_not_found"),
    ),
}

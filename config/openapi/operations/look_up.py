"""Finding deliveries, and what webhooks carried."""

from typing import Annotated, TypedDict

from common.json_types import Json, Moment, Uuid, one_of
from config.openapi.headers import PREFER
from config.openapi.operation import Answer, Operation, Parameter
from config.openapi.operations.common import ANY, CREATED_FROM, CREATED_TO, CURSOR, DELIVERY_ID, LIMIT, TOKEN
from delivery.body_types import DeliveryDetail, DeliverySummary, Event
from delivery.lifecycle import Status
from delivery.models import EventState

_TAG = "Find and read"
_WARNINGS = ("Rota-Warnings", "Preference-Applied")


class DeliveryPage(TypedDict):
    """`nextCursor` is null on the last page."""

    data: list[DeliverySummary]
    nextCursor: str | None


class CarriedEvent(TypedDict):
    """`body` is what the webhook carries, byte for byte. `sequence` counts within the delivery."""

    id: Uuid
    sequence: Annotated[int, Json("1, 2, 3 … within the delivery")]
    createdAt: Moment
    sentAt: Moment | None
    state: Annotated[str, one_of(EventState.values)]
    body: Event


class EventPage(TypedDict):
    """`nextCursor` is there also at the end: ask again with it."""

    data: list[CarriedEvent]
    nextCursor: str


OPERATIONS = {
    ("GET", "/api/deliveries"): Operation(
        id="list-deliveries",
        summary="Find deliveries",
        description="The deliveries of the token's account and environment, the newest first, in pages.",
        tag=_TAG,
        parameters=(
            Parameter(
                "externalId", "query", "The externalId of any drop-off, exactly.", {"type": "string", "maxLength": 255}
            ),
            Parameter(
                "status", "query", "The status of the delivery.", {"type": "string", "enum": [s.value for s in Status]}
            ),
            CREATED_FROM,
            CREATED_TO,
            LIMIT,
            CURSOR,
            PREFER,
        ),
        answers={
            200: Answer(
                DeliveryPage,
                "A page.",
                headers=_WARNINGS,
                links={
                    "get-delivery": {
                        "operationId": "get-delivery",
                        "parameters": {"deliveryId": "$response.body#/data/0/deliveryId"},
                    }
                },
            )
        },
        errors=(*TOKEN, "invalid_query", "unknown_key", "invalid_cursor"),
    ),
    ("GET", "/api/deliveries/{delivery_id}"): Operation(
        id="get-delivery",
        summary="Read everything about a delivery",
        description="Both statuses, every moment, failure reasons, cancellation, price, history and its webhooks.",
        tag=_TAG,
        parameters=(DELIVERY_ID,),
        answers={200: Answer(DeliveryDetail, "The delivery.")},
        errors=(*TOKEN, "delivery_not_found"),
    ),
    ("GET", "/api/photos/{signed}"): Operation(
        id="get-photo",
        summary="Read a photo",
        description=(
            "A photo that the driver took. The address is in `orders[].proof.photos[].url` of get-delivery. It needs "
            "no token, and works for an hour."
        ),
        tag=_TAG,
        parameters=(Parameter("signed", "path", "The end of the address."),),
        answers={200: Answer(None, "The photo.", media_type="image/jpeg")},
        errors=(*ANY, "photo_not_found"),
    ),
    ("GET", "/api/events"): Operation(
        id="list-events",
        summary="Read what webhooks carried",
        description="The events of the last 30 days, the oldest first. For reconciliation after an outage.",
        tag=_TAG,
        parameters=(Parameter("after", "query", "`nextCursor` of the answer before."), LIMIT, PREFER),
        answers={200: Answer(EventPage, "A page.", headers=_WARNINGS)},
        errors=(*TOKEN, "invalid_query", "unknown_key", "invalid_cursor"),
    ),
}

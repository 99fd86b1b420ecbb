"""The endpoint of carriers, who report what has become of parcels."""

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from common.api.openapi import Answer, example_body
from common.api.serializers import BodySerializer
from integration import lifecycle
from integration.actions.orders import Details
from integration.api import problems
from integration.api.authentication import CarrierKeyAuthentication, HasCarrierKey
from integration.api.fields import REQUIRED, ChoiceField, IdentifierField, OptionalTextField
from integration.api.serializers import ReportSerializer
from integration.api.views import IntegrationViewSet
from integration.bodies import MayWarn
from integration.carriers import actions as carriers
from integration.carriers import movements
from integration.carriers.movements import MOST_EVENTS, Movement, Outcome
from integration.errors import AmbiguousTrackingCode, EventIdReused, InvalidStatusReport, UnknownTrackingCode
from integration.lifecycle import Status
from integration.models import CarrierKey
from integration.models.movement import LONGEST_EVENT_ID

# What an event can be answered with, beside `move_refused`. The call itself is answered with 200.
_EVENT_ERRORS = (UnknownTrackingCode, AmbiguousTrackingCode, EventIdReused, InvalidStatusReport)


_EVENT_ID = IdentifierField(max_length=LONGEST_EVENT_ID)
_EVENT: dict[str, Any] = {
    "eventId": "ev-1", "trackingCode": "AA123456785BR", "status": "delivery_failed", "code": "ABSENT",
    "place": "Salvador/BA", "occurredAt": "2026-11-20T10:00:00-03:00",
}  # fmt: skip  # an event


class EventSerializer(ReportSerializer):
    """An event of a parcel. One that is not as described is refused by itself."""

    eventId = IdentifierField(max_length=LONGEST_EVENT_ID, help_text="Of your own, new for each event.")
    trackingCode = IdentifierField()
    seller = OptionalTextField(
        max_length=20, help_text="The reference of the order's seller, for a code that orders of several have."
    )
    status = ChoiceField(choices=[status.value for status in lifecycle.BY_CARRIER])


@dataclass(frozen=True)
class InvalidEvent:
    """An event that is not valid. `event_id`: None if it has no valid one."""

    event_id: str | None
    errors: Any


class _EachEvent(serializers.ListSerializer[Any]):
    """Validates each event by itself: the others of a call are recorded beside an invalid one."""

    def run_child_validation(self, data: Any) -> Movement | InvalidEvent:
        try:
            valid = self.child.run_validation(data)  # type: ignore[union-attr]  # it has a child
        except serializers.ValidationError as error:
            return InvalidEvent(_event_id(data), error.detail)
        details = ReportSerializer.details_of(valid)
        return Movement(
            event_id=valid["eventId"],
            tracking_code=valid["trackingCode"],
            status=Status(valid["status"]),
            seller=valid.get("seller") or "",
            content=_digest(details),
            **vars(details),
        )


def _digest(details: Details) -> bytes:
    moment = details.happened_at and details.happened_at.timestamp()
    said = (details.reason_code, details.reason, details.place, moment)
    return hashlib.sha256(repr(said).encode()).digest()


def _event_id(event: Any) -> str | None:
    """That of an event that is not valid, if it can be told from others by it."""
    try:
        return _EVENT_ID.run_validation(event.get("eventId")) if isinstance(event, dict) else None
    except serializers.ValidationError:
        return None


@example_body({"events": [_EVENT]})
class EventsSerializer(BodySerializer):
    """Body of a call with events. They take effect in their sequence, each by itself."""

    events: serializers.ListSerializer[Any] = _EachEvent(
        child=EventSerializer(),
        min_length=1,
        max_length=MOST_EVENTS,
        error_messages={
            **REQUIRED,
            "not_a_list": "Deve ser uma lista.",
            "min_length": "Pelo menos um evento.",
            "max_length": "No máximo {max_length} eventos.",
        },
    )

    @property
    def read(self) -> list[Movement | InvalidEvent]:
        found: list[Movement | InvalidEvent] = self.validated_data["events"]
        return found


class EventAnswer(TypedDict):
    """What has become of an event. `eventId` is null if the event has no valid one.

    `code`: `moved`; `already`, if the order had the status; otherwise why nothing was recorded.
    """

    eventId: str | None
    success: bool
    code: str
    message: str


class EventsAnswered(MayWarn, TypedDict):
    """The events in the sequence in which they were sent."""

    success: Literal[True]
    data: list[EventAnswer]


def event_answer(outcome: Outcome) -> EventAnswer:
    return {
        "eventId": outcome.event_id,
        "success": outcome.succeeded,
        "code": outcome.code,
        "message": outcome.message,
    }


def invalid_event(event_id: str | None, message: str) -> EventAnswer:
    return {"eventId": event_id, "success": False, "code": "invalid_payload", "message": message}


@extend_schema(tags=["Tracking by carriers"])
class CarrierEventViewSet(IntegrationViewSet):
    """What carriers report of the orders that are assigned to them."""

    authentication_classes = [CarrierKeyAuthentication]
    permission_classes = [HasCarrierKey]

    @extend_schema(
        operation_id="report-events",
        request=EventsSerializer,
        responses={
            200: Answer(
                EventsAnswered,
                "An answer to each event. `invalid_payload`: The event is not as described; `message` names its keys. "
                + " ".join(f"`{error.code}`: {error.meaning}" for error in _EVENT_ERRORS),
                example={
                    "success": True,
                    "data": [
                        {"eventId": "ev-1", "success": True, "code": "moved", "message": "Registrado: delivery_failed"}
                    ],
                },
            )
        },
    )
    def create(self, request: Request) -> Response:
        """Report events of parcels.

        At most 100, which take effect in their sequence, each by itself: one that is refused, or is not as described,
        changes nothing of the others and is answered in its place. An event that was recorded changes nothing when it
        is sent again. Only live orders that are assigned to the carrier are found.
        """
        assert isinstance(request.auth, CarrierKey)  # noqa: S101  # nosec B101  # HasCarrierKey has checked it
        carrier = request.auth.carrier
        events = self.read_body(EventsSerializer(data=request.data)).read
        outcomes = iter(
            movements.record(
                [event for event in events if isinstance(event, Movement)],
                orders=carriers.orders_of(carrier),
                source=carrier.source,
                by=carrier.actor,
                at=clock.now(),
            )
        )
        data = [
            event_answer(next(outcomes))
            if isinstance(event, Movement)
            else invalid_event(event.event_id, problems.in_words(event.errors))
            for event in events
        ]
        return Response(EventsAnswered(success=True, data=data))

"""Moves of the sandbox."""

from typing import Any

from config.openapi.headers import PREFER
from config.openapi.operation import Answer, Operation, Parameter
from config.openapi.operations.common import BODY, DELIVERY_ID, TOKEN
from delivery.api.sandbox import DeliverSerializer, FailSerializer, NoFieldsSerializer, PositionSerializer
from delivery.body_types import DeliveryDetail
from delivery.simulation import by_hand

_POINT = Parameter("point", "path", "The drop-off.", {"type": "string", "enum": ["B", "C", "D"]})
_SUMMARIES = {
    "accept": "Have a simulated driver accept",
    "collect": "Collect at A",
    "deliver": "Deliver at a drop-off",
    "fail": "Fail at a drop-off",
    "return": "Return to A",
    "position": "Set the driver's position",
    "expire": "Let the offer expire now",
}
_REQUESTS = {"deliver": DeliverSerializer, "fail": FailSerializer, "position": PositionSerializer}
_EXAMPLES: dict[str, dict[str, Any]] = {
    "deliver": {},
    "fail": {"reason": "Closed"},
    "position": {"latitude": -23.556, "longitude": -46.655},
}


def _operation(move: str) -> Operation:
    has_point = move in ("deliver", "fail")
    return Operation(
        id=f"sandbox-{move}",
        summary=_SUMMARIES[move],
        description="With a live token the answer is 404. After it the simulated driver makes no move by itself.",
        tag="Sandbox",
        request=_REQUESTS.get(move, NoFieldsSerializer),
        request_example=_EXAMPLES.get(move, {}),
        is_body_required=move == "position",
        parameters=(DELIVERY_ID, *([_POINT] if has_point else []), PREFER),
        answers={
            200: Answer(DeliveryDetail, "The delivery after the move.", None, ("Rota-Warnings", "Preference-Applied"))
        },
        errors=(
            *TOKEN,
            *BODY,
            *(("outside_service_area",) if move == "position" else ()),
            "delivery_not_found",
            "move_refused",
            "route_taken",
            "offer_expired",
            "stop_not_found",
            "stop_not_open",
            "no_driver_assigned",
            *(("pin_required", "wrong_pin", "pin_locked") if move == "deliver" else ()),
        ),
    )


OPERATIONS = {
    ("POST", f"/api/sandbox/deliveries/{{delivery_id}}/{move}" + ("/{point}" if move in ("deliver", "fail") else "")): (
        _operation(move)
    )
    for move in by_hand.MOVES
}

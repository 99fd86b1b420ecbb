"""What the description of the API says of the webhook of a delivery."""

from typing import Any

from drf_spectacular.utils import OpenApiWebhook


def _header(name: str, description: str, schema: dict[str, Any] | None = None, *, required: bool = True) -> Any:
    return {
        "name": name,
        "in": "header",
        "description": description,
        "required": required,
        "schema": schema or {"type": "string"},
    }


# As OpenAPI has it, because drf-spectacular makes no headers and no operationId of webhooks.
_OPERATION: dict[str, Any] = {
    "operationId": "delivery-webhook",
    "summary": "A delivery has changed",
    "description": (
        "Sent to the URL of the account and environment for every change that an integrator can see, at least once, in "
        "order for each delivery. Answer with 2xx within 15 seconds; otherwise it is sent again, 17 times within 72 "
        "hours."
    ),
    "tags": ["Webhooks"],
    "security": [{"token": []}],
    "parameters": [
        _header(
            "webhook-id",
            "The event's id, the same for every retry and replay.",
            {"type": "string", "format": "uuid"},
        ),
        _header("webhook-timestamp", "When this attempt was made, in seconds since 1970.", {"type": "integer"}),
        _header("webhook-signature", "Standard Webhooks `v1` signatures, one for each valid secret."),
        _header("webhook-sequence", "1, 2, 3 … within the delivery.", {"type": "integer", "minimum": 1}),
        _header("webhook-test", "`true` on test events only.", {"type": "string", "enum": ["true"]}, required=False),
    ],
    # `GET /api/events` answers with the component too.
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Event"}}},
    },
    "responses": {
        "2XX": {"description": "Received. Nothing else ends the retries, except 410."},
        "410": {"description": "Switches the endpoint off; events are kept."},
    },
}
WEBHOOK = OpenApiWebhook("delivery", {"post": _OPERATION})

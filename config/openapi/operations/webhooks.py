"""The webhook of a delivery."""

from config.openapi.operation import Parameter

WEBHOOK_TEXT = (
    "Sent to the URL of the account and environment for every change that an integrator can see, at least once, in "
    "order for each delivery. Answer with 2xx within 15 seconds; otherwise it is sent again, 17 times within 72 hours."
)
WEBHOOK_HEADERS = (
    Parameter(
        "webhook-id",
        "header",
        "The event's id, the same for every retry and replay.",
        {"type": "string", "format": "uuid"},
        required=True,
    ),
    Parameter(
        "webhook-timestamp",
        "header",
        "When this attempt was made, in seconds since 1970.",
        {"type": "integer"},
        required=True,
    ),
    Parameter(
        "webhook-signature", "header", "Standard Webhooks `v1` signatures, one for each valid secret.", required=True
    ),
    Parameter(
        "webhook-sequence", "header", "1, 2, 3 … within the delivery.", {"type": "integer", "minimum": 1}, required=True
    ),
    Parameter("webhook-test", "header", "`true` on test events only.", {"type": "string", "enum": ["true"]}),
)

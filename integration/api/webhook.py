"""What the description of the API shows of webhooks about orders."""

from common.api.openapi import webhook

WEBHOOK = webhook(
    "order",
    summary="The status of an order has changed",
    sent="Sent to the URL of the seller and environment for every entry of the status log",
    subject="order",
    event="SellerOrderEvent",  # `GET /api/integration/events` answers with the component too
    security=[],  # beside the signature, what the seller has chosen
    headers={
        "Rota-Tracking-Url": "The receiver's page of the order, without a log-in, until 30 days after the order's end."
    },
)

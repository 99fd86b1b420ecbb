"""The headers of a webhook request, for sending it and for showing later what was sent. Pure."""


def build(
    *, authorization: str, webhook_id: str, timestamp: int, signature: str, sequence: int, is_test: bool
) -> dict[str, str]:
    """All headers but those that the HTTP client adds: Host, Accept, Accept-Encoding and Content-Length."""
    headers = {
        "Authorization": authorization,
        "Content-Type": "application/json",
        "User-Agent": "Rota-Webhooks/1",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
        "webhook-sequence": str(sequence),
    }
    if is_test:
        headers["webhook-test"] = "true"
    return headers

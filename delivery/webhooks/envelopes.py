"""What goes with a body: the address, the token, the signature and the other headers."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from cryptography.fernet import InvalidToken

from delivery.models import Token, WebhookEndpoint
from delivery.webhooks import signing
from delivery.webhooks.queue import Claimed
from delivery.webhooks.sending import Outgoing


class NotSendable(Exception):
    """The event cannot be sent now; `str(error)` is the error class that its attempt is given."""


class Envelopes:
    """For events of one claim. Everything they need of the database is read at once, and nothing is kept for later."""

    def __init__(self, events: Sequence[Claimed], *, at: datetime) -> None:
        self._at = at
        self._endpoints = WebhookEndpoint.objects.in_bulk({event.endpoint_id for event in events})
        self._tokens = Token.objects.in_bulk({event.token_id for event in events if event.token_id is not None})
        self._newest = self._newest_tokens(event for event in events if self._own_token(event) is None)

    def around(self, event: Claimed) -> Outgoing:
        """The request that carries the event. Raises NotSendable."""
        endpoint = self._endpoints[event.endpoint_id]
        token = self._own_token(event) or self._newest.get((endpoint.integrator_id, endpoint.environment))
        if token is None:  # without one it would be taken for a forgery
            raise NotSendable("no_valid_token")
        body = event.body.encode()
        timestamp = int(self._at.timestamp())
        try:
            secrets = endpoint.secrets(at=self._at)
            authorization = f"Bearer {token.clear_text}"
        except InvalidToken as error:  # not with today's CREDENTIALS_KEYS
            raise NotSendable("secrets_unreadable") from error
        headers = {
            "Authorization": authorization,
            "Content-Type": "application/json",
            "User-Agent": "Rota-Webhooks/1",
            "webhook-id": str(event.event_id),
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signing.sign(
                webhook_id=str(event.event_id), timestamp=timestamp, body=body, secrets=secrets
            ),
            "webhook-sequence": str(event.sequence),
        }
        if event.is_test:
            headers["webhook-test"] = "true"
        return Outgoing(url=endpoint.url, headers=headers, body=body)

    def _own_token(self, event: Claimed) -> Token | None:
        """The token that requested the delivery, while it is valid."""
        token = self._tokens.get(event.token_id) if event.token_id else None
        return token if token is not None and token.is_valid(at=self._at) else None

    def _newest_tokens(self, events: Iterable[Claimed]) -> dict[tuple[UUID, str], Token]:
        """The newest valid token of each account and environment that these events belong to."""
        accounts = {self._endpoints[event.endpoint_id].integrator_id for event in events}
        if not accounts:
            return {}
        tokens = Token.objects.valid(at=self._at).filter(integrator__in=accounts).order_by("created_at")
        return {(token.integrator_id, token.environment): token for token in tokens}

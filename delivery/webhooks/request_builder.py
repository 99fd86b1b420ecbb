"""Builds the HTTP request of a claimed item: URL, token, signature and other headers."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.db.models import Model

from common.compiled_queries import CompiledQuery, Parameter
from common.expressions import any_of
from common.webhooks import signing
from common.webhooks.http_client import Request, StoredHead
from delivery.models import Token, WebhookEndpoint
from delivery.webhooks.queue import ClaimedItem

M = TypeVar("M", bound=Model)
_ENDPOINTS = CompiledQuery(lambda: WebhookEndpoint.objects.filter(any_of("pk", Parameter("ids"))).order_by())
_TOKENS = CompiledQuery(lambda: Token.objects.filter(any_of("pk", Parameter("ids"))).order_by())


class NotSendable(Exception):
    """The event cannot be sent now, for a reason on our side: `no_valid_token` or `secrets_unreadable`."""


class RequestBuilder:
    """Builds the requests of items that were claimed together.

    Reads endpoints and tokens of all items in at most three queries. To be used once and dropped, so that a revoked
    token or a replaced secret is not used by a later claim.
    """

    def __init__(self, items: Sequence[ClaimedItem], *, at: datetime) -> None:
        self._at, self._timestamp = at, int(at.timestamp())
        self._endpoints = _by_id(_ENDPOINTS, {item.endpoint_id for item in items})
        self._tokens = _by_id(_TOKENS, {item.token_id for item in items if item.token_id is not None})
        self._newest = self._newest_tokens(item for item in items if self._requesting_token(item) is None)

    def build(self, item: ClaimedItem) -> Request:
        """The request that sends the item's event. Raises NotSendable."""
        endpoint = self._endpoints[item.endpoint_id]
        token = self._requesting_token(item) or self._newest.get((endpoint.integrator_id, endpoint.environment))
        if token is None:  # without one the integrator would refuse it as a forgery
            raise NotSendable("no_valid_token")
        body, webhook_id = item.body.encode(), str(item.event_id)
        try:
            secrets = endpoint.secrets(at=self._at)
            clear_text = token.clear_text
        except InvalidToken as error:  # no key of CREDENTIALS_KEYS decrypts it
            raise NotSendable("secrets_unreadable") from error
        signature = signing.sign(webhook_id=webhook_id, timestamp=self._timestamp, body=body, secrets=secrets)
        headers = signing.headers(
            authorization={"Authorization": f"Bearer {clear_text}"},
            webhook_id=webhook_id,
            timestamp=self._timestamp,
            signature=signature,
            sequence=item.sequence,
            is_test=item.is_test,
        )
        stored = StoredHead(endpoint.url, token.hint, self._timestamp, signature)
        return Request(endpoint.url, headers, body, stored, secrets=[clear_text, *signing.parts(signature)])

    def _requesting_token(self, item: ClaimedItem) -> Token | None:
        """The token that requested the item's delivery, or None where there is none or it is no longer valid."""
        token = self._tokens.get(item.token_id) if item.token_id else None
        return token if token is not None and token.is_valid(at=self._at) else None

    def _newest_tokens(self, items: Iterable[ClaimedItem]) -> dict[tuple[UUID, str], Token]:
        """The newest valid token of each account and environment of these items, by integrator and environment."""
        integrators = {self._endpoints[item.endpoint_id].integrator_id for item in items}
        if not integrators:
            return {}
        # In ascending order, so that the newest of an account and environment is the one that remains.
        tokens = Token.objects.valid(at=self._at).filter(integrator__in=integrators).order_by("created_at")
        return {(token.integrator_id, token.environment): token for token in tokens}


def _by_id(query: CompiledQuery[M], ids: Iterable[Any]) -> dict[Any, M]:
    return {found.pk: found for found in query.all(ids=list(ids))}

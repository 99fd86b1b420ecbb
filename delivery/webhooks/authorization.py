"""Which token an event carries: the one that requested its delivery, else the newest valid one of the account.

And the header that tells of a failure.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg

from common.fields import any_of
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.webhooks.errors import EndpointCannotSend
from common.webhooks.outbox import Authorization, Authorize, ClaimedItem, NotSendable
from delivery.models import Token, WebhookEndpoint, WebhookEvent

# One row for each token, because many deliveries are requested with one.
_OF_DELIVERIES: CompiledQuery[Any] = CompiledQuery(
    lambda: (
        Token.objects.filter(any_of("deliveries__pk", Parameter("ids")))
        .annotate(delivery_ids=ArrayAgg("deliveries__pk"))
        .order_by()
    )
)

# Events of failures only, which are few.
_FAILURES: CompiledQuery[Any] = CompiledQuery(
    lambda: WebhookEvent.objects.filter(any_of("pk", Parameter("ids"))).exclude(failure="").only("failure").order_by()
)


def authorizations(items: Sequence[ClaimedItem], endpoints: Mapping[int, WebhookEndpoint], at: datetime) -> Authorize:
    """See `Outbox.authorizations`. Reads tokens and failures of all items in at most three queries."""
    deliveries = [item.subject_id for item in items if not item.is_test]
    found = _OF_DELIVERIES.all(ids=deliveries) if deliveries else []
    requesting = {key: token for token in found if token.is_valid(at=at) for key in token.delivery_ids}
    others = (endpoints[item.endpoint_id] for item in items if item.subject_id not in requesting)
    failures = {event.pk: event.own_headers for event in _FAILURES.all(ids=[item.event_id for item in items])}
    newest = _newest_tokens({endpoint.integrator_id for endpoint in others}, at=at)

    def authorize(item: ClaimedItem) -> Authorization:
        endpoint = endpoints[item.endpoint_id]
        token = requesting.get(item.subject_id) or newest.get((endpoint.integrator_id, endpoint.environment))
        if token is None:  # without one the integrator would refuse it as a forgery
            raise NotSendable("no_valid_token")
        clear_text = token.clear_text
        headers = {"Authorization": f"Bearer {clear_text}", **failures.get(item.event_id, {})}
        return Authorization(headers, [clear_text], token.hint)

    return authorize


def check_authorization(endpoint: WebhookEndpoint, at: datetime) -> None:
    """Raises EndpointCannotSend if the account has no valid token."""
    tokens = Token.objects.valid(at=at).filter(integrator=endpoint.integrator_id, environment=endpoint.environment)
    if not tokens.exists():
        raise EndpointCannotSend("The account has no valid token, which every webhook carries; issue one first.")


def _newest_tokens(integrators: Iterable[UUID], *, at: datetime) -> dict[tuple[UUID, str], Token]:
    """The newest valid token of each account and environment, by integrator and environment."""
    if not integrators:
        return {}
    # In ascending order, so that the newest of an account and environment is the one that remains.
    tokens = Token.objects.valid(at=at).filter(integrator__in=integrators).order_by("created_at")
    return {(token.integrator_id, token.environment): token for token in tokens}

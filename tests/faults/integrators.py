"""Integrators, each with one endpoint or more."""

from django.utils import timezone

from common.webhooks import endpoints
from common.webhooks.endpoints import CheckedUrl
from delivery.models import Token, WebhookEndpoint
from tests.factories import BY, TokenFactory


def create(url: str, *, sandbox: bool = False) -> Token:
    """The token of a new integrator whose webhooks are sent to `url`."""
    token = TokenFactory.create(sandbox=sandbox)
    _set_url(token.integrator.endpoints.get(environment=token.environment), url)
    return token


def remove_url(token: Token) -> None:
    """Send nothing more to the integrator."""
    for endpoint in WebhookEndpoint.of(token.integrator_id, token.environment):
        _set_url(endpoint, "")


def _set_url(endpoint: WebhookEndpoint, url: str) -> None:
    # Not checked, because the fake names are known to the worker only.
    endpoints.store_url(endpoint=endpoint, url=CheckedUrl(url), by=BY, at=timezone.now())

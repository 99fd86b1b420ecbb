"""Integrators, each with one endpoint or more, and a seller with one."""

from django.utils import timezone

from common.webhooks import endpoints
from common.webhooks.endpoints import CheckedUrl
from common.webhooks.models import Endpoint
from delivery.models import Token, WebhookEndpoint
from integration.models import Seller
from integration.models import WebhookEndpoint as EndpointOfSeller
from tests.factories import BY, TokenFactory
from tests.integration.factories import OTHER_COMPANY, SellerFactory


def create(url: str, *, sandbox: bool = False) -> Token:
    """The token of a new integrator whose webhooks are sent to `url`."""
    token = TokenFactory.create(sandbox=sandbox)
    _set_url(token.integrator.endpoints.get(environment=token.environment), url)
    return token


def remove_url(token: Token) -> None:
    """Send nothing more to the integrator."""
    for endpoint in WebhookEndpoint.of(token.integrator_id, token.environment):
        _set_url(endpoint, "")


def create_seller(url: str) -> Seller:
    """A new seller whose live orders are told to `url`."""
    seller = SellerFactory.create(documents=(OTHER_COMPANY,))
    set_url_of(seller, url)
    return seller


def set_url_of(seller: Seller, url: str) -> None:
    """Tell `url` of the seller's live orders; an empty one ends it."""
    _set_url(endpoints.first(EndpointOfSeller, owner=seller.pk, environment="live"), url)


def _set_url(endpoint: Endpoint, url: str) -> None:
    # Not checked, because the fake names are known to the worker only.
    endpoints.store_url(endpoint=endpoint, url=CheckedUrl(url), by=BY, at=timezone.now())

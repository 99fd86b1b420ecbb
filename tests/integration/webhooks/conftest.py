"""A seller whose live orders are told to `sink`, which answers as a test says."""

import asyncio

import pytest
from django.utils import timezone

from common.webhooks import endpoints
from common.webhooks.endpoints import CheckedUrl
from integration.models import WebhookEndpoint
from integration.webhooks.outbox import OUTBOX
from tests.common.webhooks.conftest import _send_due, sink  # noqa: F401  # a fixture
from tests.integration.factories import BY


@pytest.fixture
def send_due():
    """Send until nothing is due. The sender has its own connections and sees only what the test has committed."""
    return lambda: asyncio.run(_send_due(OUTBOX))


@pytest.fixture
def endpoint(seller):
    """The live endpoint of the seller, without a URL."""
    return endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")


@pytest.fixture
def told(endpoint, sink):  # noqa: F811  # the fixture
    """The live endpoint, with the URL of `sink`."""
    return endpoints.store_url(endpoint=endpoint, url=CheckedUrl(sink.url), by=BY, at=timezone.now())

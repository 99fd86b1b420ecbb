"""An endpoint that nobody listens at, and those who are told about it."""

import pytest
from django.contrib.auth.models import User

from delivery.actions import alerts, endpoints
from tests.common.webhooks.conftest import Sink, sink
from tests.delivery.alerting import NOW
from tests.factories import BY, TokenFactory

__all__ = ["Sink", "sink"]


@pytest.fixture
def endpoint(db):
    """Of an account named Loja, with a URL that nobody listens at."""
    token = TokenFactory.create(integrator__name="Loja")
    found = token.integrator.endpoints.get(environment="live")
    return endpoints.set_url(endpoint=found, url="http://127.0.0.1:9/hook", by=BY, at=NOW())


@pytest.fixture
def ana(endpoint):
    """An owner with an address, who is told everything in English."""
    user = User.objects.create_user("ana", "ana@example.com")
    membership = endpoint.integrator.memberships.create(user=user)
    wanted = dict.fromkeys(("failing", "off", "recovered", "digest"), True)
    alerts.choose(membership=membership, environment="live", wanted=wanted, language="en")
    return membership


@pytest.fixture
def channel(endpoint, sink):
    """The URL of the account's alerts."""
    sink.answers = [(200, {}, b"ok")]
    alerts.set_url(endpoint=endpoint, url=sink.url, language="en", by=BY, at=NOW())
    return sink

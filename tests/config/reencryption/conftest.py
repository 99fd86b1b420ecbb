"""An installation with everything that is encrypted."""

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from delivery.actions import endpoints
from tests.config.reencryption.reencrypting import OLD, PASSWORD
from tests.delivery.webhooks.conftest import send_due, sink  # noqa: F401  # fixtures
from tests.factories import BY, TokenFactory
from tests.integration.factories import SellerFactory


@pytest.fixture
def keys(settings):
    """Set CREDENTIALS_KEYS; under the old one to begin with."""

    def use(*chosen):
        settings.CREDENTIALS_KEYS = list(chosen)

    use(OLD)
    return use


@pytest.fixture
def token(keys, transactional_db, sink):  # noqa: F811
    token = TokenFactory.create()
    endpoint = token.integrator.endpoints.get(environment="live")
    endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
    endpoints.rotate_secret(endpoint=endpoint, by=BY, at=timezone.now())
    return token


@pytest.fixture
def endpoint(token):
    return token.integrator.endpoints.get(environment="live")


@pytest.fixture
def totp_secret():
    """Root's."""
    return totp.generate_totp_secret()


@pytest.fixture
def root(keys, transactional_db, totp_secret):
    """A superuser with a second factor."""
    user = User.objects.create_superuser("root", "", PASSWORD)
    totp.TOTP.activate(user, totp_secret)
    RecoveryCodes.activate(user)
    return user


@pytest.fixture
def seller(transactional_db):
    return SellerFactory.create()


@pytest.fixture
def browser(root, seller):
    """Root's, between the issue of a seller's key and the page that shows it."""
    client = Client()
    client.force_login(root)
    client.post(reverse("panel:seller", args=[seller.pk]))
    return client

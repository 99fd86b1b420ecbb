"""An installation with everything that is encrypted."""

from dataclasses import replace
from datetime import timedelta

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import personal_data
from access.models import PersonRequestKind as PersonKind
from access.personal_data import person
from common.files import kept_uploads
from common.mail import outbox
from common.mail.models import Kind
from common.webhooks import endpoints
from delivery.alerts import actions as alerts
from delivery.drivers import devices as driver_devices
from delivery.payload import Options
from delivery.receivers import actions as receivers
from integration.actions import webhooks
from integration.models import Authentication, WebhookEndpoint
from tests.common.webhooks.conftest import send_due, sink  # noqa: F401  # fixtures
from tests.config.reencryption.reencrypting import OLD, PASSWORD
from tests.delivery.connections.shops import shop
from tests.delivery.drivers.browsers import Browser
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory, validated_payload
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import SellerFactory


@pytest.fixture
def keys(settings):
    """Set CREDENTIALS_KEYS; under the old one to begin with."""

    def use(*chosen):
        settings.CREDENTIALS_KEYS = list(chosen)

    use(OLD)
    return use


@pytest.fixture
def token(keys, db, sink):  # noqa: F811
    token = TokenFactory.create()
    endpoint = token.integrator.endpoints.get(environment="live")
    endpoints.set_url(endpoint=endpoint, url=sink.url, by=BY, at=timezone.now())
    endpoints.rotate_secret(endpoint=endpoint, by=BY, at=timezone.now())
    shop(integrator=token.integrator)
    alerts.set_url(endpoint=endpoint, url=sink.url, language="en", by=BY, at=timezone.now())
    return token


@pytest.fixture
def endpoint(token):
    return token.integrator.endpoints.get(environment="live")


@pytest.fixture
def totp_secret():
    """Root's."""
    return totp.generate_totp_secret()


@pytest.fixture
def root(keys, db, totp_secret):
    """A superuser with a second factor."""
    user = User.objects.create_superuser("root", "", PASSWORD)
    totp.TOTP.activate(user, totp_secret)
    RecoveryCodes.activate(user)
    return user


@pytest.fixture
def message(keys, db, settings):
    """An e-mail that waits to be sent."""
    settings.EMAIL_URL = "smtp://127.0.0.1:9"
    return outbox.record(
        kind=Kind.INVITATION,
        recipient="ana@example.com",
        template="invitation",
        context={},
        language="en",
        at=timezone.now(),
        lifetime=timedelta(days=1),
        unsubscribe="https://rota.example.com/x",
    )


@pytest.fixture
def driver_and_receiver(keys, token):
    """A phone that receives messages, a drop-off with a PIN and a link, and a person whose data are to be forgotten."""
    now = timezone.now()
    dropoff = replace(validated_payload().dropoffs[0], options=Options(has_pin=True))
    delivery = DeliveryFactory.create(token=token, payload=validated_payload(dropoffs=[dropoff]))
    receivers.addresses(delivery.stops.all(), at=now)
    link = driver_devices.issue_link(driver=DriverFactory.create(), by=BY, at=now)
    device, _session = driver_devices.log_in(token=link, phone="", language="en", at=now)
    driver_devices.subscribe(device=device, **Browser("https://push.example/1").subscription, at=now)
    personal_data.record(person(phone="11 97777-0001"), kind=PersonKind.FORGET, by=BY, at=now)


@pytest.fixture
def upload(keys, db):
    """A file that waits to be confirmed."""
    return kept_uploads.keep("x", owner="user 1", kind="x", at=timezone.now())


@pytest.fixture
def seller(keys, db):
    """With a webhook that has two secrets and carries a token."""
    seller, now = SellerFactory.create(), timezone.now()
    endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
    endpoints.rotate_secret(endpoint=endpoint, by=BY, at=now)
    chosen = Authentication.parse("bearer:open-sesame")
    webhooks.set_authentication(endpoint=endpoint, authentication=chosen, by=BY, at=now)
    seller_shops.shop(seller=seller)
    return seller


@pytest.fixture
def browser(root, seller):
    """Root's, between the issue of a seller's key and the page that shows it."""
    client = Client()
    client.force_login(root)
    client.post(reverse("panel:seller", args=[seller.pk, "live"]))
    return client

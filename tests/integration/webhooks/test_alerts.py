"""E-mails to a seller's members about the health of its endpoints."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from common import credentials
from common.mail.models import Message
from common.webhooks import endpoints, health
from common.webhooks.endpoints import CheckedUrl
from integration.actions import webhooks
from integration.models import WebhookEndpoint
from tests.integration.factories import BY, create_order

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def mail_server(settings):
    settings.EMAIL_URL = "smtp://127.0.0.1:9"


@pytest.fixture
def failing(endpoint):
    for name in ("ana", "bia"):
        endpoint.seller.members.add(User.objects.create(username=name, email=f"{name}@example.com"))
    endpoint.seller.members.add(User.objects.create(username="gone", email="gone@example.com", is_active=False))
    endpoint.seller.members.add(User.objects.create(username="wrong", email="no address"))
    endpoint.seller.members.add(User.objects.create(username="none"))
    endpoints.store_url(endpoint=endpoint, url=CheckedUrl("http://127.0.0.1:9/hook"), by=BY, at=timezone.now())
    WebhookEndpoint.objects.update(failures=5, failing_since=timezone.now(), paused_until=timezone.now())
    return endpoint


def test_tell_the_members_once_that_it_fails_and_then_that_it_works(failing):
    create_order(failing.seller)
    now = timezone.now()

    reported = [webhooks.tell_changes(at=now), webhooks.tell_changes(at=now + timedelta(seconds=9))]
    later = now + health.PAUSE
    WebhookEndpoint.objects.update(failures=0, failing_since=None, last_success_at=later)
    reported.append(webhooks.tell_changes(at=later))

    assert reported == [1, 0, 1]
    found = Message.objects.order_by("pk").values_list("recipient", "subject")
    assert sorted(recipient for recipient, _subject in found) == ["ana@example.com"] * 2 + ["bia@example.com"] * 2
    assert "webhooks" in found[0][1]


def test_say_where_to_look_and_how_many_orders_wait(failing):
    create_order(failing.seller)

    webhooks.tell_changes(at=timezone.now())

    body = credentials.decrypt(Message.objects.all()[0].body_ciphertext)
    assert f"/panel/sellers/{failing.seller_id}/live/webhook/" in body
    assert "Pedidos com eventos esperando: 1" in body


def test_tell_nobody_of_the_sandbox(failing):
    WebhookEndpoint.objects.update(environment="sandbox")

    assert webhooks.tell_changes(at=timezone.now()) == 1
    assert not Message.objects.exists()


def test_tell_nobody_without_a_mail_server(failing, settings):
    settings.EMAIL_URL = ""

    assert webhooks.tell_changes(at=timezone.now()) == 1
    assert not Message.objects.exists()

"""What a member may not do from whom an owner has taken the right to request: nothing that acts for the account."""

from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from common.accounts import Role
from common.webhooks import endpoints
from delivery.alerts import actions as alerts
from delivery.alerts.models import EndpointAlerts
from delivery.models import IntegratorMembership, Token, WebhookEndpoint
from tests.factories import BY

HOOK = "http://127.0.0.1:9/hook"
REFUSED: dict[str, dict[str, Any]] = {
    "webhook": {"url": "http://127.0.0.1:9/other"},
    "webhook_secret": {},
    "webhook_secret_rotate": {"end_previous": "1"},
    "webhook_switch": {"enabled": "0"},
    "webhook_filter": {"statuses": ["FAILED"]},
    "webhook_remove": {},
    "webhook_add": {"url": "http://127.0.0.1:9/other", "statuses": ["FAILED"]},
    "alerts_url": {"url": "http://127.0.0.1:9/other"},
    "alerts_times": {"untaken_minutes": "50", "late_minutes": "50"},
    "token": {"name": "Other"},
    "token_rotate": {},
    "token_revoke": {},
}


@pytest.fixture
def without_right(member, shop, with_url):
    """The member's browser after an owner has taken the right. The shop has two endpoints and a URL for alerts."""
    endpoints.add(
        beside=with_url.endpoint,
        url=endpoints.check_url("http://127.0.0.1:9/further", of=None),
        statuses=list(with_url.endpoint.all_statuses()),
        by=BY,
        at=timezone.now(),
    )
    alerts.set_url(endpoint=with_url.endpoint, url=HOOK, language="en", by=BY, at=timezone.now())
    shop.integrator.memberships.create(user=User.objects.create_user("boss"), role=Role.OWNER)
    IntegratorMembership.objects.exclude(user__username="boss").update(role=Role.MEMBER, may_request=False)
    return member


def _state(shop):
    """All columns of what the pages change, but for moments of attempts."""
    return [[*model.objects.order_by("pk").values()] for model in (WebhookEndpoint, EndpointAlerts, Token)] + [
        [*shop.integrator.audit.order_by("pk").values()]
    ]


def test_is_refused_and_changes_nothing(without_right, shop, url):
    before = _state(shop)
    for page, number in product(REFUSED, ["", "endpoints/2/"]):
        path = url(page, *([shop.token.pk] if page.startswith("token") else []))

        answer = without_right.post(path.replace("/webhook/", f"/{number}webhook/"), REFUSED[page])

        assert answer.status_code == 403, (page, number)
        assert _state(shop) == before, (page, number)


def test_pages_show_neither_the_secret_nor_what_is_refused(without_right, shop, url):
    session = without_right.session
    session["fresh_secret"] = f"{WebhookEndpoint._meta.label} {shop.endpoint.pk}"  # asked for with the right
    session.save()

    content = without_right.get(url("webhook")).content.decode()

    assert shop.endpoint.secret not in content
    further = without_right.get(url("webhook").replace("/webhook/", "/endpoints/2/webhook/")).content.decode()
    for text in (content, further, *(without_right.get(url(page)).content.decode() for page in ("alerts", "tokens"))):
        for action in ("/secret/", "/switch/", "/filter/", "/remove/", "/url/", "/times/", "/add/", "Revoke"):
            assert action not in text
    assert "data-opens=" not in content + further
    assert 'method="post"' not in without_right.get(url("token", shop.token.pk)).content.decode().partition("<main")[2]


def test_what_the_person_is_told_and_tests_remain(without_right, shop, url):
    sent = [without_right.post(url(page)).status_code for page in ("alerts_choose", "alerts_test", "webhook_test")]

    assert sent == [302] * 3


def test_is_always_that_of_owners(without_right, shop, url):
    assert without_right.get(url("request")).status_code == 403
    shop.integrator.memberships.update(role=Role.OWNER)

    assert without_right.get(url("request")).status_code == 200

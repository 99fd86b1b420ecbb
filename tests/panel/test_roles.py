"""Every page of the panel against every role: who sees it, who learns nothing of it, who is sent to log in."""

import logging

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.actions import endpoints
from delivery.models import AuditEntry, Delivery, Token, WebhookEvent
from integration.models import ApiKey
from panel import urls
from tests.factories import BY
from tests.panel.conftest import ROLES

LOG_IN, NONE, FORBIDDEN, OK = "sent to log in", 404, 403, 200

# An account's and a seller's pages: its members and account staff.
OWN = dict.fromkeys(ROLES, NONE) | {
    "anonymous": LOG_IN, "member": OK, "account staff": OK, "superuser": OK,
}  # fmt: skip  # a table
EVERYBODY = dict.fromkeys(ROLES, OK) | {"anonymous": LOG_IN}
DISPATCH = dict.fromkeys(ROLES, FORBIDDEN) | {"anonymous": LOG_IN, "dispatcher": OK, "superuser": OK}

# name: (how it is asked for, what its address needs beside the account, who may)
PAGES = {
    "home": ("get", (), EVERYBODY),
    "board": ("get", (), DISPATCH),
    "board_routes": ("get", (), DISPATCH),
    "board_move": ("post", ("delivery.pk", "cancel"), DISPATCH),
    "overview": ("get", (), OWN),
    "plot": ("get", (), OWN),
    "deliveries": ("get", (), OWN),
    "delivery": ("get", ("delivery.pk",), OWN),
    "events": ("get", (), OWN),
    "events_resend": ("post", (), OWN),
    "events_progress": ("get", (), OWN),
    "event": ("get", ("event.pk",), OWN),
    "event_resend": ("post", ("event.pk",), OWN),
    "webhook": ("get", (), OWN),
    "webhook_test": ("post", (), OWN),
    "webhook_test_result": ("get", ("test.pk",), OWN),
    "webhook_switch": ("post", (), OWN),
    "webhook_secret": ("post", (), OWN),
    "webhook_secret_rotate": ("post", (), OWN),
    "tokens": ("get", (), OWN),
    "token": ("get", ("token.pk",), OWN),
    "token_rotate": ("post", ("token.pk",), OWN),
    "token_revoke": ("post", ("token.pk",), OWN),
    "quickstart": ("get", (), OWN),
    "activity": ("get", (), OWN),
    "seller": ("get", (), OWN),
    "key_revoke": ("post", ("key.pk",), OWN),
    "seller_quickstart": ("get", (), OWN),
}
RANGE = {"since": "2026-01-01T00:00", "until": "2026-01-02T00:00"}
SPAN = {"again_since": "2026-01-01T00:00:00+00:00", "again_until": "2026-01-02T00:00:00+00:00", "again_count": "1"}


def names(patterns):
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from names(pattern.url_patterns)
        else:
            yield pattern.name


def address(name, shop, arguments):
    values = [argument if "." not in argument else _value(shop, argument) for argument in arguments]
    if name in {"home", "board", "board_routes", "board_move"}:
        return reverse(f"panel:{name}", args=values)
    if name in {"seller", "key_revoke", "seller_quickstart"}:
        return reverse(f"panel:{name}", args=[shop.seller.pk, *values])
    return reverse(f"panel:{name}", args=[shop.integrator.pk, "live", *values])


def _value(shop, path):
    part, field = path.split(".")
    if part == "test":
        return endpoints.send_test(endpoint=shop.endpoint, by=BY, at=timezone.now()).pk
    return getattr(getattr(shop, part), field)


def ask(browser, name, shop):
    method, arguments, _who = PAGES[name]
    data = SPAN if name == "events_progress" else RANGE if name == "events_resend" else {}
    return getattr(browser, method)(address(name, shop, arguments), data)


def test_every_page_of_the_panel_stands_in_the_table():
    assert set(names(urls.urlpatterns)) == set(PAGES)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", PAGES)
def test_page(name, role, with_url, as_role):
    expected = PAGES[name][2][role]

    response = ask(as_role(role), name, with_url)

    if expected == LOG_IN:
        assert response.status_code == 302
        assert response.url.startswith("/account/login/?next=/panel/")
    elif expected == OK:
        assert response.status_code in {200, 302}
        assert not response.headers.get("Location", "").startswith("/account/login/")
    else:
        assert response.status_code == expected


@pytest.mark.parametrize("role", ["anonymous", "nobody", "stranger", "dispatcher"])
@pytest.mark.parametrize(
    "name", [name for name, (method, _args, who) in PAGES.items() if method == "post" and who is OWN]
)
def test_a_refused_post_changes_nothing(name, role, with_url, as_role, caplog):
    browser, before = as_role(role), state()

    with caplog.at_level(logging.WARNING, logger="panel.access"):
        response = ask(browser, name, with_url)

    assert response.status_code in {302, 404}
    assert state() == before
    if role != "anonymous":
        assert "which is not theirs" in caplog.text


@pytest.mark.parametrize("role", ["anonymous", "nobody", "stranger", "member", "account staff"])
def test_only_dispatchers_move_a_delivery(role, shop, as_role):
    response = ask(as_role(role), "board_move", shop)

    assert response.status_code in {302, 403}
    assert Delivery.objects.get(pk=shop.delivery.pk).status == "PENDING"


def state():
    """Everything that a page of an account or a seller could change."""
    return (
        list(Token.objects.order_by("pk").values_list("pk", "revoked_at", "expires_at")),
        list(WebhookEvent.objects.order_by("pk").values_list("pk", "state")),
        list(ApiKey.objects.order_by("pk").values_list("pk", "revoked_at")),
        AuditEntry.objects.count(),
    )


def test_sandbox_pages_know_nothing_of_live_things(shop, member):
    for name, key in [("delivery", shop.delivery.pk), ("event", shop.event.pk), ("token", shop.token.pk)]:
        address = reverse(f"panel:{name}", args=[shop.integrator.pk, "sandbox", key])

        assert member.get(address).status_code == 404

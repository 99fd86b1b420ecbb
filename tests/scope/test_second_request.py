"""Every request that writes, sent again a minute later: it changes nothing more, as the action that it calls."""

import re

import pytest
from django.db import connection
from django.utils import timezone

from tests.scope.routes import Requests, routes
from tests.scope.test_routes import asked, methods
from tests.scope.test_second_time import _LATER, AGAIN, changes, undone
from tests.scope.world import World

pytestmark = pytest.mark.django_db
# Of any caller, and of any call that is refused.
_OF_CALLS = re.compile(r".*\.last_used_at|(new )?\w+_refused\w+(\.refused)?|common_attemptcount\.count")
# The end of a route, and the action of AGAIN whose changes its second request may make.
ACTIONS = {
    "alerts/test/": "delivery.alerts.actions.send_test",
    "alerts/url/": "delivery.alerts.actions.set_url",
    "/position": "delivery.sandbox.by_hand.perform",
    "sandbox/<str:move>/": "delivery.sandbox.by_hand.perform",
    "resend/": "common.webhooks.replays.replay",
    "resend/selected/": "common.webhooks.replays.replay",
    "webhook/secret/": "common.webhooks.endpoints.show_secret",
    "webhook/test/": "common.webhooks.endpoints.send_test",
    "webhook/authentication/": "integration.actions.webhooks.set_authentication",
    "/pickup-points/": "delivery.accounts.pickup_points.add",
    "invitations/<int:invitation>/<str:change>/": "access.invitations.resend",
    "/tokens/": "delivery.accounts.tokens.issue",
    "/tokens/<uuid:token>/rotate/": "delivery.accounts.tokens.rotate",
    "panel/sellers/<int:seller>/<environment:environment>/": "integration.accounts.keys.issue",
    "panel/drivers/<uuid:driver>/link/": "delivery.drivers.devices.issue_link",
    "driver/push/": "delivery.drivers.devices.subscribe",
    "driver/positions/": "delivery.actions.drivers.set_position",
}
# Of pages that make more of an action than a call of it does.
MORE = {
    "/connections/": (
        {"new delivery_auditentry", "new delivery_connection", "new integration_connection"}, "another shop"),
    "/connections/<str:connection>/secret/": (
        {"delivery_connection.secret_ciphertext", "integration_connection.secret_ciphertext",
         "new delivery_auditentry"},
        "a secret is stored anew without a look at the one before"),
    "/connections/<str:connection>/try/": (
        {f"new {area}_{table}" for area in ("delivery", "integration") for table in ("draft", "reception")},
        "another one is asked for"),
    "setup/sheet/": ({"new access_accesslink"}, "each sheet has a link of its own"),
    "panel/board/<uuid:delivery>/<str:move>/": (
        {"delivery_delivery.driver_id", "delivery_delivery.last_sequence", "delivery_delivery.updated_at",
         "delivery_latestposition.recorded_at", "new delivery_driverposition", "new delivery_transition",
         "new delivery_webhookevent"},
        "without a name the route goes to the next driver, and a position is of another moment"),
}  # fmt: skip  # a table


def may_change(route: str) -> set[str]:
    of_action = [AGAIN[action][0] for end, action in ACTIONS.items() if route.endswith(end)]
    of_page = [changed for end, (changed, _reason) in MORE.items() if route.endswith(end)]
    return set().union(*of_action, *of_page)


@pytest.fixture(scope="module")
def requests(world: World) -> Requests:
    return Requests(world)


@pytest.mark.parametrize("route", [route for route in asked() if set(methods(route)) - {"GET"}])
def test_changes_nothing_more(route: str, world: World, requests: Requests) -> None:
    every = (ask for method in methods(route) if method != "GET" for ask in requests.of(route, method))
    for ask in every:
        if ask.foreign:
            continue
        with undone(world), pytest.MonkeyPatch.context() as patch:
            first = ask()
            if first[0] == 405:
                continue
            between = world.ledger.written()
            connection.run_on_commit.clear()
            patch.setattr(timezone, "now", lambda: world.now + _LATER)

            second = ask()

            changed = {each for each in changes(between, world.ledger.written()) if not _OF_CALLS.fullmatch(each)}
            assert changed - may_change(route) == set(), f"{ask.method} {ask.path}"
            assert second[0] < 500


def test_every_reason_is_of_a_route() -> None:
    assert [end for end in (*ACTIONS, *MORE) if not any(route.endswith(end) for route in routes())] == []

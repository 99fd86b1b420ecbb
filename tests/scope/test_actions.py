"""Every public function of the actions with one party's objects: others are not changed, not read, do not count."""

import pytest

from tests.scope.actions import Call, Party, calls, functions
from tests.scope.rows import Owner
from tests.scope.runs import Outcome, owners_of, run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
_PURE = "neither reads nor writes rows"
_INNER = "called by the actions of its package, which are called here"
NOT_CALLED = {
    "access.invitations.accept": "tests/access/test_invitations.py",
    "access.invitations.find": "tests/access/test_invitations.py",
    "access.invitations.log_in_name": _PURE,
    "access.invitations.messages_of": "tests/access/test_invitations.py",
    "access.invitations.sign_up": "tests/access/test_invitations.py",
    "access.invitations.users_of": "people have accounts in common",
    "access.rights.without_privileges": "people have accounts in common",
    "delivery.actions.alerts.mail": _INNER,
    "delivery.actions.deliveries.expire_early": "of the sandbox",
    "delivery.actions.drivers.claim_simulated": _INNER,
    "delivery.actions.dropoff_options.create": _INNER,
    "delivery.actions.endpoints.create": _INNER,
    "delivery.actions.forgetting.lock": _INNER,
    "delivery.actions.forgetting.may_be_forgotten": _INNER,
    "delivery.actions.forgetting.rewrite": _INNER,
    "delivery.actions.integrators.open_": "makes an account",
    "delivery.actions.moves.parse_point": _PURE,
    "delivery.actions.new_deliveries.build": _INNER,
    "delivery.actions.push_subscriptions.save": "test_points.py",
    "delivery.actions.quote_ids.redeem": "tests/delivery/api/test_binding_quotes.py",
    "delivery.actions.quotes.trip_between": _PURE,
    "delivery.actions.refused_calls.record": "test_points.py",
    "delivery.actions.simulations.accept": "of the sandbox",
    "delivery.actions.transitions.apply": _INNER,
    "delivery.actions.transitions.history": _INNER,
    "delivery.actions.tariffs.create_defaults": "tariffs of everybody",
    "delivery.reports.all_rows": "of the deliveries it is given; test_routes.py",
    "delivery.reports.of_all_accounts": "staff sees every account",
    "delivery.reports.of_days": "of the deliveries it is given; test_routes.py",
    "delivery.reports.of_drivers": "staff sees every account",
    "delivery.reports.rows": "of the deliveries it is given; test_routes.py",
    "delivery.reports.total": _PURE,
    "delivery.reports.work": "of the deliveries it is given; test_routes.py",
    "delivery.webhooks.feed.read": "test_routes.py",
    "delivery.webhooks.queue.add": _INNER,
    "delivery.webhooks.queue.add_again": _INNER,
    "delivery.webhooks.queue.claim": "tests/delivery/webhooks/test_queue.py",
    "delivery.webhooks.queue.execute_with_lock_timeout": _PURE,
    "delivery.webhooks.queue.renew": "tests/delivery/webhooks/test_leases.py",
    "integration.actions.links.reason": _PURE,
    "integration.actions.quotes.explain": "tariffs of everybody",
    "integration.actions.quotes.quote": "tariffs of everybody",
    "integration.actions.quotes.services": "tariffs of everybody",
    "integration.actions.refused_calls.record": "test_points.py",
    "panel.board.cards": "test_routes.py",
    "privacy.requests.record": "of a person, not of an account",
}
# More than what its arguments belong to: drivers who are free, offers, other orders of the seller.
ALSO: dict[str, list[Owner]] = {
    "delivery.actions.deliveries.accept": [("free", "live")],
    "delivery.actions.deliveries.reassign": [("free", "live")],
    "delivery.actions.moves.perform": [("free", "live")],
    **{
        f"delivery.actions.drivers.{name}": [("free", "live")]
        for name in ("eligible", "nearby", "nearest", "nearest_with_push", "claim_first_eligible")
    },
    **{
        f"delivery.actions.driver_devices.{name}": [("free", "live", "1")] for name in ("find", "find_link", "log_in")
    },
    "driver_app.state.state": [("A", "live"), ("B", "live", "requested")],
    "integration.actions.links.link_new_invoice": [("S",)],
}
# Of a person in every account.
_OF_EVERYBODY = ("privacy.",)
_MOST = 3  # successful calls of a function


def kept_by(name: str, call: Call, world: World) -> list[Owner]:
    """The owners whom the call may concern: those of its arguments. Empty: everybody, as in a task."""
    values = [*call.positional, *call.by_name.values()]
    kept = owners_of(values, world.ledger) + ALSO.get(name, [])
    environments = [each for each in values if each in ("live", "sandbox")]
    if environments and kept:
        return [(*owner, environments[0]) if len(owner) == 1 and owner[0] in "AB" else owner for owner in kept]
    if environments:
        return [owner for owner in set(world.ledger.owners.values()) if len(owner) > 1 and "sandbox" not in owner]
    return [] if name.startswith(_OF_EVERYBODY) else kept


def successful(name: str, world: World) -> list[tuple[Call, list[Owner], set[tuple[str, str]], Outcome]]:
    """The first calls that are not refused."""
    found = []
    for call in calls(name, Party(world, world.a, world.s)):
        kept = kept_by(name, call, world)
        others = world.ledger.others(kept or [("A",), ("S",), ("free",), ("everybody",)])
        outcome = run(call, world.ledger, others=others)
        if outcome.error is None:
            found.append((call, kept, others, outcome))
        if len(found) == _MOST:
            break
    return found


@pytest.mark.parametrize("name", sorted(functions().keys() - NOT_CALLED.keys()))
def test_concerns_the_owners_of_its_arguments_only(name: str, world: World) -> None:
    found = successful(name, world)
    assert found, "no arguments with which it is not refused: add some to Party, or a reason to NOT_CALLED"

    for call, kept, others, among in found:
        alone = run(call, world.ledger, others=others, alone=True)
        if kept:
            assert not among.touched, "changed rows of others"
            assert among.result == alone.result, "returns something else among others"
            assert among.changes == alone.changes, "writes something else among others"
        elif not name.startswith(_OF_EVERYBODY):
            assert not alone.changes - among.changes, "does less for one account because there are others"


def test_every_reason_is_of_a_function() -> None:
    assert sorted({*NOT_CALLED, *ALSO} - functions().keys()) == []

"""Every public function of the actions with one party's objects: others are not changed, not read, do not count."""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.scope.actions import Call, Party, calls, foreign_arguments, functions
from tests.scope.rows import Columns, Key, Ledger, Owner
from tests.scope.runs import Outcome, compared, differences, owners_of, run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
_PURE = "neither reads nor writes rows"
_INNER = "called by the actions of its package, which are called here"
NOT_CALLED = {
    "integration.invoices.actions.give_up": _INNER,
    "integration.actions.orders.freight_of": "reads the tariff, which everybody has in common",
    "access.invitations.accept": "tests/access/test_invitations.py",
    "access.invitations.find": "tests/access/test_invitations.py",
    "access.invitations.log_in_name": _PURE,
    "access.invitations.messages_of": "tests/access/test_invitations.py",
    "access.invitations.sign_up": "tests/access/test_invitations.py",
    "access.invitations.users_of": "people have accounts in common",
    "access.invitations.verified_log_in": "people have accounts in common",
    "access.invitations.new_log_in_name": "people have accounts in common",
    "access.rights.without_privileges": "people have accounts in common",
    "common.webhooks.queue.add": _INNER,
    "common.webhooks.queue.add_again": _INNER,
    "common.webhooks.queue.oldest_due_of_all_seconds": "of the events of every account",
    "common.webhooks.queue.oldest_due_seconds": "of the events of every account",
    "delivery.alerts.actions.failed_since": "of every account; tests/panel/test_alerts.py",
    "delivery.actions.drivers.nearest_of_each": "for dispatchers; tests/delivery/actions/test_eligible_drivers.py",
    "delivery.actions.drivers.others": "for dispatchers; tests/delivery/admin/test_driver_search.py",
    "delivery.actions.drivers.pull_back_positions": _INNER,
    "delivery.actions.transitions.count_on_commit": _INNER,
    "delivery.actions.transitions.follow_up_on_commit": _INNER,
    "delivery.actions.transitions.lock_row": _INNER,
    "common.webhooks.endpoints.check_url": _PURE,
    "common.webhooks.endpoints.create": _INNER,
    "common.webhooks.endpoints.first": _INNER,
    "common.webhooks.endpoints.lock_of_active": _INNER,
    "common.webhooks.endpoints.remove": "the first one is refused; tests/panel/test_webhook.py removes a further one",
    "delivery.actions.forgetting.may_be_forgotten": _INNER,
    "delivery.accounts.integrators.open_": "makes an account",
    "delivery.streets.actions.choose": "of the whole installation; tests/delivery/streets/test_work.py",
    "delivery.streets.copying.copy": "takes no objects of an account; tests/delivery/streets/test_copying.py",
    "delivery.streets.copying.default_sources": _PURE,
    "delivery.streets.tiles.box": _PURE,
    "delivery.streets.tiles.ids": _PURE,
    "delivery.actions.moves.described": _PURE,
    "delivery.actions.moves.only_point": _PURE,
    "delivery.actions.moves.parse_point": _PURE,
    "delivery.actions.moves.points": _PURE,
    "delivery.actions.deliveries.build": _INNER,
    "delivery.actions.deliveries.offer_locked": _INNER,
    "delivery.actions.deliveries.recall_locked": _INNER,
    **dict.fromkeys(
        (
            "delivery.actions.deliveries.charge",
            "delivery.actions.deliveries.open_again",
            "delivery.actions.goods.hand_over",
            "delivery.actions.goods.may_open_again",
            "delivery.actions.goods.record",
        ),
        "of a cancelled route; tests/delivery/actions/test_goods.py",
    ),
    "delivery.places.addresses.locate": "addresses have no owner, and are stored as digests",
    **dict.fromkeys(
        (
            "delivery.places.address_imports.clear",
            "delivery.places.address_imports.fill",
            "delivery.places.address_imports.run",
            "delivery.places.address_table.find",
            "delivery.places.address_table.is_filled",
            "delivery.places.address_table.search",
            "delivery.places.address_table.street_of",
            "delivery.places.addresses.can_locate",
            "delivery.places.addresses.search",
        ),
        "the table of addresses has no owner; tests/delivery/places",
    ),
    **dict.fromkeys(
        (
            *(
                f"delivery.connections.actions.{name}"
                for name in (
                    "change",
                    "change_secret",
                    "check_signature",
                    "connect",
                    "remove",
                    "try_out",
                )
            ),
            *(
                f"delivery.connections.drafts.{name}"
                for name in (
                    "check",
                    "check_due",
                    "edit",
                    "forget_old",
                    "pickup_of",
                    "request",
                    "wake",
                )
            ),
        ),
        "of the shop and the order it is given; tests/delivery/connections",
    ),
    **dict.fromkeys(
        (
            *(
                f"integration.connections.actions.{name}"
                for name in ("change", "change_secret", "check_signature", "connect", "remove", "try_out")
            ),
            *(
                f"integration.connections.drafts.{name}"
                for name in ("describe", "forget_old", "look_again", "make", "of_document")
            ),
        ),
        "of the shop and the order it is given; tests/integration/connections",
    ),
    "delivery.actions.quotes.leg_to_pickup": _PURE,
    "delivery.actions.served.check": _PURE,
    "delivery.actions.transitions.apply": _INNER,
    "delivery.actions.transitions.begin": _INNER,
    "delivery.actions.transitions.history": _INNER,
    "delivery.actions.dispatch_rules.change": "rules of everybody",
    "delivery.hours.actions.check": "tests/delivery/hours/test_models.py",
    "delivery.hours.actions.delete": "of the row it is given, by account staff",
    "delivery.hours.actions.save": "of the row it is given, by account staff",
    "delivery.actions.tariffs.create_defaults": "tariffs of everybody",
    "delivery.drivers.devices.count_on_commit": _INNER,
    "delivery.drivers.positions.receive": "of the phones of sessions; tests/delivery/drivers/test_positions.py",
    "delivery.drivers.day.of_days": "of the driver it is given; tests/delivery/drivers/test_day.py",
    "integration.sandbox.by_hand.perform": "of the order it is given; test_routes.py",
    **dict.fromkeys(
        ("delivery.reports.ending_name", "delivery.reports.kinds_of", "delivery.reports.table_of_deliveries"), _PURE
    ),
    "delivery.reports.all_rows": "of the deliveries it is given; test_routes.py",
    "delivery.reports.charges": "of the deliveries it is given; test_routes.py",
    "delivery.reports.live": "staff sees every account; test_routes.py",
    "delivery.reports.reasons": "of the deliveries it is given; test_routes.py",
    "delivery.reports.service": "of the deliveries it is given; test_routes.py",
    "delivery.reports.service_of_dates": "of the deliveries it is given; test_routes.py",
    "delivery.reports.service_of_period": "of the deliveries it is given; test_routes.py",
    "delivery.reports.service_of_drivers": "of the deliveries it is given; test_routes.py",
    "delivery.reports.of_all_accounts": "staff sees every account; test_routes.py",
    "delivery.reports.of_days": "of the deliveries it is given; test_routes.py",
    "delivery.reports.of_drivers": "staff sees every account; test_routes.py",
    "delivery.reports.of_parts": "of the deliveries it is given; test_routes.py",
    "delivery.reports.service_of_parts": "of the deliveries it is given; test_routes.py",
    "delivery.reports.rows": "of the deliveries it is given; test_routes.py",
    "delivery.drivers.positions.version": _PURE,
    "delivery.reports.total": _PURE,
    "delivery.reports.work": "of the deliveries it is given; test_routes.py",
    "common.webhooks.feed.page": "test_routes.py",
    "common.webhooks.feed.read": "test_routes.py",
    "integration.carriers.actions.find": "for commands; test_commands.py",
    "integration.carriers.actions.open_": "makes a carrier",
    "integration.invoices.actions.doubts_of_order": _PURE,
    "integration.invoices.actions.meaning_by_cut_reference": _INNER,
    "integration.invoices.actions.meaning_by_name": _INNER,
    "integration.invoices.actions.order_that_agrees": _PURE,
    "integration.invoices.actions.unlink_alike": _INNER,
    "integration.accounts.keys.environment_of": _PURE,
    "integration.actions.orders.check_moment": _PURE,
    "integration.actions.orders.check_move": _PURE,
    "integration.manifests.actions.leaving_out": "`create` and `add` are called",
    "integration.receivers.mails.record": _INNER,
    "integration.receivers.mails.withdraw": _INNER,
    "integration.accounts.sellers.find": "for commands; test_commands.py",
    "integration.accounts.sellers.find_order": "for commands; test_commands.py",
    "integration.freight.quotes.explain": "tariffs of everybody",
    "integration.freight.quotes.of_service": "tariffs of everybody",
    "integration.freight.quotes.quote": "tariffs of everybody",
    "integration.freight.quotes.services": "tariffs of everybody",
    "panel.dispatch.board.cards": "test_routes.py",
    "panel.dispatch.board.first_cards": "test_routes.py",
    "access.personal_data.record": "of a person, not of an account",
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
    # How far away they are, for the estimate.
    "delivery.actions.quotes.quote": [("free", "live")],
    "delivery.actions.quotes.quote_for_request": [("free", "live")],
    **{f"delivery.drivers.devices.{name}": [("free", "live", "1")] for name in ("find", "find_link", "log_in")},
    "delivery.drivers.state.state": [("A", "live"), ("B", "live", "requested")],
}
# Of a person in every account.
_OF_EVERYBODY = ("access.personal_data.",)
# In the sandbox too, where drivers are simulated for one account.
_IN_SANDBOX = ("delivery.actions.drivers.", "delivery.sandbox.by_hand.", "delivery.sandbox.simulated_driver.")
# What actions write; those that only read have no line.
COLUMNS = {line.partition(" ")[0]: line for line in (Path(__file__).parent / "columns.txt").read_text().splitlines()}
_MOST = 2  # successful calls of a function with one party's objects
# Another account's object among the arguments, in this environment, which is not refused.
TAKES_FOREIGN = {
    ("delivery.actions.deliveries.accept", "delivery", "live"): "drivers work for every account of their environment",
    ("delivery.actions.deliveries.reassign", "delivery", "live"): "drivers work for every account of their environment",
    ("delivery.actions.drivers.decline", "delivery", "live"): "drivers work for every account of their environment",
    **{
        ("delivery.drivers.moves.perform", argument, environment): "keeps the refusal; test_points.py"
        for argument in ("driver", "sent")
        for environment in ("live", "sandbox")
    },
}


def kept_by(name: str, call: Call, world: World) -> list[Owner]:
    """The owners whom the call may concern: those of its arguments. Empty: everybody, as in a task."""
    values = call.values()
    environments = [each for each in values if each in ("live", "sandbox")]
    in_sandbox = "sandbox" in environments or any("sandbox" in owner for owner in owners_of(values, world.ledger))
    also = ALSO.get(name, [])
    if in_sandbox:
        also = [tuple("sandbox" if part == "live" else part for part in owner) for owner in also]
    kept = owners_of(values, world.ledger) + also
    if environments and kept:
        return [(*owner, environments[0]) if len(owner) == 1 and owner[0] in "AB" else owner for owner in kept]
    if environments:
        return [owner for owner in set(world.ledger.owners.values()) if len(owner) > 1 and "sandbox" not in owner]
    return [] if name.startswith(_OF_EVERYBODY) else kept


def parties(name: str, world: World) -> list[Party]:
    own = [Party(world, world.a, world.s)]
    return [*own, Party(world, world.sandbox, world.s)] if name.startswith(_IN_SANDBOX) else own


class Success(NamedTuple):
    """A call that was not refused, whom it may concern, the rows of all others, and what it did among them."""

    call: Call
    party: Party
    kept: list[Owner]
    others: set[Key]
    outcome: Outcome


def successful(name: str, party: Party) -> list[Success]:
    """The first calls that are not refused."""
    found, world = [], party.world
    for call in calls(name, party):
        kept = kept_by(name, call, world)
        others = world.ledger.others(kept or [party.account.owner, ("S",), ("free",), ("everybody",)])
        outcome = run(call.make, world.ledger, others=others)
        if outcome.error is None:
            found.append(Success(call, party, kept, others, outcome))
        if len(found) == _MOST:
            break
    return found


@pytest.mark.parametrize("name", sorted(functions().keys() - NOT_CALLED.keys()))
def test_concerns_and_writes_what_it_is_about_and_refuses_what_is_of_others(name: str, world: World) -> None:
    found = [each for party in parties(name, world) for each in successful(name, party)]

    assert found, "no arguments with which it is not refused: add some to Party, or a reason to NOT_CALLED"
    _concern_the_owners_of_their_arguments_only(name, found, world.ledger)
    line = columns_of(name, found)
    assert line == COLUMNS.get(name, name), "look whether it is meant, and write it to columns.txt"
    world.ledger.remove(())  # the arguments of others are looked up
    _refuse_an_argument_of_others(name, found[0], world.ledger)


def _concern_the_owners_of_their_arguments_only(name: str, found: list[Success], ledger: Ledger) -> None:
    for call, _party, kept, others, among in found:
        alone = run(call.make, ledger, others=others, alone=True)
        if kept:
            assert compared(among, alone) == []
        elif not name.startswith(_OF_EVERYBODY):
            assert list(alone.changes - among.changes) == [], "does less for one account because there are others"
    for call, _party, kept, others, _among in found:
        if kept:  # and with hardly anything of the caller's own, so that others' would be taken instead
            bare = ledger.details(others, call.rows())
            assert differences(call.make, ledger, others=others, bare=bare) == []


def columns_of(name: str, found: list[Success]) -> str:
    """The line of columns.txt with what the calls of an action write: `+` are new rows, `-` rows that are gone."""
    written: Columns = defaultdict(set)
    for each in found:
        for table, columns in each.outcome.columns.items():
            written[table] |= columns
    return " ".join([name, *(f"{table}({' '.join(sorted(written[table]))})" for table in sorted(written))])


def _refuse_an_argument_of_others(name: str, first: Success, ledger: Ledger) -> None:
    for argument, environment, foreign in foreign_arguments(name, first.call, first.party):
        if (name, argument, environment) not in TAKES_FOREIGN:
            # And without what the other may have reached a limit with, which would be a reason to refuse it too.
            for bare in (set(), ledger.details(set(), [*first.call.rows(), *foreign.rows()])):
                outcome = run(foreign.make, ledger, others=set(), bare=bare)

                assert outcome.error is not None or not outcome.changes, f"{argument} of {foreign.by_name}"


def test_every_reason_is_of_a_function() -> None:
    named = {*NOT_CALLED, *COLUMNS, *ALSO, *(name for name, *_rest in TAKES_FOREIGN)}

    assert sorted(named - functions().keys()) == []

"""Every management command that takes an id, with one party's: others are not changed, not read, do not count."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command, get_commands
from django.core.management.base import CommandError

from tests.scope.rows import Owner
from tests.scope.runs import run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
_PACKAGES = ("access", "config", "delivery", "dev", "integration", "panel")
_NO_OBJECTS = "takes no objects of an account"
NOT_CALLED = {
    "addresses": _NO_OBJECTS,
    "bootstrap": "makes an account",
    "connect_shop": "makes a connection of the account it is given; tests/config/test_connect_shop.py",
    "create_carrier": "makes a carrier",
    "create_driver": "makes a driver",
    "create_integrator": "makes an account",
    "create_seller": "makes a seller",
    "demo": _NO_OBJECTS,
    "demo_credentials": _NO_OBJECTS,
    "dispatch_rules": _NO_OBJECTS,
    "enrol_second_factor": "of one log-in; tests/access/test_enrolment.py",
    "environment": _NO_OBJECTS,
    "export_person": "of a person in every account",
    "forget": "of a person in every account",
    "map": _NO_OBJECTS,
    "messages": _NO_OBJECTS,
    "migrate": _NO_OBJECTS,
    "openapi": _NO_OBJECTS,
    "play_demo": "moves the demo; tests/dev/test_demo_life.py",
    "reencrypt_credentials": _NO_OBJECTS,
    "seed_demo": _NO_OBJECTS,
    "vapid_key": _NO_OBJECTS,
    "verify": _NO_OBJECTS,
}


def arguments(world: World) -> dict[str, list[tuple[list[Any], list[Owner]]]]:
    """The arguments of each command, and whom it may concern then."""
    a, s = world.a, world.s
    key, account = str(a.deliveries["accepted"].pk), str(a.integrator.pk)
    anywhere = ["--state", "any"]
    return {
        "dispatch": [
            ([key, "collect"], [("A", "live", "accepted")]),
            ([key, "reassign"], [("A", "live", "accepted"), ("free", "live")]),
        ],
        "replay_webhooks": [
            (["--delivery", key, *anywhere], [("A", "live", "accepted")]),
            (["--event", str(a.more["test"].pk)], [("A", "live")]),
            (["--integrator", account, *anywhere], [("A",)]),
            (["--integrator", account, "--environment", "live", *anywhere], [("A", "live")]),
        ],
        "issue_key": [([s["seller"].reference], [("S",)]), ([str(s["seller"].pk), "--sandbox"], [("S",)])],
        "assign_carrier": [(["A-1", "--seller", s["seller"].reference, "--carrier", str(s["carrier"].pk)], [("S",)])],
        "order": [
            (["A-1", "collected", "--seller", s["seller"].reference], [("S", "new")]),
            (["A-1", "collected", "--seller", str(s["seller"].pk)], [("S", "new")]),
        ],
    }


def commands() -> set[str]:
    """The project's own."""
    return {name for name, package in get_commands().items() if package in _PACKAGES}


def called(name: str, given: list[Any]) -> Callable[[], str]:
    def call() -> str:
        out = StringIO()
        try:
            call_command(name, *given, stdout=out)
        except (CommandError, SystemExit) as error:
            raise RuntimeError(f"{error}: {out.getvalue()}") from error
        return out.getvalue()

    return call


def test_every_command_is_called_or_has_a_reason(world: World) -> None:
    assert sorted({*arguments(world), *NOT_CALLED}) == sorted(commands())


@pytest.mark.parametrize("name", ["dispatch", "order", "replay_webhooks"])
def test_concerns_its_arguments_only(name: str, world: World) -> None:
    for given, kept in arguments(world)[name]:
        others = world.ledger.others(kept)

        among = run(called(name, given), world.ledger, others=others)
        alone = run(called(name, given), world.ledger, others=others, alone=True)

        assert among.error is None, given
        assert (among.result, among.changes, among.touched) == (alone.result, alone.changes, []), given

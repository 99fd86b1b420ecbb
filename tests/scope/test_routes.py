"""Every route with its caller's objects, and with those of others: nothing of others is changed, read, or counts."""

from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.scope.routes import Ask, Requests, routes
from tests.scope.rows import Key
from tests.scope.runs import Outcome, compared, differences, run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
_METHODS = ("GET", "POST", "PATCH")
# The ends of routes that have PATCH.
PATCHED = ("<str:point>", "<path:order_id>")
# The beginning of a route, and why nobody's objects are in scope there.
NOT_ASKED = {
    "admin/": "for staff of the whole installation, who see every account",
    "account/": "of one log-in, not of an account; tests/access/test_sessions.py, test_enrolment.py, test_devices.py",
    "docs/": "has no objects",
    "language/": "has no objects",
    "healthz": "has no objects",
    "readyz": "has no objects",
    "metrics": "has no objects",
    ".well-known/security.txt": "has no objects",
    "api/openapi": "has no objects",
    "api/postman.json": "has no objects",
    "api/connections/": "whoever signs with its secret; tests/common/shops/test_receptions.py",
    "api/integration/connections/": "whoever signs with its secret; tests/common/shops/test_receptions.py",
    "api/photos/<str:signed>": "whoever has the signed address may read; tests/delivery/api/test_photos.py",
    "api/sandbox/deliveries/<str:delivery_id>/collect/": "of reverse routes; tests/delivery/api/test_occurrences.py",
    "api/integration/shipping/": "reads the tariff, which everybody has in common",
    "driver/in/<str:token>/": "driver_devices.log_in, see test_actions",
    "driver/manifest.webmanifest": "has no objects",
    "driver/sw.js": "has no objects",
    "panel/map/": "has no objects",
    "panel/postcodes/": "the table of addresses has no owner",
    "panel/accounts/new/": "has no objects yet",
    "panel/accounts/<uuid:account>/<environment:environment>/deliveries/upload/": "in the cache, see test_uploads.py",
    "panel/sellers/<int:seller>/<environment:environment>/orders/import/": "kept apart, see test_order_imports.py",
    "panel/sellers/new/": "has no objects yet",
    "panel/personal-data/": "a person's data in every account; access.personal_data.*, see test_actions",
    "t/<str:token>/map/": "has no objects",
}


class Answered(NamedTuple):
    """A request, the rows of everybody but its caller, and what it did among them."""

    ask: Ask
    others: set[Key]
    outcome: Outcome


@cache
def asked() -> list[str]:
    return sorted(route for route in routes() if not route.startswith(tuple(NOT_ASKED)))


@pytest.fixture(scope="module")
def requests(world: World) -> Requests:
    return Requests(world)


def cases() -> list[Any]:
    """Each route with each method. Few routes have PATCH, so it is tried where it could be."""
    return [
        pytest.param(method, number, id=f"{method}-{route}")
        for method in _METHODS
        for number, route in enumerate(asked())
        if method != "PATCH" or route.endswith(PATCHED)
    ]


@pytest.mark.parametrize(("method", "number"), cases())
def test_concerns_its_caller_only(number: int, method: str, world: World, requests: Requests) -> None:
    route, ledger = asked()[number], world.ledger
    found: list[Answered] = []
    for ask in requests.of(route, method):
        others = ledger.others(ask.kept)
        among = run(ask, ledger, others=others)
        if among.result.startswith("[405"):
            return
        if not (ask.foreign and among.result.startswith("[404") and not among.changes and not among.touched):
            found.append(Answered(ask, others, among))
    answers = [each.outcome.result[1:4] for each in found]
    assert any(answer < "400" for answer in answers), answers

    for ask, others, among in found:
        alone = run(ask, ledger, others=others, alone=True)
        assert compared(among, alone) == [], f"{method} {ask.path}"
    # And with hardly anything of the caller's own, so that others' would be taken instead.
    first = found[0]
    bare = ledger.details(first.others, first.ask.needed)
    assert differences(first.ask, ledger, others=first.others, bare=bare) == [], f"{method} {first.ask.path}, bare"


def test_every_reason_is_of_a_route() -> None:
    unused = [prefix for prefix in NOT_ASKED if not any(each.startswith(prefix) for each in routes())]

    assert unused == []

"""Every route with its caller's objects, and with those of others: nothing of others is changed, read, or counts."""

from functools import cache
from typing import Any

import pytest

from tests.scope.routes import Requests, routes
from tests.scope.runs import compared, differences, run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
_METHODS = ("GET", "POST", "PATCH")
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
    "api/photos/<str:signed>": "whoever has the signed address may read; tests/delivery/api/test_photos.py",
    "api/sandbox/deliveries/<str:delivery_id>/collect/": "of reverse routes; tests/delivery/api/test_occurrences.py",
    "api/integration/shipping/": "reads the tariff, which everybody has in common",
    "driver/in/<str:token>/": "driver_devices.log_in, see test_actions",
    "driver/manifest.webmanifest": "has no objects",
    "driver/sw.js": "has no objects",
    "panel/map/": "has no objects",
    "panel/accounts/new/": "has no objects yet",
    "panel/accounts/<uuid:account>/<environment:environment>/deliveries/upload/": "in the cache, see test_uploads.py",
    "panel/sellers/new/": "has no objects yet",
    "panel/simulators/": "staff names any account; delivery.actions.quotes.explain, see test_actions",
    "panel/personal-data/": "a person's data in every account; access.personal_data.*, see test_actions",
    "t/<str:token>/map/": "has no objects",
}


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
        if method != "PATCH" or route.endswith("<str:point>")
    ]


@pytest.mark.parametrize(("method", "number"), cases())
def test_concerns_its_caller_only(number: int, method: str, world: World, requests: Requests) -> None:
    route = asked()[number]
    found: list[str] = []
    for ask in requests.of(route, method):
        others = world.ledger.others(ask.kept)
        among = run(ask, world.ledger, others=others)
        if among.result.startswith("[405"):
            return
        if ask.foreign and among.result.startswith("[404") and not among.changes and not among.touched:
            continue
        alone = run(ask, world.ledger, others=others, alone=True)
        assert compared(among, alone) == [], f"{method} {ask.path}"
        if not found:  # and with hardly anything of the caller's own, so that others' would be taken instead
            bare = world.ledger.details(others, ask.needed)
            assert differences(ask, world.ledger, others=others, bare=bare) == [], f"{method} {ask.path}, bare"
        found.append(among.result[1:4])

    assert any(each < "400" for each in found), found


def test_every_reason_is_of_a_route() -> None:
    unused = [prefix for prefix in NOT_ASKED if not any(each.startswith(prefix) for each in routes())]

    assert unused == []

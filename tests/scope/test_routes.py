"""Every route with its caller's objects, and with those of others: nothing of others is changed, read, or counts."""

from functools import cache
from typing import NamedTuple

import pytest

from tests.access.rights_by_url import takes
from tests.endpoints import ENDPOINTS
from tests.scope.routes import Ask, Requests, routes
from tests.scope.rows import Key, Ledger
from tests.scope.runs import Outcome, compared, differences, run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
_OF_PAGES = ("GET", "POST")
_METHODS = (*_OF_PAGES, "PATCH")
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


def methods(route: str) -> list[str]:
    """Those that are asked for. The others have nothing behind them, as the table of rights and the description say."""
    of_api = {each.method.upper() for each in ENDPOINTS if each.route == route}
    return [
        method for method in _METHODS if (method in of_api if of_api else method in _OF_PAGES and takes(method, route))
    ]


@pytest.mark.parametrize("number", range(len(asked())), ids=asked())
def test_concerns_its_caller_only(number: int, world: World, requests: Requests) -> None:
    route, ledger = asked()[number], world.ledger
    for method in methods(route):
        found: list[Answered] = []
        for ask in requests.of(route, method):
            others = ledger.others(ask.kept)
            among = run(ask, ledger, others=others)
            if among.result.startswith("[405"):
                break
            if not (ask.foreign and among.result.startswith("[404") and not among.changes and not among.touched):
                found.append(Answered(ask, others, among))
        else:
            _concern_the_caller_only(method, found, ledger)
            ledger.remove(())  # the next method's arguments are looked up


def _concern_the_caller_only(method: str, found: list[Answered], ledger: Ledger) -> None:
    answers = [each.outcome.result[1:4] for each in found]
    assert any(answer < "400" for answer in answers), (method, answers)
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

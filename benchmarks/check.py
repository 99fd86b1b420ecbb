"""CPU time of the calls in this state, compared with that of an earlier commit."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median

from benchmarks import api_calls, load, report, states
from benchmarks.load import Side
from benchmarks.states import State
from tests.integration.factories import COMPANY, OTHER_COMPANY

_GREATEST = 1.05
_ROUNDS, _SECONDS = 15, 2
_PICKUP = "-23.561414,-46.655881"
_ORDERS, _TOLD_ORDERS = "orders", "orders-with-an-endpoint"
# What the state's own Django executes: because in production no endpoint may be on this machine,
_SET_URL = """
from django.apps import apps
endpoints = apps.get_model("integration.WebhookEndpoint").objects.filter(seller="{seller}", environment="live")
assert endpoints.update(url="https://127.0.0.1/hook") == 1
print("null")
"""
# and because the plans of statements are those of tables without statistics otherwise, which beat leaves for a minute.
_ANALYZE = """
from django.db import connection
connection.cursor().execute("ANALYZE")
print("null")
"""


def run(arguments: Sequence[str]) -> int:
    """Compare with a commit, by default the last release. The exit status: 1 if a call takes too much more CPU time.

    It is that of the web processes, PostgreSQL and Redis.
    """
    commit, state = states.commit_of(arguments), states.current_commit()
    with ExitStack() as stack:
        pair = stack.enter_context(states.two(commit, is_production=True))
        earlier, current = (stack.enter_context(_side(each)) for each in pair)
        names = sorted(current.calls)  # both kinds of orders after each other
        load.call_by_call((earlier, current), names, rounds=0, seconds=_SECONDS)
        for side in pair:
            side.manage("shell", "--no-imports", "-c", _ANALYZE)
        found = _measured(earlier, current, names)
        ratios = _ratios(found)
        # A call that seems to take more is measured again, because another program can be the reason.
        for name, more in _ratios(_measured(earlier, current, _above(ratios))).items():
            ratios[name] += more
    for name, each in ratios.items():
        print(f"{name}: {report.spread(each, digits=2)}")
    _report_orders(found)
    above = _above(ratios)
    print(
        f"CPU time of {state} beside {commit}, {_ROUNDS} rounds: "
        f"{', '.join(f'{name} {median(each):.2f}' for name, each in ratios.items())}; "
        f"above {_GREATEST}: {', '.join(above) or 'none'}"
    )
    return 1 if above else 0


_Measured = dict[tuple[str, str], list[float]]  # CPU seconds for 1,000 calls in each round, by state and call


def _measured(earlier: Side, current: Side, names: Sequence[str]) -> _Measured:
    found = load.call_by_call((earlier, current), names, rounds=_ROUNDS, seconds=_SECONDS)
    return {key: [sum(cpu.values()) for cpu in rounds] for key, rounds in found.items()}


def _ratios(found: _Measured) -> dict[str, list[float]]:
    """CPU time of each call in each round, as a multiple of the earlier state's."""
    return {
        name: _divided(current, found["earlier", name]) for (side, name), current in found.items() if side == "current"
    }


def _divided(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return [each / beside for each, beside in zip(one, other, strict=True)]


def _report_orders(found: _Measured) -> None:
    """What an endpoint with a URL adds to the creation of an order."""
    rows = []
    for state in ("earlier", "current"):
        without, told = found[state, _ORDERS], found[state, _TOLD_ORDERS]
        times = (f"{median(each):.2f}" for each in (without, told))
        rows.append([state, *times, report.spread(_divided(told, without), digits=2), f"{_GREATEST}"])
    report.table(
        "Creating an order without and with an endpoint that has a URL: CPU seconds for 1,000 calls",
        ["state", "without", "with", "ratio", "goal"],
        rows,
    )


def _above(ratios: dict[str, list[float]]) -> list[str]:
    return [name for name, each in ratios.items() if median(each) > _GREATEST]


@contextmanager
def _side(state: State) -> Iterator[Side]:
    token = state.manage("create_integrator", "Shop", "--pickup", _PICKUP)["token"]
    key = state.manage("create_seller", "Seller", "--company", COMPANY)["api_key"]
    told = state.manage("create_seller", "Seller with an endpoint", "--company", OTHER_COMPANY)
    state.manage("shell", "--no-imports", "-c", _SET_URL.format(seller=told["seller"]))
    driver = state.manage("create_driver", "Driver", "--vehicle", "MOTORCYCLE", "--position", _PICKUP)["driver"]

    def accept(delivery: str) -> None:
        state.manage("dispatch", delivery, "accept", "--driver", driver)

    with state.serving("web") as pids:
        calls = api_calls.prepare(state.base, token=token, key=key, accept=accept)
        orders = {_TOLD_ORDERS: api_calls.order_with(told["api_key"], company_document=OTHER_COMPANY)}
        yield Side(state.name, state.base, calls | orders, pids)

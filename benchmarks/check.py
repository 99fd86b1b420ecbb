"""CPU time of the calls in this state, compared with that of an earlier commit."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from statistics import median

from benchmarks import api_calls, load, report, states
from benchmarks.load import Side
from benchmarks.states import State

_GREATEST = 1.05
_ROUNDS, _SECONDS = 15, 2
_PICKUP = "-23.561414,-46.655881"
_COMPANY = "11222333000181"


def run(arguments: Sequence[str]) -> int:
    """Compare with a commit, by default the last release. The exit status: 1 if a call takes too much more CPU time.

    It is that of the web processes, PostgreSQL and Redis.
    """
    commit, state = states.commit_of(arguments), states.current_commit()
    with ExitStack() as stack:
        pair = stack.enter_context(states.two(commit, is_production=True))
        earlier, current = (stack.enter_context(_side(each)) for each in pair)
        ratios = _ratios(earlier, current, list(current.calls))
        # A call that seems to take more is measured again, because another program can be the reason.
        for name, more in _ratios(earlier, current, _above(ratios)).items():
            ratios[name] += more
    for name, each in ratios.items():
        print(f"{name}: {report.spread(each, digits=2)}")
    above = _above(ratios)
    print(
        f"CPU time of {state} beside {commit}, {_ROUNDS} rounds: "
        f"{', '.join(f'{name} {median(each):.2f}' for name, each in ratios.items())}; "
        f"above {_GREATEST}: {', '.join(above) or 'none'}"
    )
    return 1 if above else 0


def _ratios(earlier: Side, current: Side, names: Sequence[str]) -> dict[str, list[float]]:
    """CPU time of each call in each round, as a multiple of the earlier state's."""
    found = load.call_by_call((earlier, current), names, rounds=_ROUNDS, seconds=_SECONDS)
    return {
        name: [
            sum(one.values()) / sum(other.values())
            for one, other in zip(found["current", name], found["earlier", name], strict=True)
        ]
        for name in names
    }


def _above(ratios: dict[str, list[float]]) -> list[str]:
    return [name for name, each in ratios.items() if median(each) > _GREATEST]


@contextmanager
def _side(state: State) -> Iterator[Side]:
    token = state.manage("create_integrator", "Shop", "--pickup", _PICKUP)["token"]
    key = state.manage("create_seller", "Seller", "--company", _COMPANY)["api_key"]
    driver = state.manage("create_driver", "Driver", "--vehicle", "MOTORCYCLE", "--position", _PICKUP)["driver"]

    def accept(delivery: str) -> None:
        state.manage("dispatch", delivery, "accept", "--driver", driver)

    with state.serving("web") as pids:
        calls = api_calls.prepare(state.base, token=token, key=key, accept=accept)
        yield Side(state.name, state.base, calls, pids)

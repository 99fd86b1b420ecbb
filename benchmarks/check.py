"""CPU time of the calls in this state, compared with that of an earlier commit.

Each side has a PostgreSQL and a Redis of its own, is set up by the environment as in production, and is filled by its
own commands. Nothing else of the earlier commit's code is known here.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import api_calls, load, processes, report
from benchmarks.load import Side
from config.env import BASE_DIR
from dev import embedded
from tests.ports import free_port

_DATA = BASE_DIR / "var" / "bench" / "check"
_GREATEST = 1.05
_ROUNDS, _SECONDS = 15, 2
_PICKUP = "-23.561414,-46.655881"
_COMPANY = "11222333000181"
# What PostgreSQL does for itself at a time of its own would count for one side.
_POSTGRES = {"autovacuum": "off", "checkpoint_timeout": "1h"}
_ENVIRONMENT = {
    "HOST": "127.0.0.1",
    "WEB_WORKERS": "2",
    "SECURE_SSL_REDIRECT": "0",
    "LOG_LEVEL": "INFO",
    **api_calls.FAR_LIMITS,
    "PYTHONHASHSEED": "0",  # sets and dictionaries are alike in both
    "ROTA_SUPERUSER": "benchmark",
    "ROTA_SUPERUSER_PASSWORD": "seldom typed by anyone",  # pragma: allowlist secret
}


def run(arguments: Sequence[str]) -> int:
    """Compare with a commit, by default the last release. The exit status: 1 if a call takes too much more CPU time.

    It is that of the web processes, PostgreSQL and Redis.
    """
    commit = _git("rev-parse", "--short", *(arguments or [_git("describe", "--tags", "--abbrev=0") + "^{commit}"]))
    state = _git("describe", "--always", "--dirty", "--exclude=*")
    tree = _tree(commit)
    with ExitStack() as stack:
        earlier = stack.enter_context(_side("earlier", tree, _python(tree)))
        current = stack.enter_context(_side("current", BASE_DIR, sys.executable))
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


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=BASE_DIR, check=True, capture_output=True, text=True).stdout.strip()


def _tree(commit: str) -> Path:
    """The files of the commit."""
    tree = _DATA / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", commit], cwd=BASE_DIR, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
    # The web server does not start without these, and the calls do not use them.
    (tree / "node_modules").symlink_to(BASE_DIR / "node_modules")
    return tree


def _python(tree: Path) -> str:
    """An interpreter with the packages of the tree's lock file: this one if they are the same."""
    lock = Path("requirements-dev.lock")
    if (tree / lock).read_bytes() == (BASE_DIR / lock).read_bytes():
        return sys.executable
    python = str(tree / ".venv" / "bin" / "python")
    uv = str(Path(sys.executable).with_name("uv"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tree / ".venv"], check=True)
    subprocess.run([uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", tree / lock], check=True)
    return python


@contextmanager
def _side(name: str, tree: Path, python: str) -> Iterator[Side]:
    data = _DATA / name
    os.environ["DATA_DIR"] = str(data)
    if data.exists():
        embedded.Postgres(data / "postgres").release()  # one that a killed run has left
        shutil.rmtree(data)
    port = free_port()
    with processes.embedded_servers(data, _POSTGRES):
        environment = {**_ENVIRONMENT, **embedded.environment(), "PORT": str(port), "DATA_DIR": str(data)}

        def manage(*arguments: str) -> Any:
            command = [python, "manage.py", *arguments]
            done = subprocess.run(command, cwd=tree, env=os.environ | environment, check=True, stdout=subprocess.PIPE)
            return json.loads(done.stdout)

        def accept(delivery: str) -> None:
            manage("dispatch", delivery, "accept", "--driver", driver)

        manage("bootstrap")
        token = manage("create_integrator", "Shop", "--pickup", _PICKUP)["token"]
        key = manage("create_seller", "Seller", "--company", _COMPANY)["api_key"]
        driver = manage("create_driver", "Driver", "--vehicle", "MOTORCYCLE", "--position", _PICKUP)["driver"]
        command, base = [python, "-m", "config.processes", "web"], f"http://127.0.0.1:{port}"
        with (
            (data / "web.log").open("wb") as log,
            processes.server(command, port, environment, folder=tree, output=log) as web,
        ):
            calls = api_calls.prepare(base, token=token, key=key, accept=accept)
            yield Side(name, base, calls, {"web": web, **processes.embedded_pids(data)})

"""Mutation testing: changes one operator or constant of a module at a time, and lists the changes that no test notices.

`make mutants` runs it in an environment that has cosmic-ray, which makes the changes. Each of the workers has a copy of
the files that git tracks and data of its own; the working tree is not touched. Results are appended to
var/mutants/results.jsonl, so that a run that was interrupted goes on: a mutant whose module and tests have not changed
is not run again.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

from tests.mutation.mutants import ROOT, Mutant, mutants_of
from tests.mutation.targets import TARGETS

FOLDER = ROOT / "var" / "mutants"
RESULTS = FOLDER / "results.jsonl"
_SECONDS = 240  # the tests of one module take less; a mutant that takes longer loops or waits for ever
_SECONDS_UNCHANGED = 1800  # the tests of all modules

_HOLD_POSTGRES = "import sys; from tests import servers; servers.shared_postgres(); sys.stdin.read()"


class Worker:
    """A copy of the tracked files with a PostgreSQL of its own, in which one mutant at a time is tested."""

    def __init__(self, number: int) -> None:
        self.tree = FOLDER / f"tree-{number}"
        self.environment = {
            name: value for name, value in os.environ.items() if name not in {"DATA_DIR", "DATABASE_URL", "REDIS_URL"}
        }
        # Two changes within a second would share one compiled file.
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        shutil.rmtree(self.tree, ignore_errors=True)
        command = ["git", "ls-files", "-z"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        for installed in (".venv", "node_modules"):
            (self.tree / installed).symlink_to(ROOT / installed)
        # Keeps PostgreSQL running between the test runs, until this process closes the pipe.
        self._holder = subprocess.Popen(
            [".venv/bin/python", "-c", _HOLD_POSTGRES],
            cwd=self.tree,
            env=self.environment,
            stdin=subprocess.PIPE,
        )

    def close(self) -> None:
        assert self._holder.stdin is not None
        self._holder.stdin.close()
        self._holder.wait(60)

    def passes(self, tests: tuple[str, ...], *, unchanged: bool = False) -> bool:
        """Whether the tests pass in time.

        What pytest prints of the unchanged code is shown, because a failure of it has to be repaired.
        """
        command = [".venv/bin/python", "-m", "pytest", "-x", "-q", *tests]
        process = subprocess.Popen(
            command,
            cwd=self.tree,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=None if unchanged else subprocess.DEVNULL,
            stderr=None if unchanged else subprocess.DEVNULL,
            start_new_session=True,  # a group, so that what the tests started ends with them
        )
        try:
            return process.wait(_SECONDS_UNCHANGED if unchanged else _SECONDS) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, 9)
                process.wait()

    def kills(self, mutant: Mutant) -> bool:
        """Whether the module's tests notice the mutant."""
        original = (ROOT / mutant.module).read_text()
        place = self.tree / mutant.module
        place.write_text(mutant.changed)
        try:
            return not self.passes(TARGETS[mutant.module])
        finally:
            place.write_text(original)


def _known() -> dict[str, bool]:
    if not RESULTS.exists():
        return {}
    return {entry["key"]: entry["killed"] for entry in map(json.loads, RESULTS.read_text().splitlines())}


def _test(mutants: list[Mutant], workers: int) -> None:
    """Test the mutants in parallel and append each result as soon as it is known."""
    free: SimpleQueue[Worker] = SimpleQueue()
    crew = [Worker(number) for number in range(workers)]
    writing = threading.Lock()
    done = 0

    def test(mutant: Mutant) -> None:
        nonlocal done
        worker = free.get()
        try:
            killed = worker.kills(mutant)
        finally:
            free.put(worker)
        with writing, RESULTS.open("a") as results:
            done += 1
            results.write(json.dumps({"key": mutant.key, "killed": killed, "diff": mutant.diff}) + "\n")
            print(f"{done}/{len(mutants)} {'killed  ' if killed else 'SURVIVED'} {mutant.module}", flush=True)

    try:
        every_test = sorted({path for mutant in mutants for path in TARGETS[mutant.module]})
        for worker, tests in zip(crew, _parts(every_test, workers), strict=True):
            if not worker.passes(tests, unchanged=True):
                sys.exit(f"Without a mutation these tests fail, or take over {_SECONDS_UNCHANGED} s: {' '.join(tests)}")
            free.put(worker)
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(test, mutants))
    finally:
        for worker in crew:
            worker.close()


def _parts(tests: list[str], workers: int) -> Iterator[tuple[str, ...]]:
    """The tests shared out, so that together they run once; one that uses the database for each worker."""
    for number in range(workers):
        yield ("tests/integration/accounts/test_keys.py", *tests[number::workers])


def _report(mutants: list[Mutant]) -> None:
    known = _known()
    for mutant in mutants:
        if not known[mutant.key]:
            print(mutant.diff)
    print(f"{'module':40} {'mutants':>8} {'killed':>8} {'share':>7}")
    rows = [(module, [m for m in mutants if m.module == module]) for module in dict.fromkeys(m.module for m in mutants)]
    for name, group in [*rows, ("all", mutants)]:
        killed = sum(known[mutant.key] for mutant in group)
        print(f"{name:40} {len(group):8} {killed:8} {killed / len(group):7.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TARGETS), help="of targets.py; all of them by default")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="test only each N-th mutant")
    options = parser.parse_args()

    FOLDER.mkdir(parents=True, exist_ok=True)
    mutants = [mutant for module in options.modules for mutant in mutants_of(module)][:: options.every]
    known = _known()
    waiting = [mutant for mutant in mutants if mutant.key not in known]
    print(f"{len(mutants)} mutants, {len(mutants) - len(waiting)} of them known from an earlier run", flush=True)
    if waiting:
        _test(waiting, options.workers)
    _report(mutants)


if __name__ == "__main__":
    main()

"""Mutation testing: makes one change at a time, as operators.py has them, and lists those that no test notices.

Without arguments it tries a sample of all modules, whose results are kept in results.csv, so that a run that was
interrupted goes on: a mutant of which the function has not changed is not tried again. `modules` tries all mutants of
these modules, `--changed` those in the lines that differ from a commit.

Each worker has a copy of what git does not ignore, and data of its own; the working tree is not touched. The tests are
the nearest by the import graph and the names of URLs, at most sixty files. A test that fails counts if it passes
without the change. A mutant is unfinished if the seconds ended before a test failed or all had run.
"""

import argparse
import csv
import math
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, Self

from config.env import BASE_DIR
from tests.affected import changed, git, left, nearest
from tests.mutation.mutants import Mutant, mutants_of, paths, sample

_RESULTS = Path(__file__).parent / "results.csv"
_FOLDER = BASE_DIR / "var" / "mutants"
_SEED = "1"
_SIZE = 400
# For each part of a mutant's tests. Of CPU, so that a busy machine changes no result.
_SECONDS_OF_CPU = 60
_SECONDS = 300
_FIRST = 8  # files of tests, which notice the most; the others are loaded only for what they do not notice
_MOST = 60  # files; to load more of them would leave less of the seconds to run them
_MINUTES_OF_A_CHANGE = 9
_SURVIVED = "survived"
_UNFINISHED = "unfinished"
_QUICK = ["--hypothesis-profile", "unshrunk"]  # to look for the simplest example can take longer than there is
# They read the source of all modules. By themselves, since pytest-django runs what needs no database after the others.
_OF_ALL = ["tests/test_locks.py", "tests/config/test_local_dates.py"]
_HOLD_POSTGRES = "import sys; from tests import servers; servers.shared_postgres(); sys.stdin.read()"


class Result(NamedTuple):
    """`noticed_by`: the test that fails, or `_SURVIVED` or `_UNFINISHED`."""

    key: str
    operator: str
    place: str
    change: str
    noticed_by: str

    @classmethod
    def of(cls, mutant: Mutant, noticed_by: str) -> Self:
        place = f"{mutant.module}:{mutant.lines[0]}"
        return cls(mutant.key, mutant.operator, place, mutant.summary, noticed_by)

    @property
    def outcome(self) -> str:
        return self.noticed_by if self.noticed_by in {_SURVIVED, _UNFINISHED} else "noticed"


class Worker:
    """A copy of what git does not ignore with a PostgreSQL of its own, in which one mutant at a time is tested."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        unwanted = {"DATA_DIR", "DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE"}
        self._environment = {name: value for name, value in os.environ.items() if name not in unwanted}
        self._passing: dict[str, bool] = {}  # without a change
        shutil.rmtree(tree, ignore_errors=True)
        for name in git("ls-files", "--cached", "--others", "--exclude-standard"):
            if (BASE_DIR / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(BASE_DIR / name, tree / name)
        for installed in (".venv", "node_modules"):
            (tree / installed).symlink_to(BASE_DIR / installed)
        # Keeps PostgreSQL running between the test runs, until this process closes the pipe.
        self._holder = subprocess.Popen(
            [".venv/bin/python", "-c", _HOLD_POSTGRES], cwd=tree, env=self._environment, stdin=subprocess.PIPE
        )
        # Makes the database that the others copy, and compiles the modules.
        if failing := self._failing(_OF_ALL, seconds=_SECONDS):
            self.close()
            sys.exit(f"Without a change: {failing}. What is tried with others would mean nothing.")

    def close(self) -> None:
        assert self._holder.stdin is not None
        self._holder.stdin.close()
        self._holder.wait(60)
        shutil.rmtree(self._tree, ignore_errors=True)

    def try_(self, mutant: Mutant, *, end: float) -> Result | None:
        """Test one mutant. None if there is no result at `end`, of the monotonic clock."""
        tests = nearest(mutant.module)
        outcome = ""
        for part in (_OF_ALL, tests[:_FIRST], tests[_FIRST:_MOST]):
            if outcome in {"", _UNFINISHED}:
                outcome = self._noticing(mutant, part, end=end) or outcome
        return None if time.monotonic() >= end else Result.of(mutant, outcome or _SURVIVED)

    def _noticing(self, mutant: Mutant, tests: list[str], *, end: float) -> str:
        """The first test that fails with the mutant and passes without it, as `_failing` says it."""
        while tests and (seconds := min(_SECONDS, end - time.monotonic())) > 0:
            with self._changed(mutant):
                test = self._failing(tests, seconds=seconds)
            if test in {"", _UNFINISHED} or self._passes(test, end=end):
                return test
            others = [each for each in tests if each != test.partition("::")[0]]
            tests = others if len(others) < len(tests) else tests[1:]  # a conftest.py is none of them
        return ""

    @contextmanager
    def _changed(self, mutant: Mutant) -> Iterator[None]:
        place = self._tree / mutant.module
        original = place.read_text()
        place.write_text(mutant.source)
        try:
            yield
        finally:
            place.write_text(original)

    def _passes(self, test: str, *, end: float) -> bool:
        if test not in self._passing:
            self._passing[test] = not self._failing([test], seconds=min(_SECONDS, max(0, end - time.monotonic())))
            if not self._passing[test] and time.monotonic() < end:
                print(f"DOES NOT PASS WITHOUT A CHANGE {test}", flush=True)
        return self._passing[test]

    def _failing(self, tests: list[str], *, seconds: float) -> str:
        """The first test that fails, or the first file if none of them can be begun.

        Empty if all pass, `_UNFINISHED` if the seconds end before that.
        """
        command = [".venv/bin/python", "-m", "pytest", "-n", "0", "-x", "-q", "-rfE", *_QUICK, *tests]
        process = subprocess.Popen(
            command,
            cwd=self._tree,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group, so that what the tests started ends with them
        )
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (_SECONDS_OF_CPU, _SECONDS_OF_CPU))
        try:
            output = process.communicate(timeout=seconds)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            return _UNFINISHED
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
            return _UNFINISHED
        if process.returncode == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.+?)?)(?: - |$)", output, re.MULTILINE)
        return (
            found[1]
            if found and found[1].partition("::")[0] in {each.partition("::")[0] for each in tests}
            else tests[0]
        )


class Results:
    """The results by key; each is written to the file, if there is one, as soon as it is known."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._by_key: dict[str, Result] = {}
        if file and file.exists():
            with file.open(newline="") as lines:
                self._by_key = {row["key"]: Result(**row) for row in csv.DictReader(lines)}

    def of(self, mutants: list[Mutant]) -> list[Result]:
        return [self._by_key[each.key] for each in mutants if each.key in self._by_key]

    def missing(self, mutants: list[Mutant], *, again: bool) -> list[Mutant]:
        """Those without a result; with `again` first those that no test noticed."""
        known = {key for key, result in self._by_key.items() if not again or result.outcome == "noticed"}
        return sorted(
            (each for each in mutants if each.key not in known), key=lambda each: each.key not in self._by_key
        )

    def add(self, result: Result) -> None:
        self._by_key[result.key] = result
        self._write()

    def _write(self) -> None:
        if self._file:
            new = self._file.with_suffix(".new")
            with new.open("w", newline="") as lines:
                writer = csv.writer(lines, lineterminator="\n")
                writer.writerow(Result._fields)
                writer.writerows(sorted(self._by_key.values(), key=attrgetter("operator", "place", "key")))
            new.replace(self._file)

    def keep_only(self, mutants: list[Mutant]) -> None:
        """Forget the others, and say where these are now."""
        known = ((each, self._by_key[each.key]) for each in mutants if each.key in self._by_key)
        self._by_key = {each.key: Result.of(each, result.noticed_by) for each, result in known}
        self._write()


def _try_all(mutants: list[Mutant], results: Results, *, workers: int, seconds: float) -> None:
    """Test the mutants in parallel, as far as the seconds reach."""
    end = time.monotonic() + seconds
    free: SimpleQueue[Worker] = SimpleQueue()
    writing = threading.Lock()
    done = 0

    def test(mutant: Mutant) -> None:
        nonlocal done
        if time.monotonic() >= end:
            return
        worker = free.get()
        try:
            result = worker.try_(mutant, end=end)
        finally:
            free.put(worker)
        if result is None:
            return
        with writing:
            done += 1
            results.add(result)
            line = f"{result.outcome:10} {result.place} {result.operator}: {result.change}"
            print(f"{done}/{len(mutants)} {line}", flush=True)

    crew: list[Worker] = []
    try:
        for number in range(min(workers, len(mutants))):
            crew.append(Worker(_FOLDER / f"{os.getpid()}-{number}"))
            free.put(crew[-1])
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(test, mutants))
    finally:
        for worker in crew:
            worker.close()


def _report(results: list[Result], count: int) -> None:
    for result in results:
        if result.outcome != "noticed":
            print(f"{result.place}: {result.outcome}: {result.operator}: {result.change}")
    print(f"\n{'operator':34} {'mutants':>8} {'survived':>9} {'unfinished':>11} {'noticed':>8}")
    for operator in sorted({result.operator for result in results}):
        found = Counter(result.outcome for result in results if result.operator == operator)
        noticed = found["noticed"] / found.total()
        print(f"{operator:34} {found.total():8} {found[_SURVIVED]:9} {found[_UNFINISHED]:11} {noticed:8.0%}")
    found = Counter(result.outcome for result in results)
    outcomes = f"{found['noticed']} noticed, {found[_SURVIVED]} survived, {found[_UNFINISHED]} unfinished"
    print(f"\nmutants: {len(results)} of {count} tried, {outcomes}")


def _changed(base: str) -> Iterator[Mutant]:
    """Those in the lines that differ from the commit where this branch left `base`."""
    for path in sorted(changed(base) & {*paths()}):
        diff = "\n".join(git("diff", "--unified=0", "--no-color", left(base), "--", path))
        spans = re.findall(r"^@@ \S+ \+(\d+)(?:,(\d+))? @@", diff, re.MULTILINE)
        lines = {int(start) + each for start, count in spans for each in range(int(count or 1))}
        # Of a module that git does not track there is no diff.
        yield from (each for each in mutants_of([path]) if not diff or not lines.isdisjoint(each.lines))


def main() -> None:
    """Read the arguments, try the mutants and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="try all mutants of these instead of the sample")
    parser.add_argument("--changed", metavar="COMMIT", help="try those in lines that differ from where this left it")
    parser.add_argument("--again", action="store_true", help="try first those of the sample again that no test noticed")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, help="end then; with --changed after nine")
    options = parser.parse_args()

    is_sample = not options.modules and not options.changed
    found = list(_changed(options.changed) if options.changed else mutants_of(options.modules or paths()))
    mutants = sample(found, _SIZE if is_sample else len(found), _SEED)
    results = Results(_RESULTS if is_sample else None)
    if is_sample:
        results.keep_only(mutants)
    waiting = results.missing(mutants, again=options.again)
    print(f"{len(mutants)} mutants, {len(waiting)} of them to be tried", flush=True)
    minutes = options.minutes or (_MINUTES_OF_A_CHANGE if options.changed else math.inf)
    _try_all(waiting, results, workers=options.workers, seconds=minutes * 60)
    _report(results.of(mutants), len(mutants))


if __name__ == "__main__":
    main()

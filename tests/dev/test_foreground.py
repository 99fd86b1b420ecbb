"""Ctrl-C at every stage of `make run`: SIGINT to all processes of the terminal ends it, and none prints a traceback."""

import os
import re
import signal
import subprocess
import sys

import psutil
import pytest

from config.env import BASE_DIR
from tests.dev.runs import FOREGROUND, Run
from tests.faults.waiting import until
from tests.ports import free_port

_TELLS = "import signal, time; signal.signal(15, lambda *_: print('told', flush=True)); print('up', flush=True); "


def start(*command):
    return subprocess.Popen(
        [*FOREGROUND, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def running_in(folder):
    """Processes whose command names the folder. What a signal ends is still there for a moment."""
    return [each for each in psutil.process_iter(["cmdline"]) if str(folder) in str(each.info["cmdline"])]


class TestForeground:
    def test_has_the_status_of_its_command(self):
        assert subprocess.run([*FOREGROUND, sys.executable, "-c", "raise SystemExit(3)"], check=False).returncode == 3

    def test_ends_the_set_up_with_what_it_has_started(self, tmp_path):
        process = start(sys.executable, "-m", "venv", str(tmp_path / "venv"))
        until(lambda: len(psutil.Process(process.pid).children(recursive=True)) > 1, what="ensurepip")

        os.killpg(process.pid, signal.SIGINT)

        output, _none = process.communicate(timeout=20)
        assert (process.returncode, output) == (130, "")
        until(lambda: not running_in(tmp_path), what="the end of what venv has started")

    def test_tells_its_command_once(self):
        process = start(sys.executable, "-c", f"{_TELLS} time.sleep(3)")
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"

        for _again in range(3):
            os.killpg(process.pid, signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)

        assert process.communicate(timeout=20)[0] == "told\n"
        assert process.returncode == 0

    def test_ends_with_its_parent(self):
        command = [*FOREGROUND, sys.executable, "-c", f"{_TELLS} time.sleep(1)"]
        parent = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(60)"
        with subprocess.Popen([sys.executable, "-c", parent, *command], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "up\n"

            process.kill()

            assert process.stdout.readline() == "told\n"


def test_the_makefile_runs_every_step_of_make_run_so():
    text = (BASE_DIR / "Makefile").read_text()
    targets = "run|.venv/.uv|.venv/.ready|node_modules/.ready"
    recipes = re.findall(rf"^(?:{targets}):.*\n((?:\t.*\n)+)", text, re.MULTILINE)

    lines = [line for recipe in recipes for line in recipe.splitlines()]
    allowed = r"^\t@(\$\(FOREGROUND\)|\$\(MAKE\)|echo|touch) "
    assert len(recipes) == 4
    assert [line for line in lines if not re.search(allowed, line)] == []


class TestRun:
    @pytest.mark.parametrize("stage", ["postgres.new", "postgres", "schema"])
    def test_ends_while_it_starts(self, tmp_path, stage):
        run = Run(tmp_path, free_port(), in_foreground=True)
        log = "Connection to PostgreSQL ready" if stage == "schema" else ""
        until(lambda: (run.data / stage).exists() or (log and log in run.log.read_text()), what=stage)

        assert run.end() == 0

        assert "Traceback" not in run.log.read_text()
        assert "Error" not in run.log.read_text()
        until(lambda: not run.processes(), what="the end of all processes")

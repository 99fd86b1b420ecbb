"""`python -m config.processes`, with which containers and systemd start the service."""

import subprocess
import sys

import pytest

from config import processes
from config.env import BASE_DIR


@pytest.mark.parametrize("arguments", [[], ["redis"], ["web", "worker"]])
def test_refuses_what_is_no_process(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "config.processes", *arguments],
        cwd=BASE_DIR, capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip  # a command in few lines

    assert (done.returncode, done.stderr) == (1, "usage: python -m config.processes web|worker|beat\n")


def test_takes_address_and_numbers_from_the_environment(monkeypatch):
    for name, value in {"HOST": "[::]", "WEB_WORKERS": "5", "WORKERS": "7"}.items():
        monkeypatch.setenv(name, value)

    commands = processes.commands(8123)

    assert [commands["web"][commands["web"].index(f"--{name}") + 1] for name in ("host", "port", "workers")] == [
        "::", "8123", "5",
    ]  # fmt: skip  # one line for the three
    assert commands["worker"][commands["worker"].index("--concurrency") + 1] == "7"

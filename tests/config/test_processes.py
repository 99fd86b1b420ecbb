"""`python -m config.processes`, with which containers and systemd start the service."""

import subprocess
import sys
from pathlib import Path

import pytest

from config import npm_files, processes
from config.env import BASE_DIR, StartRefused
from tests.production import ENVIRONMENT


def start(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "config.processes", *arguments],
        cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip  # a command in few lines


@pytest.mark.parametrize("arguments", [[], ["redis"], ["web", "worker"]])
def test_refuses_what_is_no_process(arguments):
    done = start(*arguments)

    assert (done.returncode, done.stderr) == (1, "usage: python -m config.processes web|worker|beat\n")


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_refuses_a_start_without_the_urls_of_the_servers(name):
    done = start(name)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "Rota does not start in this environment:",
        "  DATABASE_URL and REDIS_URL are not set: production needs both, and `make run` starts servers of its own",
    ]


@pytest.mark.parametrize(
    ("name", "variable", "value", "said"),
    [
        ("web", "WEB_WORKERS", "zwei", "WEB_WORKERS is 'zwei', not a whole number from 1 to 512"),
        ("web", "SECRET_KEY", "a", "SECRET_KEY is too weak"),
        ("worker", "SECRET_KEY", "a", "SECRET_KEY is too weak"),
        ("beat", "PORT", "http", "PORT is 'http', not a whole number from 1 to 65,535"),
    ],
)
def test_refuses_a_wrong_value_once(name, variable, value, said):
    done = start(name, **{**ENVIRONMENT, variable: value})

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count(said) == 1
    assert len(done.stderr.splitlines()) == 2


def test_takes_address_and_numbers_from_the_environment(monkeypatch):
    for name, value in {"HOST": "[::]", "WEB_WORKERS": "5", "WORKERS": "7"}.items():
        monkeypatch.setenv(name, value)

    commands = processes.commands(8123)

    assert [commands["web"][commands["web"].index(f"--{name}") + 1] for name in ("host", "port", "workers")] == [
        "::", "8123", "5",
    ]  # fmt: skip  # one line for the three
    assert commands["worker"][commands["worker"].index("--concurrency") + 1] == "7"


def test_keeps_to_its_packages_when_the_link_to_the_installation_changes(tmp_path):
    (tmp_path / "current").symlink_to(Path(sys.prefix).resolve())
    code = "from config.processes import commands; print(*{command[0] for command in commands(8000).values()})"

    done = subprocess.run(
        [tmp_path / "current" / "bin" / "python", "-c", code],
        cwd=BASE_DIR, capture_output=True, text=True, check=True, timeout=50,
    )  # fmt: skip  # a command in few lines

    assert done.stdout == f"{Path(sys.prefix).resolve()}/bin/python\n"


def test_refuses_a_start_without_the_files_of_npm(monkeypatch, tmp_path):
    monkeypatch.setattr(npm_files, "_FOLDER", tmp_path)

    with pytest.raises(StartRefused, match="run `npm ci`"):
        npm_files.refuse_missing()

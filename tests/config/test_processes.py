"""`python -m config.processes`, with which containers and systemd start the service."""

import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from config import npm_files, processes
from config.env import BASE_DIR, StartRefused
from tests.production import ENVIRONMENT


@pytest.fixture
def start(monkeypatch, capsys):
    """Start a process that is refused, in this one. Returns what it says at its end."""

    def execute(*_command):
        pytest.fail("the process has started")

    def do(*arguments, **environment):
        monkeypatch.setattr(sys, "argv", ["processes", *arguments])
        monkeypatch.setattr(os, "execv", execute)
        with mock.patch.dict(os.environ, environment, clear=True), pytest.raises(SystemExit) as ended:
            processes.main()
        assert capsys.readouterr() == ("", "")
        return str(ended.value)

    return do


@pytest.mark.parametrize("arguments", [[], ["redis"], ["web", "worker"]])
def test_refuses_what_is_no_process(start, arguments):
    assert start(*arguments) == "usage: python -m config.processes web|worker|beat"


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_refuses_a_start_without_the_urls_of_the_servers(start, name):
    assert start(name).splitlines() == [
        "Rota does not start in this environment:",
        "  DATABASE_URL and REDIS_URL are not set: production needs both, and `make run` starts servers of its own",
    ]


@pytest.mark.parametrize(
    ("name", "variable", "value", "said"),
    [
        ("web", "WEB_WORKERS", "zwei", "WEB_WORKERS 'zwei': Input should be a valid integer"),
        ("worker", "SECRET_KEY", "a", "SECRET_KEY: this is too weak"),
        ("beat", "PORT", "http", "PORT 'http': Input should be a valid integer"),
    ],
)
def test_refuses_a_wrong_value_once(start, name, variable, value, said):
    refusal = start(name, **{**ENVIRONMENT, variable: value})

    assert refusal.count(said) == 1
    assert len(refusal.splitlines()) == 2


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

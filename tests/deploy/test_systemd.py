"""The units of deploy/systemd/."""

import os
import subprocess
import sys

import pytest

from config.env import BASE_DIR
from config.processes import commands

UNITS = BASE_DIR / "deploy" / "systemd"
PYTHON = "/srv/rota/.venv/bin/python"


@pytest.fixture
def folder(tmp_path):
    """The units with a Python that exists here."""
    for path in UNITS.rglob("*.*"):
        if path.is_file():
            target = tmp_path / path.relative_to(UNITS)
            target.parent.mkdir(exist_ok=True)
            target.write_text(path.read_text().replace(PYTHON, sys.executable))
    return tmp_path


def analyze(program, folder, *arguments):
    return subprocess.run(
        [program("systemd-analyze"), *arguments],
        cwd=folder.parent, env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"},
        check=False, capture_output=True, text=True, timeout=50,
    )  # fmt: skip  # a command in few lines


def unit_of(process):
    """The web server's has an instance for each port."""
    return "web@" if process == "web" else process


def test_units_are_valid(program, folder):
    names = [path.name for path in [*folder.glob("*.service"), *folder.glob("*.target")]]

    result = analyze(program, folder, "verify", "--man=no", *names)

    assert (result.returncode, result.stderr) == (0, "")
    assert len(names) == 5


def test_units_start_every_process():
    for name in commands(8000):
        text = (UNITS / f"rota-{unit_of(name)}.service").read_text()

        assert f"ExecStart={PYTHON} -m config.processes {name}\n" in text


@pytest.mark.parametrize("name", ["migrate", *commands(8000)])
def test_services_have_few_rights(program, folder, name):
    result = analyze(program, folder, "security", "--offline=true", "--threshold=20", f"rota-{unit_of(name)}.service")

    assert result.returncode == 0, result.stdout  # an exposure of 2.0 of 10 at most

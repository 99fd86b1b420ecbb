"""What processes write: a first line, and JSON only where LOG_FORMAT says so."""

import json
import subprocess
import sys

import psutil
import pytest

from config.env import BASE_DIR
from config.version import VERSION
from tests.faults.waiting import until
from tests.ports import free_port, listens
from tests.production import ENVIRONMENT


@pytest.fixture
def start(tmp_path):
    """Start a process of production. It, and what all of its processes have written so far."""
    started = []

    def do(name, **environment):
        log = tmp_path / "log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "config.processes", name],
                cwd=BASE_DIR, env={"PATH": "", **ENVIRONMENT, **environment}, stdout=file, stderr=subprocess.STDOUT,
            )  # fmt: skip  # a command in few lines
        started.append(process)
        return process, lambda: log.read_text().splitlines()

    yield do
    for process in started:
        process.terminate()  # which ends the processes of the web server too
        process.wait(40)


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_the_first_line_names_version_and_process_and_what_is_misspelt(start, name):
    _process, lines = start(name, OFFER_TLL="30", PORT=str(free_port()))

    until(lambda: len(lines()) > 1, seconds=30, what="two lines")
    assert "OFFER_TLL is not a variable of Rota and has no effect: the nearest is OFFER_TTL" in lines()[0]
    assert lines()[1].endswith(f" INFO rota.start [-] Rota {VERSION}: {name} starts")


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_lines_of_celery_are_json_too(start, name):
    process, lines = start(name, LOG_FORMAT="json")
    until(lambda: len(lines()) > 2, seconds=40, what="lines about the Redis that is away")
    process.terminate()
    process.wait(30)

    written = [json.loads(line) for line in lines()]
    assert any("Error" in record["message"] or "connect" in record["message"] for record in written[1:])


def test_lines_of_the_web_server_are_json_too(start):
    port = free_port()
    process, lines = start("web", LOG_FORMAT="json", PORT=str(port), WEB_WORKERS="1")
    until(lambda: listens(port), seconds=40, what="the web server")
    until(lambda: psutil.Process(process.pid).children(), seconds=40, what="its process")
    for child in psutil.Process(process.pid).children():
        child.kill()
    until(lambda: len(lines()) > 1, seconds=40, what="a line about the killed process")

    assert any(record["logger"] == "_granian" for record in map(json.loads, lines()))

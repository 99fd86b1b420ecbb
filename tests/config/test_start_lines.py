"""What processes write: a first line, and JSON only where LOG_FORMAT says so."""

import json
import subprocess
import sys
from functools import partial

import psutil
import pytest

from config.env import BASE_DIR, VERSION
from tests.faults.waiting import until
from tests.ports import free_port, listens
from tests.production import ENVIRONMENT


@pytest.fixture
def start(tmp_path):
    """Start a process of production. It, and what all of its processes have written so far."""
    started: list[subprocess.Popen[bytes]] = []

    def do(name, **environment):
        log = tmp_path / f"log-{len(started)}"
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


def more_than(count, lines):
    return len(lines()) > count


@pytest.mark.timeout(300)  # four processes
def test_each_process_names_version_itself_and_what_is_misspelt_and_writes_json_where_asked_to(start):
    port = free_port()
    both = {"OFFER_TLL": "30", "LOG_FORMAT": "json"}
    worker, beat = start("worker", **both), start("beat", **both)
    web = start("web", OFFER_TLL="30", PORT=str(free_port()))
    json_web, json_lines = start("web", LOG_FORMAT="json", PORT=str(port), WEB_WORKERS="1")

    for name, (process, lines) in {"worker": worker, "beat": beat}.items():
        until(partial(more_than, 3, lines), seconds=60, what="lines about the Redis that is away")
        process.terminate()
        process.wait(40)
        written = [json.loads(line)["message"] for line in lines()]
        assert written[0].endswith("OFFER_TLL is not a variable of Rota and has no effect: the nearest is OFFER_TTL")
        assert written[1] == f"Rota {VERSION}: {name} starts"
        assert any("Error" in message or "connect" in message for message in written[2:])

    until(lambda: len(web[1]()) > 1, seconds=30, what="two lines")
    assert "OFFER_TLL is not a variable of Rota and has no effect: the nearest is OFFER_TTL" in web[1]()[0]
    assert web[1]()[1].endswith(f" INFO rota.start [-] Rota {VERSION}: web starts")

    until(lambda: listens(port), seconds=40, what="the web server")
    until(lambda: psutil.Process(json_web.pid).children(), seconds=40, what="its process")
    for child in psutil.Process(json_web.pid).children():
        child.kill()
    until(lambda: len(json_lines()) > 1, seconds=40, what="a line about the killed process")
    assert any(record["logger"] == "_granian" for record in map(json.loads, json_lines()))

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


def names(words, lines):
    return any(word in line for line in lines() for word in words)


@pytest.mark.timeout(300)  # three processes
def test_each_process_names_version_itself_and_what_is_misspelt_and_writes_json_where_asked_to(start):
    port = free_port()
    environment = {"OFFER_TLL": "30", "LOG_FORMAT": "json", "PORT": str(port), "WEB_WORKERS": "1"}
    processes = {name: start(name, **environment) for name in ("worker", "beat", "web")}
    web, _lines = processes["web"]

    until(lambda: listens(port), what="the web server")
    until(lambda: psutil.Process(web.pid).children(), what="its process")
    for child in psutil.Process(web.pid).children():
        child.kill()

    meant = "OFFER_TLL is not a variable of Rota and has no effect: the nearest is OFFER_TTL"
    for name, (process, lines) in processes.items():
        words = ["_granian"] if name == "web" else ["Error", "connect"]
        until(partial(names, words, lines), what=f"a line of {name} about its killed process, or Redis, which is away")
        process.terminate()
        process.wait(40)
        first, second, *_others = (json.loads(line)["message"] for line in lines())
        assert (first, second) == (meant, f"Rota {VERSION}: {name} starts")

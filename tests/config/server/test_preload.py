"""What processes of the web server and of workers share with the process that forks them."""

import json
import subprocess
import sys

import psutil
import pytest
import requests

from config.env import BASE_DIR
from config.processes import commands
from tests.faults.waiting import until
from tests.ports import free_port, listens
from tests.production import ENVIRONMENT

OBSERVED = {
    "METRICS_TOKEN": "not-a-real-token-" * 3,
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
    "SENTRY_DSN": "http://key@127.0.0.1:1/1",  # pragma: allowlist secret
}
# As Celery does before each fork.
WORKER = (
    "from config.celery import app; from celery.signals import worker_before_create_process as before;"
    "app.loader.import_default_modules(); before.send(sender=None)"
)
WEB = "import config.server.web; from config.server import preload; preload.load()"
STATE = (
    "import gc, json, psutil, sys; process = psutil.Process();"
    "print(json.dumps([process.num_threads(), len(process.net_connections('all')), 'panel.views' in sys.modules,"
    " len(gc.get_objects()) < gc.get_freeze_count() / 100, gc.get_threshold()[0]]))"
)


@pytest.mark.parametrize("load", [WEB, WORKER], ids=["web", "worker"])
def test_the_process_that_forks_has_loaded_all_and_nothing_that_must_not_be_forked(load):
    done = subprocess.run(
        [sys.executable, "-c", f"{load}; {STATE}"],
        cwd=BASE_DIR, env={**ENVIRONMENT, **OBSERVED}, capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip  # a command in few lines

    assert done.returncode == 0, done.stderr
    threads, connections, has_views, is_frozen, collected_after = json.loads(done.stdout)
    assert (threads, connections) == (1, 0)
    assert has_views
    assert is_frozen
    assert collected_after == 10_000


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
def test_most_memory_of_a_web_process_is_shared():
    port = free_port()
    process = subprocess.Popen(commands(port)["web"], cwd=BASE_DIR, env={**ENVIRONMENT, "PATH": ""})
    try:
        until(lambda: listens(port), seconds=40, what="the web server")
        for _call in range(20):  # so that both processes have answered
            requests.get(f"http://127.0.0.1:{port}/healthz", headers={"Host": "rota.example.com"}, timeout=40)

        children = [child.memory_full_info() for child in psutil.Process(process.pid).children(recursive=True)]
    finally:
        process.terminate()
        process.wait(40)

    assert len(children) == 4  # two web processes, that of heavy calls and the one that watches over it
    assert all(memory.uss < memory.rss / 3 for memory in children)

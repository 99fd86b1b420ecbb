"""The API's description against a running service, with the tools that integrators use (run.sh)."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from config.env import BASE_DIR, data_dir
from dev import embedded, schema
from tests import servers
from tests.faults.waiting import until
from tests.panel.guide import snippets
from tests.ports import free_port
from tests.programs import CLIENTS

pytestmark = pytest.mark.timeout(600)

_START_SECONDS = 300
_CLIENTS = ["typescript", "hey_api", "openapi_python_client", "go", "php", "java"]  # but that of CI
_COMPILERS = {"go": ["go"], "php": ["php"], "java": ["javac"]}
# Where Debian's packages put what the generated client of a language imports.
_LIBRARIES = {"php": "/usr/share/php/", "java": "/usr/share/java/"}


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[str, str, str, str]]:
    """What `make run` starts, without limits of calls: its address, a test token, a key of area B and a carrier's."""
    folder, port = data_dir() / "contract", free_port()
    folder.mkdir()
    log = folder / "run.log"
    _make_tables(folder)
    environment = {**os.environ, "DATA_DIR": str(folder), "PORT": str(port)}  # the limits are off in it
    with log.open("wb") as output:
        run = subprocess.Popen(
            [sys.executable, "-m", "dev.run"],
            cwd=BASE_DIR, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        until(
            lambda: run.poll() is not None or "Rota is running" in log.read_text(),
            seconds=_START_SECONDS,
            what="The service",
        )
        text = log.read_text()
        assert run.poll() is None, text
        kinds = ("rota_test_", "rota_testkey_", "rota_carrierkey_")
        token, key, carrier = (re.search(rf"{kind}[A-Za-z0-9_-]*", text) for kind in kinds)
        assert token, text
        assert key, text
        assert carrier, text
        yield f"http://127.0.0.1:{port}", token[0], key[0], carrier[0]
    finally:
        run.send_signal(signal.SIGTERM)
        run.wait(60)


def _make_tables(folder: Path) -> None:
    """What the migrations would take a quarter of a minute for; tests/dev/test_run.py starts without them."""
    with mock.patch.dict(os.environ, DATA_DIR=str(folder)):
        server = embedded.Postgres(folder / "postgres")
        servers.make_tables(embedded.postgres_url())
        schema.note_current()
        server.release()


def test_the_demo_plays_a_delivery_and_an_order(service):
    command = [sys.executable, "manage.py", "demo", "--url", service[0]]
    environment = {**os.environ, "DATA_DIR": str(data_dir() / "contract")}

    done = subprocess.run(command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "check", ["lint", "python", "postman", "fuzz_immediate_delivery", "fuzz_order_integration", "fuzz_carriers"]
)
def test_the_service_does_what_its_description_says(check, service, program):
    for name in ("npm", "java") if check == "python" else ("npm",):
        program(name)

    done = _run(check, service)

    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]


def test_each_client_of_the_guide_is_made_and_used():
    tried = {name.replace("_", "-") for name in ("python", *_CLIENTS)}

    assert {block.name for block in snippets.of_page("clients")} == {"create-order-for-client"} | {
        f"{step}-{name}" for step in ("generate", "use") for name in tried
    }


@pytest.mark.clients
@pytest.mark.parametrize("language", _CLIENTS)
def test_the_description_makes_a_client(language, service, program):
    libraries = [path for path in CLIENTS if path.startswith(_LIBRARIES.get(language, "-"))]
    for name in ("npm", "java", *_COMPILERS.get(language, ()), *libraries):
        program(name)

    done = _run(language, service)

    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]


def _run(check, service):
    command = [str(BASE_DIR / "tests/contract/run.sh"), check, *service]
    return subprocess.run(command, cwd=BASE_DIR, capture_output=True, text=True, check=False)

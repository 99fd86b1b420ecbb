"""The API's description against a running service, with the tools that integrators use (run.sh)."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
import requests

from config.env import BASE_DIR, data_dir
from dev import embedded, schema
from panel.guide import pages
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


class TestExamples:
    """The guide's programs that run from the beginning of a day to its end, killed and started again in between."""

    @staticmethod
    def start(program, folder, **environment):
        """A program as its reader starts it, with the files that stand beside it."""
        for name in ("receive.py", program):
            (folder / name).write_bytes(pages.PROGRAMS[name].read_bytes())
        return subprocess.Popen(
            [sys.executable, "-u", program, *(["3"] if program == "erp_day.py" else [])],
            cwd=folder, env={"PATH": os.environ["PATH"], **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def kill_after(self, text, process):
        """Kill the program when it has printed this."""
        for line in process.stdout:
            if text in line:
                process.kill()
                process.communicate()
                return
        pytest.fail(f"{text} was not printed")

    def lines_of(self, process):
        output, _errors = process.communicate(timeout=120)
        assert process.returncode == 0, output
        return output.splitlines()

    def test_a_shop_is_killed_and_neither_loses_a_delivery_nor_requests_one_twice(self, service, tmp_path):
        base, token, *_keys = service
        calls = requests.Session()
        calls.headers["Authorization"] = f"Bearer {token}"
        rotated = calls.put(f"{base}/api/sandbox/webhook", json={"rotateSecret": True}, timeout=30).json()
        environment = {"BASE_URL": base, "TOKEN": token, "WEBHOOK_SECRET": rotated["signingSecret"]}
        environment["PORT"] = str(free_port())

        self.kill_after("-1: ", self.start("shop.py", tmp_path, **environment))
        database = sqlite3.connect(tmp_path / "shop.db")
        ((first,),) = database.execute("SELECT delivery_id FROM orders WHERE rowid = 1")
        with (
            database
        ):  # as if killed before the answer was stored; by this number no event tells the id before the call
            database.execute("UPDATE orders SET delivery_id = NULL, number = number || '?' WHERE rowid = 1")
        self.kill_after("-1?: ", self.start("shop.py", tmp_path, **environment))
        assert database.execute("SELECT delivery_id FROM orders WHERE rowid = 1").fetchall() == [(first,)]
        with database:
            database.execute("UPDATE orders SET number = rtrim(number, '?') WHERE rowid = 1")
            database.execute("DELETE FROM events")
        lines = self.lines_of(self.start("shop.py", tmp_path, **environment))

        assert lines[-1] == "Done, and the service says the same: 3 DELIVERED, 1 FAILED, 1 REFUSED"
        numbers = [number for (number,) in database.execute("SELECT number FROM orders")]
        found = [
            delivery["status"]
            for number in numbers
            for delivery in calls.get(f"{base}/api/deliveries?externalId={number}", timeout=30).json()["data"]
        ]
        assert Counter(found) == {"DELIVERED": 3, "FAILED": 1}

    def test_an_erp_is_killed_and_goes_on_in_the_feed_where_it_was(self, service, tmp_path):
        base, _token, key, _carrier = service

        self.kill_after("1 cancelled", self.start("erp_day.py", tmp_path, BASE_URL=base, API_KEY=key))
        with sqlite3.connect(tmp_path / "erp.db") as database:  # what it has read is not told again
            # Others of the key were cancelled by the tests before.
            deleted = database.execute(
                "DELETE FROM orders WHERE status = 'cancelled' AND order_id LIKE 'sim-manifest-%'"
            )
            assert deleted.rowcount == 1
        lines = self.lines_of(self.start("erp_day.py", tmp_path, BASE_URL=base, API_KEY=key))

        assert {"422 invalid_payload: Dados inválidos", "  receiver.address: Campo obrigatório."} <= set(lines)
        assert lines[-2].endswith(": pending, collected, in_transit, out_for_delivery, delivered")
        assert lines[-1] == "Done, and the service lists the same: 1 cancelled, 2 delivered"
        told = database.execute("SELECT status FROM orders WHERE order_id LIKE 'sim-manifest-%'")
        assert Counter(told) == {("delivered",): 2 + 2, ("cancelled",): 1}
        files = {path.name.partition("-")[0] for path in tmp_path.glob("*.pdf") if path.read_bytes()[:5] == b"%PDF-"}
        assert (files, len(list(tmp_path.glob("*.pdf")))) == ({"labels", "manifest"}, 4)
